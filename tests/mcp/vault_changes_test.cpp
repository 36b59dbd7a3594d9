#include "mcp/vault_changes.hpp"

#include "base/text.hpp"
#include "mcp/resource_watch.hpp"
#include "ops/dispatch.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

Event file_event(const std::string& kind, const Json& data) {
  Event event;
  event.kind = kind;
  event.data = data;
  return event;
}

VaultChanges changes_of(const std::vector<Event>& events, const PathScope& scope = {}) {
  VaultChanges changes;
  for (const Event& event : events) changes.add(event, scope);
  return changes;
}

}  // namespace

TEST_CASE("changes name the files of events, moves both ends", "[mcp][B57]") {
  const auto changes =
      changes_of({file_event("note.updated", {{"path", "a.md"}}),
                  file_event("canvas.created", {{"path", "b.canvas"}}),
                  file_event("note.moved", {{"path", "new.md"}, {"from", "old.md"}}),
                  file_event("job.progress", {{"path", "job.md"}})});

  for (const char* path : {"a.md", "b.canvas", "new.md", "old.md"}) CHECK(changes.touch(path));
  CHECK_FALSE(changes.touch("job.md"));
  CHECK(changes.is_list_changed());
  CHECK(changes.matching("*.md").paths == std::vector<std::string>{"a.md", "new.md", "old.md"});
  CHECK_FALSE(changes.matching("*.md").has_more);
  CHECK_FALSE(changes_of({file_event("note.updated", {{"path", "a.md"}})}).is_list_changed());
}

TEST_CASE("a moved folder touches what is below it, on both sides", "[mcp][B57]") {
  const auto changes = changes_of(
      {file_event("note.moved", {{"path", "New"}, {"from", "Old"}, {"is_folder", true}})});

  CHECK(changes.touch("Old/a.md"));
  CHECK(changes.touch("New/deep/a.md"));
  CHECK_FALSE(changes.touch("Newer/a.md"));
  CHECK(changes.matching("Old/**").has_more);
  CHECK(changes.matching("**/*.md").has_more);
  CHECK(changes.matching("New/deep/*.md").has_more);
  CHECK_FALSE(changes.matching("Other/**").has_more);
}

TEST_CASE("what the token may not see leaves no trace", "[mcp][B57]") {
  const PathScope scope{{"Open/**"}, {}};

  CHECK(changes_of({file_event("note.created", {{"path", "Shut/a.md"}}),
                    file_event("note.moved",
                               {{"path", "Shut/N"}, {"from", "Shut/O"}, {"is_folder", true}})},
                   scope)
            .empty());
  const auto crossing =
      changes_of({file_event("note.moved", {{"path", "Shut/a.md"}, {"from", "Open/a.md"}})}, scope);
  CHECK(crossing.touch("Open/a.md"));
  CHECK_FALSE(crossing.touch("Shut/a.md"));
}

TEST_CASE("past a thousand files, or after a gap, anything may have changed", "[mcp][B57]") {
  std::vector<Event> many;
  for (int i = 0; i <= 1000; ++i)
    many.push_back(file_event("note.updated", {{"path", cat(i, ".md")}}));

  CHECK(changes_of(many).touch("other.md"));
  CHECK(changes_of({file_event(std::string(kEventReset), Json::object())}).touch("other.md"));
  CHECK(changes_of({file_event(std::string(kEventReset), Json::object())}).is_list_changed());
}

TEST_CASE("many files below one watch are told as the watch, few by their names", "[mcp][B57]") {
  const std::vector<ResourceWatch> watches = {
      {.uri = "vault://D/**", .paths = {}, .glob = "D/**", .names_files = true, .question = {}},
      {.uri = "vault:///D/1.md",
       .paths = {"D/1.md"},
       .glob = {},
       .names_files = false,
       .question = {}}};
  std::vector<Event> events;
  for (int i = 0; i < 3; ++i)
    events.push_back(file_event("note.updated", {{"path", cat("D/", i, ".md")}}));

  CHECK(updated_uris(watches, changes_of(events), 3) ==
        std::vector<std::string>{"vault:///D/1.md", "vault://D/0.md", "vault://D/1.md",
                                 "vault://D/2.md"});
  CHECK(updated_uris(watches, changes_of(events), 2) ==
        std::vector<std::string>{"vault:///D/1.md", "vault://D/**"});
  CHECK(updated_uris(watches, VaultChanges(), 2).empty());
}

}  // namespace indx
