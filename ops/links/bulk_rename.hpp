#pragma once
#include "ops/links/link_apply.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace indx {

/// One note of a bulk rename, as its stored first step holds it: `{path, etag, count}`.
Json planned_note(const NoteFile& file, int count);

/// The change of one planned note; nullopt: nothing to do in it.
using RenameNote =
    std::function<Result<std::optional<NoteChange>>(const NotePath& path, const std::string& etag)>;

struct BulkRename {
  std::vector<RelinkedView> changed;    ///< in the order of the plan
  std::vector<NotRelinkedView> failed;  ///< left as they were; the others go on
};
/// Adds the visible notes whose property block cannot be read and seems to hold the name, each as
/// `parse_failed` unless it is there already: nobody can tell what a rename means in them.
using MayHold = std::function<bool(std::string_view block)>;
Status add_unreadable(Context& ctx, const MayHold& may_hold, std::vector<NotRelinkedView>& failed);

/// One guarded write a note, each a step of its own; tells its progress. Ends early with
/// `cancelled`, whose details hold `partial: {done, total, changed}`.
Result<BulkRename> rename_in_notes(Context& ctx, const Json& planned, bool dry_run,
                                   const RenameNote& rename);

/// One line about the answer of a rename in all notes, by its output alone.
std::string tell_renamed(const Json& input, const Json& output);

}  // namespace indx
