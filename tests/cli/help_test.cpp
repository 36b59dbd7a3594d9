#include "cli/help.hpp"

#include "cli/completion.hpp"
#include "cli/man_page.hpp"
#include "cli/output.hpp"
#include "cli/serve.hpp"
#include "cli/terminal.hpp"
#include "tests/cli/small_registry.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The words of a command line up to a pipe or a redirection. What a shell would take for more than
/// letters has to stand in single quotes.
std::vector<std::string> words_of_example(const std::string& line) {
  std::vector<std::string> words(1);
  bool is_quoted = false;
  for (const char c : line) {
    if (c == '\'') {
      is_quoted = !is_quoted;
    } else if (is_quoted) {
      words.back() += c;
    } else if (c == '|' || c == '>') {
      break;
    } else if (c == ' ') {
      words.emplace_back();
    } else {
      CHECK(std::string("*?[](){}$&;<#`\"\\").find(c) == std::string::npos);
      words.back() += c;
    }
  }
  CHECK_FALSE(is_quoted);
  std::erase(words, "");
  return words;
}

}  // namespace

TEST_CASE("help of a command tells usage, arguments, flags and an example", "[cli]") {
  const Registry registry = small_registry();
  const auto commands = make_commands(registry);

  const auto text = help_text({"note", "get"}, commands);

  CHECK(holds(text, "Usage: indx note get PATH [flags]"));
  CHECK(holds(text, "--with-body"));
  CHECK(holds(text, "--include TEXT"));
  CHECK(holds(text, "Before changing it."));
  CHECK(holds(text, "indx note get Projects/Plan.md\n"));
}

TEST_CASE("the example of every command is a call that its schema takes", "[cli]") {
  const Registry registry = make_registry();
  const auto commands = make_commands(registry);

  for (const auto& command : commands) {
    const auto example = example_of(command);
    INFO(example);
    auto words = words_of_example(example);
    REQUIRE(words.front() == "indx");
    words.erase(words.begin());
    const auto parsed = parse_args(
        words, commands, [](const std::string&) { return Result<std::string>("# Text"); });
    INFO((parsed ? "" : parsed.error().message));
    REQUIRE(parsed);
    CHECK(parsed->command == &command);
    if (command.operation == nullptr) continue;
    const auto valid = validate(command.operation->input, parsed->input);
    INFO((valid ? "" : valid.error().message));
    CHECK(valid);
    CHECK(parsed->global.yes == (command.operation->effect == Effect::Destructive));
    const auto path = parsed->input.value("path", std::string("none"));
    const auto& noun = command.words[0];
    const std::string extension = path == "none"         ? ""
                                  : noun == "canvas"     ? ".canvas"
                                  : noun == "base"       ? ".base"
                                  : noun == "attachment" ? ""
                                                         : ".md";
    CHECK(path.ends_with(extension));
    CHECK_FALSE((noun == "attachment" && path.ends_with(".md")));
  }
}

TEST_CASE("help marks what is required and says what a switch does when it is given", "[cli]") {
  const Registry registry = make_registry();
  const auto commands = make_commands(registry);

  const auto diff = help_text({"note", "diff"}, commands);
  CHECK(holds(diff, "Usage: indx note diff PATH --from N [flags]"));
  CHECK(holds(diff, "The older version. Required."));
  CHECK(holds(help_text({"note", "move"}, commands),
              "Turns off what is on by default: rewrite links"));
  CHECK(holds(help_text({"ai", "tag"}, commands),
              "Required, so or by flags that begin with --scope-."));
}

TEST_CASE("help and manual name every step of a patch and its members", "[cli]") {
  const Registry registry = make_registry();
  const auto commands = make_commands(registry);
  const auto page = man_page(commands);

  for (const std::string noun : {"note", "canvas"}) {
    const auto text = help_text({noun, "patch"}, commands);
    CHECK(holds(text, "Each of --ops is an object with:\n  op (required)"));
    const auto& ops = registry.find(noun + "_patch")->input->find("ops")->schema;
    for (const auto& member : ops.items->properties) {
      CHECK(holds(text, "\n  " + member.name));
      for (const auto& name : member.schema.allowed) {
        CHECK(holds(text, name));
        CHECK(holds(page, name));
      }
    }
  }
}

TEST_CASE("only a call of AI ends its stream with an event of AI", "[cli][D43]") {
  const Registry registry = make_registry();

  CHECK(registry.find("ai_tag")->stream_prefix() == "ai.");
  CHECK(registry.find("vault_reindex")->stream_prefix().empty());
}

TEST_CASE("the manual names every variable that sets something", "[cli]") {
  const auto page = man_page(make_commands(small_registry()));

  CHECK(holds(page, ".B INDX_HTTP_WORKERS\nThreads that answer requests."));
  CHECK(holds(page, ".B INDX_VAULT\n"));
}

TEST_CASE("help of a noun lists its verbs, and the program's lists all", "[cli][A94]") {
  const Registry registry = small_registry();
  const auto commands = make_commands(registry);

  CHECK(holds(help_text({"note"}, commands), "drop"));
  const auto all = help_text({}, commands);
  for (const char* part : {"note get", "ai tag", "mcp serve", "schema", "completion",
                           "--idempotency-key KEY", "Exit codes"})
    CHECK(holds(all, part));
}

TEST_CASE("the contract of an operation is found by name and by its words", "[cli][A94]") {
  const Registry registry = small_registry();
  const auto commands = make_commands(registry);

  const auto by_name = contract(registry, commands, "note_read");
  const auto by_words = contract(registry, commands, "note get");

  REQUIRE(by_name);
  REQUIRE(by_words);
  CHECK(*by_name == *by_words);
  CHECK((*by_name)["errors"][0]["exit_code"] == 3);
  CHECK(contract(registry, commands, "nothing").error().exit_code() == 3);
}

TEST_CASE("completion offers what may follow the words so far", "[cli]") {
  const Registry registry = small_registry();
  const auto commands = make_commands(registry);
  const auto offered = [&](const std::vector<std::string>& typed) {
    std::vector<std::string> words;
    for (const auto& word : complete(typed, commands).words) words.push_back(word.text);
    return words;
  };
  using Words = std::vector<std::string>;

  CHECK(offered({"no"}) == Words{"note"});
  CHECK(offered({"note", ""}) == Words{"get", "drop"});
  CHECK(offered({"note", "get", "--wi"}) == Words{"--with-body"});
  CHECK(offered({"note", "get", "--nd"}) == Words{"--ndjson"});
  CHECK(offered({"ai", "tag", "--scope-kind", "gl"}) == Words{"glob"});
  CHECK(offered({"completion", ""}) == Words{"bash", "zsh", "fish"});
  CHECK(offered({"nothing", "at", ""}).empty());
  CHECK(offered({"note", "get", "a.md", ""}).empty());
  for (const std::string shell : {"bash", "zsh", "fish"})
    CHECK(holds(completion_script(shell), "__complete"));
  CHECK(completion_script("ksh").empty());
}

TEST_CASE("completion says of which names an argument is", "[cli]") {
  const Registry registry = small_registry();
  const auto commands = make_commands(registry);
  const auto at = [&](const std::vector<std::string>& typed) { return complete(typed, commands); };

  const auto note = at({"--vault", "/my\\ notes", "note", "get", "'My No"});
  CHECK(note.value_of == "note");
  CHECK(note.prefix == "My No");
  CHECK(note.global.vault == "/my notes");
  CHECK(at({"job", "watch", ""}).value_of == "job");
  CHECK(at({"ai", "tag", "--scope-tag", ""}).value_of == "tag");
  CHECK(at({"note", "drop", "--vault", ""}).takes_file);
  CHECK(at({"note", "get", "--", "--x"}).value_of == "note");
}

TEST_CASE("a list is a table on a terminal, as wide as it may be", "[cli][A93]") {
  Operation operation;
  SchemaNode row, rows;
  for (const auto* name : {"path", "tags", "size"}) {
    SchemaNode cell;
    cell.type = SchemaNode::Type::String;
    row.properties.push_back({name, cell, true});
  }
  rows.type = SchemaNode::Type::Array;
  rows.items = std::make_shared<SchemaNode>(row);
  operation.list = "notes";
  SchemaNode output;
  output.properties.push_back({"notes", rows, true});
  operation.output = std::move(output);
  const Json data = {{"notes",
                      {{{"path", "a long name.md"}, {"tags", {"x", "y"}}, {"size", 5}},
                       {{"path", "b\u001b[2J.md"}, {"tags", Json::array()}, {"size", 10}}}},
                     {"next_cursor", "c1"}};

  CHECK(table_text(operation, data, 80, false) ==
        "path            tags  size\na long name.md  x, y  5\nb [2J.md              "
        "10\nnext_cursor: c1\n");
  CHECK(table_text(operation, data, 22, true).starts_with("\x1b[1mpath"));
  CHECK(holds(table_text(operation, data, 20, false), "a long …"));
  CHECK(holds(table_text(operation, {{"notes", Json::array()}}, 20, false), "(nothing)"));
  CHECK(table_text(Operation(), data, 80, false).empty());
}

TEST_CASE("a list whose rows name their columns is a table of these", "[cli][A93][A56]") {
  Operation operation;
  SchemaNode row, rows, cells;
  cells.type = SchemaNode::Type::Map;
  SchemaNode path;
  path.type = SchemaNode::Type::String;
  row.properties = {{"path", path, true}, {"cells", cells, true}};
  rows.type = SchemaNode::Type::Array;
  rows.items = std::make_shared<SchemaNode>(row);
  operation.list = "rows";
  operation.cells = {"cells", "columns"};
  operation.text = "text";
  SchemaNode output;
  output.properties.push_back({"rows", rows, true});
  operation.output = std::move(output);
  const Json data = {
      {"columns", {{{"id", "note.n"}, {"name", "Number"}}, {{"id", "l"}, {"name", "Link"}}}},
      {"rows",
       {{{"path", "a.md"},
         {"cells", {{"note.n", 1.5}, {"l", {{"type", "link"}, {"target", "B"}}}}}},
        {{"path", "b.md"}, {"cells", {{"note.n", nullptr}, {"l", {{"error", "no"}}}}}}}}};

  CHECK(table_text(operation, data, 80, false) ==
        "path  Number  Link\na.md  1.5     B\nb.md          Error: no\n");
  CHECK(lines_text(operation, data).starts_with("{\"path\":\"a.md\""));
  CHECK(lines_text(operation, {{"text", "a,b\r\n"}, {"rows", Json::array()}}) == "a,b\r\n");
}

TEST_CASE("the manual page holds every command and no roff of its texts", "[cli][A94]") {
  Operation odd;
  odd.name = "note_odd";
  odd.cli = "note odd";
  odd.summary = ".TH \\fB it's `odd`.";
  const Registry registry({odd});
  const auto page = man_page(make_commands(registry));

  CHECK(holds(page, ".SS indx note odd\n\\&.TH \\efB it\\(aqs \\(gaodd\\(ga.\n"));
  CHECK(holds(page, ".B \\-\\-vault DIR"));
  CHECK(holds(page, ".SH EXIT STATUS"));
}

TEST_CASE("an error is a sentence and a line of JSON", "[cli][A93]") {
  CHECK(error_text(not_found("No note.", {{"path", "a.md"}})) ==
        "error: No note.\n{\"code\":\"not_found\",\"message\":\"No "
        "note.\",\"details\":{\"path\":\"a.md\"}}\n");
  CHECK(data_text({{"a", 1}}, false) == "{\"a\":1}\n");
}

TEST_CASE("the banner shows address, token file and three commands", "[cli]") {
  Banner banner{"indx",
                "/my notes",
                "http://127.0.0.1:8080",
                "/my notes/.indx/token",
                "/my notes/.indx/socket",
                true};

  const auto text = banner_text(banner);

  CHECK(holds(text, "address  http://127.0.0.1:8080\n"));
  CHECK(holds(text, "$(cat '/my notes/.indx/token')"));
  CHECK(holds(text, "indx ai tag --scope-glob '**' --apply --async --vault '/my notes'"));
  CHECK(holds(text, "indx job watch --vault '/my notes'"));
}

}  // namespace indx
