#pragma once
#include "ops/links/link_apply.hpp"
#include "vault/note_edit.hpp"
#include "vault/subpath_rewrite.hpp"

namespace indx {

/// What a patch that renames headings or block ids does to the links that name them, in the form
/// that a job stores. `sources` are other files than the note.
struct AnchorPlan : RelinkPlan {
  std::string etag;                                       ///< of the note that the plan is about
  std::vector<AnchorRenames> renames;                     ///< one after the other
  std::map<std::string, std::vector<std::string>> files;  ///< as MoveWorld needs them
  std::vector<TextEdit> edits;  ///< of the note after the steps: its own links
  int own_count = 0;            ///< links that those are
};
Json to_json(const AnchorPlan& plan);
Result<AnchorPlan> anchor_plan_from_json(const Json& json);

/// Whether links may have to follow the patch.
bool renames_anchors(const NoteChange& patch);
/// Reads the note, and every file whose links follow. Errors: those of the patch.
Result<AnchorPlan> plan_anchors(Context& ctx, const NoteChange& patch, bool with_diff);
/// How many files besides the note follow, without reading them.
Result<std::size_t> count_anchor_sources(Context& ctx, const NoteChange& patch);
/// The links of other files, once the note is written.
Result<RelinkResult> apply_anchors(Context& ctx, const NotePath& path, const AnchorPlan& plan);

}  // namespace indx
