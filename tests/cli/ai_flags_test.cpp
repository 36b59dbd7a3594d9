#include "cli/args.hpp"
#include "cli/help.hpp"
#include "ops/schema.hpp"

#include <catch2/catch.hpp>

#include <map>

namespace indx {
namespace {

Result<std::string> schema_file(const std::string& file) {
  if (file != "s.json") return not_found("no " + file);
  return std::string(R"({"type":"object"})");
}

/// The validated input of a command line.
Result<Json> ai_input(const std::vector<std::string>& words) {
  const Registry registry = make_registry();
  const auto commands = make_commands(registry);
  const auto parsed = INDX_TRY(parse_args(words, commands, schema_file));
  return validate(parsed.command->operation->input, parsed.input);
}

}  // namespace

TEST_CASE("every flag of ai summarize reaches its field", "[cli][D75]") {
  const auto input =
      ai_input({"ai", "summarize", "--scope-paths", "a.md,b.md", "--style", "bullets", "--length",
                "long", "--audience", "new colleagues", "--include", "tldr,outline"});
  INFO((input ? "" : input.error().message));
  REQUIRE(input);
  CHECK((*input)["scope"]["kind"] == "paths");
  CHECK((*input)["scope"]["paths"] == Json({"a.md", "b.md"}));
  CHECK((*input)["style"] == "bullets");
  CHECK((*input)["length"] == "long");
  CHECK((*input)["audience"] == "new colleagues");
  CHECK((*input)["include"] == Json({"tldr", "outline"}));
  CHECK_FALSE(ai_input({"ai", "summarize", "--scope-glob", "**", "--style", "poetic"}));
}

TEST_CASE("every flag of ai metadata reaches its field", "[cli][D75]") {
  const auto input = ai_input({"ai", "metadata", "--scope-glob", "inbox/**", "--fields",
                               R"([{"key":"due","type":"date"}])", "--apply", "--apply-mode",
                               "overwrite", "--if-match-mode", "skip"});
  INFO((input ? "" : input.error().message));
  REQUIRE(input);
  CHECK((*input)["scope"]["path_glob"] == "inbox/**");
  CHECK((*input)["fields"][0]["key"] == "due");
  CHECK((*input)["apply"] == true);
  CHECK((*input)["apply_mode"] == "overwrite");
  CHECK((*input)["if_match_mode"] == "skip");
}

TEST_CASE("the schema of ai extract comes from a file or from the line", "[cli][C80][D75]") {
  const std::vector<std::string> words = {
      "ai",          "extract",           "--scope-tag", "meeting", "--destination",
      "frontmatter", "--destination-key", "decisions",   "--apply", "--apply-mode",
      "merge"};
  const auto with = [&](std::vector<std::string> more) {
    auto all = words;
    all.insert(all.end(), more.begin(), more.end());
    return ai_input(all);
  };

  const auto from_file = with({"--schema-file", "s.json"});
  INFO((from_file ? "" : from_file.error().message));
  REQUIRE(from_file);
  CHECK((*from_file)["schema"] == Json{{"type", "object"}});
  CHECK((*from_file)["destination_key"] == "decisions");
  CHECK((*from_file)["apply_mode"] == "merge");
  CHECK((*with({"--schema", R"({"type":"object"})"}))["schema"] == Json{{"type", "object"}});
  CHECK((*with({"--schema", "@s.json"}))["schema"] == Json{{"type", "object"}});

  CHECK(with({"--schema-file", "none.json"}).error().reason == Reason::NotFound);
  CHECK(with({"--schema", "{}", "--schema-file", "s.json"}).error().reason ==
        Reason::ValidationFailed);
  CHECK(with({}).error().reason == Reason::ValidationFailed);
}

TEST_CASE("the flag --stream is the same in front of the words and behind them",
          "[cli][C18][D43]") {
  const Registry registry = make_registry();
  const auto commands = make_commands(registry);
  const auto parsed = [&](const std::vector<std::string>& words) {
    return parse_args(words, commands, schema_file).value();
  };
  const auto before = parsed({"--stream", "ai", "summarize", "--scope-note", "a.md"});
  const auto behind = parsed({"ai", "summarize", "--scope-note", "a.md", "--stream"});
  const auto none = parsed({"ai", "summarize", "--scope-note", "a.md"});

  CHECK((before.global.stream && behind.global.stream));
  CHECK_FALSE(none.global.stream);
  CHECK(before.input == behind.input);
  CHECK(none.input == behind.input);
  CHECK(parsed({"vault", "index", "--stream"}).global.stream);
}

TEST_CASE("help of ai extract names the file form of its schema", "[cli][C80]") {
  const Registry registry = make_registry();
  const auto text = help_text({"ai", "extract"}, make_commands(registry));
  CHECK(text.find("--schema-file FILE") != std::string::npos);
}

TEST_CASE("ai toc says its mode by what it is about", "[cli][C24][C25][D75]") {
  const auto note = ai_input({"ai", "toc", "--note", "a.md", "--depth", "2", "--descriptions"});
  INFO((note ? "" : note.error().message));
  REQUIRE(note);
  CHECK((*note)["mode"] == "note");
  CHECK((*note)["path"] == "a.md");
  CHECK((*note)["depth"] == 2);
  CHECK((*note)["include_descriptions"] == true);
  CHECK_FALSE(note->contains("scope"));

  const auto moc = ai_input({"ai", "toc", "--moc", "--scope-glob", "Projects/**", "--group-by",
                             "tag", "--write", "Index.md", "--if-not-exists"});
  INFO((moc ? "" : moc.error().message));
  REQUIRE(moc);
  CHECK((*moc)["mode"] == "moc");
  CHECK((*moc)["scope"]["path_glob"] == "Projects/**");
  CHECK((*moc)["group_by"] == "tag");
  CHECK((*moc)["write"]["path"] == "Index.md");
  CHECK((*moc)["write"]["if_not_exists"] == true);

  const auto guarded = ai_input(
      {"ai", "toc", "--moc", "--scope-glob", "**", "--write", "Index.md", "--if-match", "abc"});
  REQUIRE(guarded);
  CHECK((*guarded)["write"]["if_match"] == "abc");
  CHECK_FALSE(ai_input({"ai", "toc", "--moc", "--note", "a.md"}));
  CHECK_FALSE(ai_input({"ai", "toc", "--mode", "moc", "--note", "a.md"}));
  CHECK(ai_input({"ai", "toc", "--mode", "note", "--note", "a.md"}));
}

TEST_CASE("every flag of ai tag reaches its field", "[cli][D75]") {
  const auto input = ai_input({"ai",
                               "tag",
                               "--note",
                               "a.md",
                               "--include-linked",
                               "2",
                               "--no-use-existing",
                               "--no-allow-new",
                               "--candidates",
                               "x,y",
                               "--forbid",
                               "z",
                               "--namespace",
                               "area",
                               "--max-per-note",
                               "3",
                               "--min-confidence",
                               "0.7",
                               "--apply",
                               "--apply-mode",
                               "replace",
                               "--if-match",
                               "a.md=e1",
                               "--if-match-mode",
                               "skip"});
  INFO((input ? "" : input.error().message));
  REQUIRE(input);
  CHECK((*input)["scope"]["kind"] == "note");
  CHECK((*input)["scope"]["path"] == "a.md");
  CHECK((*input)["scope"]["include_linked"] == 2);
  const Json& vocabulary = (*input)["vocabulary"];
  CHECK(vocabulary["use_existing"] == false);
  CHECK(vocabulary["allow_new"] == false);
  CHECK(vocabulary["candidates"] == Json({"x", "y"}));
  CHECK(vocabulary["forbid"] == Json({"z"}));
  CHECK(vocabulary["namespace"] == "area");
  CHECK(vocabulary["max_per_note"] == 3);
  CHECK(vocabulary["min_confidence"] == 0.7);
  CHECK((*input)["apply"] == true);
  CHECK((*input)["apply_mode"] == "replace");
  CHECK((*input)["if_match"] == Json{{"a.md", "e1"}});
  CHECK((*input)["if_match_mode"] == "skip");
}

TEST_CASE("what AI commands share has the same flags in all of them", "[cli][C6][D75]") {
  const std::vector<std::vector<std::string>> commands = {
      {"ai", "summarize"},
      {"ai", "tag"},
      {"ai", "metadata", "--fields", R"([{"key":"due","type":"date"}])"},
      {"ai", "extract", "--schema", R"({"type":"object"})"}};
  for (auto words : commands) {
    INFO(words[1]);
    words.insert(words.end(),
                 {"--scope-query", "late trains", "--scope-mode", "hybrid", "--scope-limit", "5",
                  "--scope-filters", R"({"tag":"work"})", "--language", "de", "--max-tokens", "99",
                  "--no-cite", "--seed", "7", "--no-cache", "--estimate"});
    const auto input = ai_input(words);
    INFO((input ? "" : input.error().message));
    REQUIRE(input);
    const Json& scope = (*input)["scope"];
    CHECK(scope["kind"] == "query");
    CHECK(scope["q"] == "late trains");
    CHECK(scope["mode"] == "hybrid");
    CHECK(scope["limit"] == 5);
    CHECK(scope["filters"] == Json{{"tag", "work"}});
    CHECK((*input)["language"] == "de");
    CHECK((*input)["max_tokens"] == 99);
    CHECK((*input)["cite"] == false);
    CHECK((*input)["seed"] == 7);
    CHECK((*input)["cache"] == false);
    CHECK((*input)["estimate"] == true);
  }
  CHECK(ai_input({"ai", "status"}));
}

TEST_CASE("a short flag belongs to what is no scope, then to the scope that a call needs",
          "[cli][D75]") {
  const auto node = [](SchemaNode::Type type, std::vector<std::string> allowed = {}) {
    SchemaNode result;
    result.type = type;
    result.allowed = std::move(allowed);
    return result;
  };
  const auto text = node(SchemaNode::Type::String);
  const auto object = [&](std::vector<SchemaNode::Property> properties) {
    auto result = node(SchemaNode::Type::Object);
    result.properties = std::move(properties);
    return result;
  };
  const auto kind = node(SchemaNode::Type::String, {"note", "tag"});
  const auto scope = object({{"kind", kind, true}, {"path", text}, {"mode", text}, {"tag", text}});
  const auto input = object({{"needed", scope, true},
                             {"retrieve", object({{"mode", text}, {"top_k", text}}), false},
                             {"other", scope, false},
                             {"more", object({{"top_k", text}, {"hops", text}}), false}});

  std::map<std::string, std::vector<std::string>> target;
  for (const auto& flag : flags_of(input, {})) target[flag.name] = flag.target;

  using Names = std::vector<std::string>;
  CHECK(target["mode"] == Names{"retrieve", "mode"});
  CHECK(target["note"] == Names{"needed", "path"});
  CHECK(target["tag"] == Names{"needed", "tag"});
  CHECK(target["hops"] == Names{"more", "hops"});
  CHECK(target["other-note"] == Names{"other", "path"});
  CHECK_FALSE(target.contains("top-k"));
  CHECK_FALSE(target.contains("kind"));
}

}  // namespace indx
