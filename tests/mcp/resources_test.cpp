#include "mcp/resources.hpp"

#include "base/hash.hpp"
#include "mcp/synthetic_resources.hpp"
#include "ops/operations.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

Json only_content(const Result<Json>& contents) {
  REQUIRE(contents);
  REQUIRE((*contents)["contents"].size() == 1);
  return (*contents)["contents"][0];
}

Json input_behind(const char* uri, const Operation& operation) {
  const auto parsed = parse_resource_uri(uri);
  REQUIRE(parsed);
  CHECK(operation_name_of(*parsed) == operation.name);
  const auto input = operation_input(*parsed, operation);
  REQUIRE(input);
  return *input;
}

}  // namespace

TEST_CASE("a file is given as its exact text, or as a blob where it is no text",
          "[mcp][B49][B56]") {
  const std::string note = "---\r\na: 1\r\n---\r\n\xEF\xBB\xBFx";
  const Json text = only_content(file_contents("vault://a.md", "a.md", note));
  CHECK(text["text"] == note);
  CHECK(text["mimeType"] == "text/markdown");
  CHECK_FALSE(text.contains("blob"));

  const Json broken = only_content(file_contents("vault://a.md", "a.md", "x\xFF"));
  CHECK(base64_decode(broken["blob"].get<std::string>()).bytes == "x\xFF");
  CHECK(broken["mimeType"] == "application/octet-stream");
  CHECK_FALSE(broken.contains("text"));

  const Json picture = only_content(file_contents("vault://a.png", "a.png", "text all the same"));
  CHECK(picture["mimeType"] == "image/png");
  CHECK(base64_decode(picture["blob"].get<std::string>()).bytes == "text all the same");

  CHECK(only_content(file_contents("u", "b.canvas", "{}"))["mimeType"] == "application/json");
  CHECK(only_content(file_contents("u", "b.base", "views: []"))["text"] == "views: []");
  CHECK(only_content(file_contents("u", "LICENSE", "words"))["mimeType"] == "text/plain");
}

TEST_CASE("a file that is too large says how to read it in parts", "[mcp][B49]") {
  const std::string large(kMaxResourceBytes + 1, 'x');

  const auto note = file_contents("vault://a.md", "a.md", large);
  const auto film = file_contents("vault://a.mp4", "a.mp4", large);

  REQUIRE_FALSE(note);
  CHECK(note.error().reason == Reason::TooLarge);
  CHECK(note.error().message.find("heading") != std::string::npos);
  CHECK(note.error().details["size"] == large.size());
  REQUIRE_FALSE(film);
  CHECK(film.error().message.find("Range") != std::string::npos);
}

TEST_CASE("a cursor of the list of resources comes back, and no other is taken", "[mcp][B55]") {
  for (const ResourceCursor& cursor :
       {ResourceCursor{false, "abc"}, ResourceCursor{true, ""}, ResourceCursor{true, "\"x"}}) {
    const auto back = read_resource_cursor(write_resource_cursor(cursor));
    REQUIRE(back);
    CHECK(back->is_behind_notes == cursor.is_behind_notes);
    CHECK(back->list_cursor == cursor.list_cursor);
  }
  CHECK(read_resource_cursor(""));
  for (const char* bad : {"not-a-cursor-%%", "W10=", "e30=", "WyJ4IiwiIl0=", "WyJuIiwxXQ=="})
    CHECK_FALSE(read_resource_cursor(bad));
}

TEST_CASE("each synthetic URI asks the operation that a tool would", "[mcp][B50][B51][B52][B53]") {
  CHECK(
      input_behind("vault://search?q=run%20book&mode=hybrid&limit=5&tag=a&tag=b", vault_search()) ==
      Json{{"limit", 5}, {"mode", "hybrid"}, {"q", "run book"}, {"tag", {"a", "b"}}});
  CHECK(input_behind("vault://graph", graph_edges()) == Json::object());
  CHECK(input_behind("vault://graph?limit=2&cursor=x", graph_edges()) ==
        Json{{"cursor", "x"}, {"limit", 2}});
  CHECK(input_behind("vault://graph/backlinks/A.md", link_backlinks()) == Json{{"path", "A.md"}});
  CHECK(input_behind("vault://graph/forward/A.md", link_forward()) == Json{{"path", "A.md"}});
  CHECK(input_behind("vault://tags", tag_list()) == Json::object());
  CHECK(input_behind("vault://base/A.base?view=All", base_query()) ==
        Json{{"view", "All"}, {"path", "A.base"}});
  CHECK(input_behind("vault://canvas/A.canvas", attachment_read()) == Json{{"path", "A.canvas"}});
  CHECK(input_behind("vault://A.pdf", attachment_read()) == Json{{"path", "A.pdf"}});
  CHECK(input_behind(R"(ai://moc/{"kind":"tag","tag":"x"})", ai_toc()) ==
        Json{{"mode", "moc"}, {"scope", {{"kind", "tag"}, {"tag", "x"}}}});
  CHECK(input_behind(R"(ai://summary/{"kind":"tag","tag":"x"})", ai_summarize()) ==
        Json{{"scope", {{"kind", "tag"}, {"tag", "x"}}}});

  CHECK_FALSE(operation_input(*parse_resource_uri("vault://search?q=x&sort=up"), vault_search()));
  CHECK_FALSE(operation_input(*parse_resource_uri("vault://canvas/A.md"), attachment_read()));
  CHECK_FALSE(
      operation_input(*parse_resource_uri("vault://graph/forward/A.md?block=1"), link_forward()));
}

TEST_CASE("templates and entries are those that the token may read and the server has",
          "[mcp][B55][B59]") {
  const Registry registry = make_registry();
  Principal reader;
  reader.scopes = {Scope::VaultRead};
  const auto names = [&](const Principal& principal, AiRoles roles) {
    const Json list =
        resource_templates(registry, principal, roles, protocols().back())["resourceTemplates"];
    std::vector<std::string> found;
    for (const Json& one : list) {
      CHECK_FALSE(one["description"].get<std::string>().empty());
      CHECK(one["uriTemplate"].is_string());
      found.push_back(one["name"].get<std::string>());
    }
    return found;
  };
  const std::vector<std::string> plain = {"file",          "search", "graph_page", "backlinks",
                                          "forward_links", "canvas", "base"};
  auto with_ai = plain;
  with_ai.insert(with_ai.end(), {"ai_summary", "ai_moc"});

  CHECK(names(reader, {}) == plain);
  CHECK(names(reader, {.chat = true}) == with_ai);
  CHECK(names({}, {.chat = true}).empty());
  const Json entries = synthetic_entries(registry, reader, {}, protocols().back());
  REQUIRE(entries.size() == 2);
  CHECK(entries[0]["uri"] == "vault://graph");
  CHECK(entries[1]["uri"] == "vault://tags");
}

}  // namespace indx
