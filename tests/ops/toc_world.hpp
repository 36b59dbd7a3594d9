#pragma once
#include "base/text.hpp"
#include "ops/operations.hpp"
#include "tests/support/fake_context.hpp"
#include "tests/support/indexed_links.hpp"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace indx {

using TocFiles = std::map<std::string, std::string>;

/// Notes whose links are looked up in a real index, for tests of ai_toc.
struct TocNotes : FakeWorld {
  explicit TocNotes(TocFiles notes) {
    files = std::move(notes);
    index();
  }
  void index() {
    indexed = std::make_unique<IndexedLinks>(files);
    links = indexed.get();
  }
  /// What the text between [[ and ]] reaches.
  LinkAnswer reached(const Link& link, const std::string& source = "") const {
    return links->resolve({source, link}).value();
  }
  std::unique_ptr<IndexedLinks> indexed;
};
inline Result<Json> toc_of(FakeWorld& world, const std::string& path, Json more = Json::object()) {
  Json input{{"mode", "note"}, {"path", path}};
  input.update(more);
  return run_operation(world, ai_toc(), input);
}
inline Json moc_call(Json more = Json::object()) {
  Json input{{"mode", "moc"}, {"scope", {{"kind", "glob"}, {"path_glob", "**"}}}};
  input.update(more);
  return input;
}
inline std::vector<std::string> toc_titles(const Json& nodes) {
  std::vector<std::string> titles;
  for (const auto& node : nodes) titles.push_back(node["title"].get<std::string>());
  return titles;
}
inline std::set<std::string> toc_codes(const Json& answer) {
  std::set<std::string> codes;
  for (const auto& warning : answer["warnings"])
    codes.insert(warning.is_string() ? warning.get<std::string>()
                                     : warning["code"].get<std::string>());
  return codes;
}
using TocTitles = std::vector<std::string>;

inline const std::string kTocSpec =
    "# Spec\n\nWhat the reader does.\n\n## Goals\n\nIt opens 12 files at once.\n\n### "
    "Speed\n\nFast.\n\n"
    "#### Numbers\n\nMany.\n\n## Limits\n\nIt writes nothing to disk.\n";

/// A model that titles each group and says each text again.
inline GenerateReply worded_toc(const GenerateRequest& request) {
  GenerateReply reply;
  Json groups = Json::array(), items = Json::array();
  for (const auto& line : split(request.messages[0].content, '\n')) {
    const auto row = Json::parse(line, nullptr, false);
    if (row.is_discarded() || !row.is_object()) continue;
    if (row.contains("group"))
      groups.push_back(
          {{"id", row["group"]}, {"title", "About " + row["name"].get<std::string>()}});
    else if (row.contains("text"))
      items.push_back(
          {{"id", row["item"]}, {"description", "In short: " + row["text"].get<std::string>()}});
  }
  reply.structured = Json::object();
  for (const auto& [name, schema] : request.json_schema["properties"].items())
    reply.structured[name] = name == "groups" ? groups : items;
  reply.usage = {50, 5, 0.002, "reported"};
  return reply;
}
inline void add_toc_model(FakeWorld& world) {
  world.can_generate = true;
  world.generate = [](const GenerateRequest& request, const std::string&) {
    return Result<GenerateReply>(worded_toc(request));
  };
}

}  // namespace indx
