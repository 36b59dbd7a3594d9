#include "mcp/resource_watch.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "mcp/operation_call.hpp"
#include "mcp/synthetic_resources.hpp"
#include "ops/schema.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace indx {
namespace {

using Kind = ResourceUri::Kind;
using Question = ResourceWatch::Question;

/// Each pattern is held against each changed file, and each wildcard multiplies the ways to try.
constexpr std::ptrdiff_t kMostWildcards = 12;
bool is_wildcard(char c) { return c == '*' || c == '?' || c == '{' || c == '['; }

constexpr std::string_view kSearch = "vault_search", kSummarize = "ai_summarize";

/// The notes of a scope are told by an estimate, which asks no model.
Question scope_question(const Json& scope) {
  return {std::string(kSummarize), {{"scope", scope}, {"estimate", true}}};
}

/// A scope that names its notes, or a glob of them, is followed without asking anybody.
void follow_scope(const Json& scope, ResourceWatch& watch) {
  const std::string kind = string_member(scope, "kind").value_or("");
  const auto glob = string_member(scope, "path_glob");
  const auto path = string_member(scope, "path");
  const Json* paths = member(scope, "paths");
  if (kind == "glob" && glob) {
    watch.glob = *glob;
  } else if (kind == "note" && path && scope.value("include_linked", Json(0)) == 0) {
    watch.paths = {to_nfc(*path)};
  } else if (kind == "paths" && paths && paths->is_array()) {
    for (const Json& each : *paths)
      if (each.is_string()) watch.paths.push_back(to_nfc(each.get<std::string>()));
  } else {
    watch.question = scope_question(scope);
  }
}

}  // namespace

Result<ResourceWatch> make_watch(const std::string& uri, const Registry& registry,
                                 const Principal& principal, const AiRoles& roles) {
  const ResourceUri target = INDX_TRY(parse_watched_uri(uri));
  const Operation* operation = registry.find(operation_name_of(target));
  if (!operation || !may_call(principal, *operation)) return not_found("No such resource.");
  if (!operation->is_listed(roles)) return operation->lacks_role();
  Json input;
  if (target.kind != Kind::Glob) {  // a pattern cannot be read
    input = INDX_TRY(operation_input(target, *operation));
    // What a read would refuse has nothing to tell of either.
    INDX_TRY(validate(operation->input, input));
  }
  ResourceWatch watch{.uri = uri, .paths = {}, .glob = {}, .names_files = false, .question = {}};
  switch (target.kind) {
    case Kind::File:
    case Kind::Canvas:
      watch.paths = {target.path};
      break;
    case Kind::Glob:
      if (std::count_if(target.path.begin(), target.path.end(), is_wildcard) > kMostWildcards)
        return invalid(cat("A pattern to watch has at most ", kMostWildcards, " wildcards."));
      watch.glob = target.path;
      watch.names_files = true;
      break;
    case Kind::Summary:
    case Kind::Map:
      follow_scope(target.scope, watch);
      break;
    default:
      watch.question = Question{operation->name, std::move(input)};
  }
  return watch;
}

std::vector<std::string> paths_behind(const Question& question, const Json& output) {
  std::vector<std::string> paths;
  if (question.operation != kSummarize) return paths;
  const Json* resolved = member(output, "scope_resolved");
  const Json* listed = resolved ? member(*resolved, "paths") : nullptr;
  if (!listed || !listed->is_array()) return paths;
  for (const Json& path : *listed)
    if (path.is_string()) paths.push_back(path.get<std::string>());
  return paths;
}

Json compared_part(const Question& question, const Json& output) {
  if (question.operation == kSummarize) return paths_behind(question, output);
  if (question.operation != kSearch) {
    Json rest = output;
    for (const char* key : {"indexing", "indexed"}) rest.erase(key);
    return rest;
  }
  std::vector<Json> hits;
  for (const Json& hit : output.value("results", Json::array()))
    hits.push_back({hit.value("path", ""), hit.value("snippet", ""), hit.value("matched", "")});
  std::sort(hits.begin(), hits.end());
  return hits;
}

std::vector<std::string> updated_uris(const std::vector<ResourceWatch>& watches,
                                      const VaultChanges& changes, std::size_t most) {
  std::set<std::string> themselves, files, summaries;
  for (const ResourceWatch& watch : watches) {
    if (watch.question) continue;
    const bool is_touched = std::any_of(watch.paths.begin(), watch.paths.end(),
                                        [&](const auto& path) { return changes.touch(path); });
    if (is_touched) themselves.insert(watch.uri);
    if (watch.glob.empty()) continue;
    const auto found = changes.matching(watch.glob);
    if (found.paths.empty() && !found.has_more) continue;
    if (!watch.names_files || found.has_more) themselves.insert(watch.uri);
    if (!watch.names_files) continue;
    summaries.insert(watch.uri);
    for (const auto& path : found.paths) files.insert(vault_uri(path));
  }
  themselves.merge(files.size() > most ? summaries : files);
  return {themselves.begin(), themselves.end()};
}

}  // namespace indx
