#include "cli/args.hpp"

#include "cli/run_command.hpp"
#include "tests/cli/small_registry.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

using Type = SchemaNode::Type;

SchemaNode args_node(Type type, std::vector<std::string> allowed = {}) {
  SchemaNode node;
  node.type = type;
  node.allowed = std::move(allowed);
  return node;
}
SchemaNode args_list() {
  SchemaNode node = args_node(Type::Array);
  node.items = std::make_shared<SchemaNode>(args_node(Type::String));
  return node;
}
SchemaNode args_map() {
  SchemaNode node = args_node(Type::Map);
  node.items = std::make_shared<SchemaNode>(args_node(Type::Any));
  return node;
}
SchemaNode args_object(std::vector<SchemaNode::Property> properties) {
  SchemaNode node;
  node.properties = std::move(properties);
  return node;
}

Operation get_operation() {
  Operation operation;
  operation.name = "note_read";
  operation.summary = "Read a note.";
  operation.guidance = "Before changing it.";
  operation.cli = "note get";
  operation.cli_positional = {"path"};
  operation.route = {"GET", "/v1/notes/{path}"};
  operation.input = args_object({{"path", args_node(Type::String), true},
                                 {"include", args_list(), false},
                                 {"limit", args_node(Type::Integer), false},
                                 {"frontmatter", args_map(), false},
                                 {"with_body", args_node(Type::Boolean), false},
                                 {"text", args_node(Type::String), false}});
  operation.failures = {{Reason::NotFound, "No note has that path."}};
  return operation;
}

Operation drop_operation() {
  Operation operation;
  operation.name = "note_drop";
  operation.summary = "Drop a note.";
  operation.cli_positional = {"path"};
  operation.effect = Effect::Destructive;
  operation.route = {"DELETE", "/v1/notes/{path}"};
  operation.input = args_object({{"path", args_node(Type::String), true},
                                 {"if_match", args_node(Type::String), false},
                                 {"dry_run", args_node(Type::Boolean), false}});
  return operation;
}

Operation tag_operation() {
  Operation operation;
  operation.name = "ai_tag";
  operation.summary = "Tag notes.";
  operation.effect = Effect::Writes;
  operation.execution = Execution::Sized;
  operation.route = {"POST", "/v1/ai/tag"};
  const auto scope = args_object(
      {{"kind", args_node(Type::String, {"paths", "glob", "tag", "query", "note"}), true},
       {"paths", args_list(), false},
       {"path_glob", args_node(Type::String), false},
       {"tag", args_node(Type::String), false},
       {"q", args_node(Type::String), false},
       {"path", args_node(Type::String), false},
       {"limit", args_node(Type::Integer), false}});
  const auto vocabulary = args_object({{"use_existing", args_node(Type::Boolean), false},
                                       {"max_per_note", args_node(Type::Integer), false},
                                       {"candidates", args_list(), false},
                                       {"min_confidence", args_node(Type::Number), false}});
  operation.input = args_object({{"scope", scope, true},
                                 {"vocabulary", vocabulary, false},
                                 {"limit", args_node(Type::Integer), false},
                                 {"apply", args_node(Type::Boolean), false},
                                 {"if_match", args_map(), false}});
  return operation;
}

Result<std::string> no_file(const std::string& file) { return not_found("no " + file); }

struct Parsed {
  Registry registry = small_registry();
  std::vector<Command> commands = make_commands(registry);
  Result<Invocation> result;

  explicit Parsed(const std::vector<std::string>& args, const ReadSource& read = no_file)
      : result(parse_args(args, commands, read)) {}
  Json input() const { return result ? result->input : Json(result.error().message); }
  std::string problem() const { return result ? "" : result.error().message; }
};

}  // namespace

Registry small_registry() { return Registry({get_operation(), drop_operation(), tag_operation()}); }

TEST_CASE("noun, verb, argument and flags become the input of the operation", "[cli][A93]") {
  const Parsed parsed({"note", "get", "a.md", "--limit", "3", "--with-body"});

  REQUIRE(parsed.result);
  CHECK(parsed.result->command->operation->name == "note_read");
  CHECK(parsed.input() == Json{{"path", "a.md"}, {"limit", 3}, {"with_body", true}});
}

TEST_CASE("global flags stand before the words or after them", "[cli][A96]") {
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"--vault", "/v", "--ndjson", "note", "get", "a.md"},
        {"note", "get", "a.md", "--ndjson", "--vault=/v"}}) {
    const Parsed parsed(args);
    REQUIRE(parsed.result);
    CHECK(parsed.result->global.vault == "/v");
    CHECK(parsed.result->global.ndjson);
  }
}

TEST_CASE("a switch is cleared by no- and lists grow by repetition", "[cli]") {
  CHECK(Parsed({"note", "get", "a.md", "--no-with-body"}).input()["with_body"] == false);
  CHECK(Parsed({"note", "get", "a.md", "--include", "x", "--include", "y"}).input()["include"] ==
        Json{"x", "y"});
}

TEST_CASE("maps are given as JSON or as pairs", "[cli]") {
  CHECK(Parsed({"note", "get", "a.md", "--frontmatter", R"({"a":[1]})"}).input()["frontmatter"] ==
        Json{{"a", {1}}});
  CHECK(Parsed({"note", "get", "a.md", "--frontmatter", "a=1", "--frontmatter", "b=x"})
            .input()["frontmatter"] == Json{{"a", 1}, {"b", "x"}});
}

TEST_CASE("a scope is spelled with flags that tell its kind", "[cli][D75]") {
  const auto scope_of = [](const std::vector<std::string>& flags) {
    std::vector<std::string> args = {"ai", "tag"};
    args.insert(args.end(), flags.begin(), flags.end());
    return Parsed(args).input()["scope"];
  };

  CHECK(scope_of({"--scope-glob", "**"}) == Json{{"path_glob", "**"}, {"kind", "glob"}});
  CHECK(scope_of({"--scope-paths", "a.md,b.md"}) ==
        Json{{"paths", {"a.md", "b.md"}}, {"kind", "paths"}});
  CHECK(scope_of({"--scope-paths", R"(["a,b.md"])"}) ==
        Json{{"paths", {"a,b.md"}}, {"kind", "paths"}});
  CHECK(scope_of({"--scope-tag", "work"}) == Json{{"tag", "work"}, {"kind", "tag"}});
  CHECK(scope_of({"--scope-query", "plan", "--scope-limit", "3"}) ==
        Json{{"q", "plan"}, {"kind", "query"}, {"limit", 3}});
  CHECK(scope_of({"--scope-note", "a.md"}) == Json{{"path", "a.md"}, {"kind", "note"}});
  CHECK(scope_of({"--scope", R"({"kind":"tag","tag":"x"})"}) ==
        Json{{"kind", "tag"}, {"tag", "x"}});
}

TEST_CASE("fields of an object have a short flag where it can mean one thing only", "[cli][D75]") {
  const auto input =
      Parsed({"ai", "tag", "--scope-glob", "**", "--max-per-note", "3", "--min-confidence=0.5",
              "--no-use-existing", "--limit", "9", "--apply"})
          .input();

  CHECK(input["vocabulary"] ==
        Json{{"use_existing", false}, {"max_per_note", 3}, {"min_confidence", 0.5}});
  CHECK(input["limit"] == 9);
  CHECK_FALSE(input["scope"].contains("limit"));
  CHECK(input["apply"] == true);
}

TEST_CASE("a text is read from a file or stdin, and @@ is an @", "[cli]") {
  const ReadSource read = [](const std::string& file) -> Result<std::string> {
    return "bytes of " + file;
  };

  CHECK(Parsed({"note", "get", "a.md", "--text", "@f.md"}, read).input()["text"] ==
        "bytes of f.md");
  CHECK(Parsed({"note", "get", "a.md", "--text", "-"}, read).input()["text"] == "bytes of -");
  CHECK(Parsed({"note", "get", "a.md", "--text", "@@home"}, read).input()["text"] == "@home");
  CHECK(Parsed({"note", "get", "@a.md"}, read).input()["path"] == "@a.md");
  CHECK(Parsed({"note", "get", "a.md", "--text", "@f.md"},
               [](const std::string&) -> Result<std::string> { return std::string("\xFF"); })
            .problem()
            .find("UTF-8") != std::string::npos);
}

TEST_CASE("what is unknown is named with its nearest neighbour", "[cli]") {
  CHECK(Parsed({"note", "gte", "a.md"}).problem().find("Did you mean `get`?") != std::string::npos);
  CHECK(Parsed({"noet", "get"}).problem().find("Did you mean `note`?") != std::string::npos);
  CHECK(Parsed({"note", "get", "a.md", "--limti", "3"}).problem().find("Did you mean `--limit`?") !=
        std::string::npos);
  CHECK(Parsed({"note"}).problem().find("get, drop") != std::string::npos);
}

TEST_CASE("a command line that cannot be meant is refused", "[cli][A98]") {
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"note", "get"},
        {"note", "get", "a.md", "b.md"},
        {"note", "get", "a.md", "--limit"},
        {"note", "get", "a.md", "--limit", "1", "--limit", "2"},
        {"note", "get", "a.md", "--limit", "x"},
        {"note", "get", "a.md", "--if-match", "e"},
        {"ai", "tag", "--dry-run"},
        {"--local", "--remote", "http://x", "note", "get", "a.md"}}) {
    const Parsed parsed(args);
    REQUIRE_FALSE(parsed.result);
    CHECK(parsed.result.error().exit_code() == 2);
  }
}

TEST_CASE("the flags --if-match and --dry-run reach the operation from any place", "[cli][A96]") {
  CHECK(Parsed({"--dry-run", "--if-match", "e1", "note", "drop", "a.md"}).input() ==
        Json{{"path", "a.md"}, {"if_match", "e1"}, {"dry_run", true}});
  CHECK(Parsed({"ai", "tag", "--scope-glob", "**", "--if-match", "a.md=e1"}).input()["if_match"] ==
        Json{{"a.md", "e1"}});
}

TEST_CASE("an argument may be given by its name", "[cli]") {
  CHECK(Parsed({"note", "get", "--path", "a.md"}).input()["path"] == "a.md");
  CHECK_FALSE(Parsed({"note", "get", "--path", "a.md", "b.md"}).result);
  CHECK_FALSE(Parsed({"note", "get", "--path", "a.md", "--path", "b.md"}).result);
}

TEST_CASE("a word with one dash is an argument, since no flag has one", "[cli]") {
  CHECK(Parsed({"note", "get", "- hi"}).input()["path"] == "- hi");
  CHECK(Parsed({"note", "get", "-alpha"}).input()["path"] == "-alpha");
  CHECK(Parsed({"note", "get", "-"}).input()["path"] == "-");
  CHECK(Parsed({"note", "get", "-alpha", "--limit", "3"}).input()["limit"] == 3);
  CHECK(Parsed({"note", "get", "a.md", "--text", "-x"}).input()["text"] == "-x");
  CHECK(Parsed({"note", "get", "-h"}).result->global.help);
  const Parsed help({"--vault", "/my/notes", "note", "get", "--help"});
  REQUIRE(help.result);
  CHECK(help.result->words == std::vector<std::string>{"note", "get"});
  CHECK(Parsed({"note", "get", "a.md", "-limit"}).problem() ==
        "`-limit` is one argument too many for `indx note get`. Did you mean `--limit`?");
  CHECK(Parsed({"-x"}).problem().find("`-x` is no command") != std::string::npos);
}

TEST_CASE("a word with two dashes is a flag; how it would be an argument is told where one is open",
          "[cli]") {
  CHECK(Parsed({"note", "get", "--it's"}).problem() ==
        "`--it's` is no flag of `indx note get`. If it is no flag but an argument, type "
        "`-- '--it'\\''s'`.");
  const auto full = Parsed({"note", "get", "a.md", "--limti"}).problem();
  CHECK(full == "`--limti` is no flag of `indx note get`. Did you mean `--limit`?");
}

TEST_CASE("after two dashes everything is an argument", "[cli]") {
  CHECK(Parsed({"note", "get", "--", "--odd name.md"}).input()["path"] == "--odd name.md");
}

TEST_CASE("a destructive command without --yes ends with 4 before anything is opened",
          "[cli][A98]") {
  const Parsed parsed({"--vault", "/nonexistent", "note", "drop", "a.md"});
  REQUIRE(parsed.result);

  CHECK(run_command(
            *parsed.result, [](const std::string&) { return std::nullopt; }, parsed.registry) == 4);
}

}  // namespace indx
