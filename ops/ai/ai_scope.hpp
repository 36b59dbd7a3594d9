#pragma once
#include "ops/context.hpp"
#include "ops/define.hpp"

namespace indx {

/// Which notes an AI operation is about (rows D27 to D32). Flat: which fields count depends on
/// `kind`.
struct AiScope {
  std::string kind;  ///< paths | glob | tag | query | note
  std::vector<std::string> paths;
  std::string path_glob, tag, q;
  std::string mode = "lexical";
  int limit = 20;
  JsonObject filters;  ///< query: {tag, path_glob, frontmatter}
  std::string path;
  int include_linked = 0;  ///< note: link hops
  static Fields<AiScope> fields();
};

/// One note of a resolved scope, at the version that was seen.
struct ScopedNote {
  std::string path, etag;
};
struct ResolvedScope {
  std::vector<ScopedNote> notes;      ///< sorted by path
  std::vector<std::string> excluded;  ///< hidden from AI by the globs of the configuration
  std::vector<std::string> missing;   ///< named, but not there
  std::vector<Json> warnings;
};
Json to_json(const ResolvedScope& scope);
ResolvedScope resolved_scope_from_json(const Json& json);

/// Paths of the scope that the caller may see and AI may read, sorted, without reading them. Fields
/// that the kind needs and lacks are `validation_failed`; a named path outside the caller's globs
/// is `forbidden`.
struct ScopePaths {
  std::vector<std::string> paths, excluded;
  std::vector<Json> warnings;
};
Result<ScopePaths> scope_paths(Context& ctx, const AiScope& scope);
/// The same with the etag of each note.
Result<ResolvedScope> resolve_scope(Context& ctx, const AiScope& scope);

/// What `{path_glob, tag, frontmatter}` means; `validation_failed` names other members below
/// `where`.
Result<NoteFilter> filter_of(const Json& filters, const std::string& where);

/// Whether the configuration lets AI read the path: deny wins over allow (rows D16, D17).
bool ai_may_read(const AiConfig& config, const std::string& path);

}  // namespace indx
