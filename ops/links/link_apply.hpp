#pragma once
#include "ops/define.hpp"
#include "ops/links.hpp"
#include "vault/link_rewrite.hpp"

#include <functional>
#include <string>
#include <vector>

namespace indx {

/// What a rewriting of links or names did to one file.
struct RelinkedView {
  std::string path;
  std::optional<std::string> old_etag, etag;
  std::optional<std::size_t> old_size, size;
  std::optional<std::string> diff;
  int count = 0;
  static Fields<RelinkedView> fields();
};
struct NotRelinkedView {
  std::string path, code, message;
  static Fields<NotRelinkedView> fields();
};

/// Which files hold links that have to change.
struct RelinkPlan {
  struct Source {
    std::string path;  ///< before a move
    std::string etag, etag_after;
    int count = 0;
    std::string diff;                    ///< only for a dry run, as the sizes
    std::size_t old_size = 0, size = 0;  ///< bytes
  };
  std::vector<Source> sources;
  std::vector<NotRelinkedView> failed;
  bool has_hidden_sources = false;  ///< files outside the caller's globs hold such links
  bool has_hidden_targets =
      false;  ///< such links reach files outside of them, and stay as they are
  bool leaves_links() const { return has_hidden_sources || has_hidden_targets; }
};
/// What a dry run says of a file that would stand at `place`.
RelinkedView view_planned(const RelinkPlan::Source& source, std::string place);
Json to_json(const RelinkPlan& plan);
/// Throws Json::exception where the JSON is none of to_json.
RelinkPlan relink_plan_from_json(const Json& json);

/// How the links of one file become right. Called from several threads.
struct Relinking {
  std::function<Result<LinkRewrite>(const std::string& bytes, const std::string& source,
                                    const ParseOptions& options)>
      rewrite;
  std::function<std::string(const std::string& source)> place;  ///< where the file stands by then
};
/// Adds one file to the plan if its links change, or what keeps them from it.
Status plan_source(Context& ctx, const std::string& source, const Relinking& relinking,
                   bool with_diff, RelinkPlan& plan);

/// A move as it is planned, in the form that a job stores.
struct MovePlan : RelinkPlan {
  bool is_folder = false;
  std::vector<FileMove> moves;
  std::map<std::string, std::vector<std::string>> files;  ///< as MoveWorld needs them
  std::vector<std::string> path_globs;
};
Json to_json(const MovePlan& plan);
Result<MovePlan> move_plan_from_json(const Json& json);

/// Which files move, and which links must follow. Reads every file that may hold such a link.
Result<MovePlan> plan_links(Context& ctx, const NotePath& from, const NotePath& to,
                            bool update_links, bool with_diff);

/// Files that came into a folder between the plan and its move went with it: adds them to the plan,
/// with the files whose links they need. `moved`: what the move took along, below the folder.
Status add_late_moves(Context& ctx, const NotePath& from, const NotePath& to,
                      const std::vector<std::string>& moved, MovePlan& plan);

struct RelinkResult {
  std::vector<RelinkedView> changed;
  std::vector<NotRelinkedView> failed;
};
/// Rewrites the links of every planned file, one guarded write each; a file that changed since the
/// plan is planned anew. Once what they link to has changed this always goes on to its end, whoever
/// waits.
/// In a job an error that passes is the error of the job, which is tried again and finds what was
/// done; a call that is no job tells of it in `failed`.
Result<RelinkResult> apply_relinks(Context& ctx, const RelinkPlan& plan,
                                   const Relinking& relinking);
Result<RelinkResult> apply_links(Context& ctx, const MovePlan& plan);

/// Bases, and canvases that cannot be read, that mention one of the texts; those are a person's to
/// change.
Result<std::vector<std::string>> files_naming(Context& ctx, const std::vector<std::string>& texts);

/// Bases, and notes with a query or base block, that name a tag or property; for a person to
/// change.
Result<std::vector<std::string>> also_mentioning(Context& ctx, const std::string& name);

}  // namespace indx
