#include "ops/ai/ai_scope.hpp"

#include "base/text.hpp"
#include "ops/links.hpp"
#include "ops/search/retrieval.hpp"

#include <algorithm>
#include <set>

namespace indx {
namespace {

constexpr int kPageSize = 500;

Error missing_field(const AiScope& scope, const char* name) {
  const std::string path = cat("scope.", name);
  return invalid(cat("`", path, "` is required when `scope.kind` is `", scope.kind, "`."),
                 Json{{"path", path}, {"expected", "a value"}, {"actual", "missing"}});
}

using Paths = Result<std::set<std::string>>;

Paths listed_paths(Context& ctx, const NoteFilter& filter) {
  std::set<std::string> paths;
  std::string cursor;
  do {
    const Page<NoteRow> page = INDX_TRY(ctx.index().list(filter, kPageSize, cursor));
    for (const auto& row : page.rows) paths.insert(row.path);
    cursor = page.next_cursor.value_or("");
  } while (!cursor.empty());
  return paths;
}

Paths named_paths(const AiScope& scope) {
  if (scope.paths.empty()) return missing_field(scope, "paths");
  std::set<std::string> paths;
  for (const auto& text : scope.paths) {
    const NotePath path = INDX_TRY(NotePath::parse(text));
    paths.insert(path.str());
  }
  return paths;
}

Paths glob_paths(Context& ctx, const AiScope& scope) {
  if (scope.path_glob.empty()) return missing_field(scope, "path_glob");
  NoteFilter filter;
  filter.path_glob = scope.path_glob;
  return listed_paths(ctx, filter);
}

Paths tag_paths(Context& ctx, const AiScope& scope) {
  if (scope.tag.empty()) return missing_field(scope, "tag");
  const auto paths = INDX_TRY(
      ctx.index().paths_with_tag(scope.tag.starts_with('#') ? scope.tag.substr(1) : scope.tag));
  return std::set<std::string>(paths.begin(), paths.end());
}

/// As vault_search finds them in this mode; `warnings` tell why it went by words alone.
Paths query_paths(Context& ctx, const AiScope& scope, std::vector<Json>& warnings) {
  if (scope.q.empty()) return missing_field(scope, "q");
  const auto filter = INDX_TRY(filter_of(scope.filters.value, "scope.filters"));
  const Retrieved found = INDX_TRY(retrieve_by_meaning(
      ctx, {{scope.q, filter}, scope.mode, static_cast<std::size_t>(scope.limit)}));
  warnings.insert(warnings.end(), found.warnings.begin(), found.warnings.end());
  std::set<std::string> paths;
  if (found.source) {
    for (const auto& note : found.notes) paths.insert(note.path);
    return paths;
  }
  SearchRequest request;
  request.q = scope.q;
  request.filter = filter;
  request.limit = scope.limit;
  const Page<SearchHit> page = INDX_TRY(ctx.index().search(request));
  for (const auto& hit : page.rows) paths.insert(hit.path);
  return paths;
}

/// Breadth first over the links of notes that AI may read.
Paths linked_paths(Context& ctx, const AiScope& scope) {
  if (scope.path.empty()) return missing_field(scope, "path");
  const NotePath start = INDX_TRY(NotePath::parse(scope.path));
  std::set<std::string> reached = {start.str()};
  std::vector<std::string> frontier = {start.str()};
  for (int hop = 0; hop < scope.include_linked && !frontier.empty(); ++hop) {
    std::vector<std::string> next;
    for (const auto& text : frontier) {
      if (!ai_may_read(ctx.config().ai, text)) continue;
      const NotePath path = INDX_TRY(NotePath::parse(text));
      const auto links = INDX_TRY(ctx.index().forward_links(path));
      for (const auto& link : links)
        if (link.path && reached.insert(*link.path).second) next.push_back(*link.path);
    }
    frontier = std::move(next);
  }
  return reached;
}

Paths all_paths(Context& ctx, const AiScope& scope, std::vector<Json>& warnings) {
  if (scope.kind == "paths") return named_paths(scope);
  if (scope.kind == "glob") return glob_paths(ctx, scope);
  if (scope.kind == "tag") return tag_paths(ctx, scope);
  if (scope.kind == "query") return query_paths(ctx, scope, warnings);
  return linked_paths(ctx, scope);
}

bool matches_any(const std::vector<std::string>& globs, const std::string& path) {
  return std::any_of(globs.begin(), globs.end(),
                     [&](const std::string& glob) { return glob_match(glob, path); });
}

bool is_note(const std::string& text) {
  const auto path = NotePath::parse(text);
  return path && path->is_note();
}

}  // namespace

Fields<AiScope> AiScope::fields() {
  return {
      field("kind", &AiScope::kind,
            "How: by `paths`, `path_glob`, `tag`, `q` (with mode, limit, filters) or `path` (with "
            "include_linked).",
            one_of({"paths", "glob", "tag", "query", "note"})),
      field("paths", &AiScope::paths, "paths: these notes.", optional, plain, vault_path,
            length(0, 10000)),
      field("path_glob", &AiScope::path_glob,
            "glob: notes whose path matches, such as `Projects/**`.", optional, plain,
            length(0, 1024)),
      field("tag", &AiScope::tag, "tag: notes with it or one below it.", optional, plain,
            length(0, 256)),
      field("q", &AiScope::q, "query: notes found by these words.", optional, plain,
            length(0, 4096)),
      field("mode", &AiScope::mode,
            "query: by words, by meaning, or both; without embeddings by words, with a warning.",
            optional, plain, one_of({"lexical", "semantic", "hybrid"})),
      field("limit", &AiScope::limit, "query: most notes.", optional, plain, between(1, 200)),
      field("filters", &AiScope::filters,
            "query: {path_glob, tag, frontmatter} that must match too.", optional, plain),
      field("path", &AiScope::path, "note: this one.", optional, plain, vault_path,
            length(0, 4096)),
      field("include_linked", &AiScope::include_linked,
            "note: also what it links to, this many hops away.", optional, plain, between(0, 5))};
}

Result<NoteFilter> filter_of(const Json& filters, const std::string& where) {
  NoteFilter filter;
  for (const auto& [key, value] : filters.items()) {
    if (key == "path_glob" && value.is_string())
      filter.path_glob = value.get<std::string>();
    else if (key == "tag" && value.is_string())
      filter.tags = {value.get<std::string>()};
    else if (key == "frontmatter" && value.is_object())
      filter.frontmatter = value;
    else
      return invalid(cat("`", where, ".", key,
                         "` is not a filter: path_glob (text), tag (text), frontmatter (object)."),
                     Json{{"path", cat(where, ".", key)},
                          {"expected", "path_glob, tag or frontmatter"},
                          {"actual", "another field"}});
  }
  return filter;
}

bool ai_may_read(const AiConfig& config, const std::string& path) {
  if (matches_any(config.deny_globs, path)) return false;
  return config.allow_globs.empty() || matches_any(config.allow_globs, path);
}

Result<ScopePaths> scope_paths(Context& ctx, const AiScope& scope) {
  ScopePaths result;
  // What is asked of a part of the index would be done for a part of the notes.
  const bool is_named_alone = scope.kind == "note" && scope.include_linked == 0;
  if (scope.kind != "paths" && !is_named_alone && index_progress(ctx))
    INDX_TRY(ctx.links().wait_for_index());
  const auto all = INDX_TRY(all_paths(ctx, scope, result.warnings));
  const PathScope caller = ctx.principal().path_scope();
  const bool is_named = scope.kind == "paths";
  for (const auto& path : all) {
    if (!caller.allows(path)) {
      if (is_named || (scope.kind == "note" && path == scope.path))
        return make_error(Reason::Forbidden,
                          cat("`", path, "` is outside the paths of this token."),
                          Json{{"path", path}});
      continue;  // invisible in lists
    }
    if (!is_note(path)) {
      if (is_named)
        return invalid(cat("`", path, "` is not a Markdown note."),
                       Json{{"path", "scope.paths"}, {"expected", "notes"}, {"actual", path}});
      continue;
    }
    if (ai_may_read(ctx.config().ai, path))
      result.paths.push_back(path);
    else
      result.excluded.push_back(path);
  }
  if (!result.excluded.empty())
    result.warnings.push_back(Json{{"code", "globs_excluded"},
                                   {"reason", "ai.allow_globs and ai.deny_globs"},
                                   {"paths", result.excluded}});
  return result;
}

Result<ResolvedScope> resolve_scope(Context& ctx, const AiScope& scope) {
  ScopePaths found = INDX_TRY(scope_paths(ctx, scope));
  ResolvedScope resolved;
  resolved.excluded = std::move(found.excluded);
  resolved.warnings = std::move(found.warnings);
  for (const auto& text : found.paths) {
    const NotePath path = INDX_TRY(NotePath::parse(text));
    const auto file = ctx.notes().read(path);
    if (file) {
      resolved.notes.push_back({path.str(), file->etag});
      continue;
    }
    const bool stands_alone = found.paths.size() == 1 || scope.kind == "note";
    if (file.error().reason != Reason::NotFound || stands_alone) return file.error();
    resolved.missing.push_back(path.str());
    resolved.warnings.push_back(
        Json{{"code", "not_found"}, {"path", path.str()}, {"reason", file.error().message}});
  }
  return resolved;
}

Json to_json(const ResolvedScope& scope) {
  Json notes = Json::array();
  for (const auto& note : scope.notes)
    notes.push_back(Json{{"path", note.path}, {"etag", note.etag}});
  return Json{{"notes", notes},
              {"excluded", scope.excluded},
              {"missing", scope.missing},
              {"warnings", scope.warnings}};
}

ResolvedScope resolved_scope_from_json(const Json& json) {
  ResolvedScope scope;
  for (const auto& note : json["notes"])
    scope.notes.push_back({note["path"].get<std::string>(), note["etag"].get<std::string>()});
  scope.excluded = json["excluded"].get<std::vector<std::string>>();
  scope.missing = json["missing"].get<std::vector<std::string>>();
  for (const auto& warning : json["warnings"]) scope.warnings.push_back(warning);
  return scope;
}

}  // namespace indx
