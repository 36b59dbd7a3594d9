#include "ops/tool_group.hpp"

#include <algorithm>

namespace indx {

const std::vector<ToolGroup>& tool_groups() {
  static const std::vector<ToolGroup> groups = {
      {"note_explore", "Look around a note",
       "Look around one note: what is like it, names it or is near it by links, its parts, its "
       "kept versions, and the daily note. Use it when you know a note and need more than its "
       "text; to read it use note_read, to find notes use vault_search, for direct links "
       "link_forward and link_backlinks. Changes nothing."},
      {"vault_lists", "List what is in the vault",
       "List what is spread over the vault: recent changes, tasks, properties and their values, "
       "attachments, jobs, schedules. Use it for overviews; to find notes by words use "
       "vault_search, by folder or property note_list, for one job job_get. Changes nothing."},
      {"vault_manage", "Change what is rarely changed",
       "Make rarer changes: append to the daily note, bring a note's old version back, rename a "
       "property everywhere, write or delete files that are no notes. Use note_patch, note_write, "
       "note_move and note_delete for notes. Deletions cannot always be undone: ask first."},
      {"job_manage", "Steer jobs and schedules",
       "Stop, hold, repeat or undo jobs, and set schedules. Use it when the user asks for it or a "
       "job you started must stop; to look at jobs use job_get, and vault_lists with action "
       "job_list."},
  };
  return groups;
}

const ToolGroup* find_tool_group(std::string_view name) {
  const auto& groups = tool_groups();
  const auto found = std::find_if(groups.begin(), groups.end(),
                                  [&](const ToolGroup& group) { return group.name == name; });
  return found == groups.end() ? nullptr : &*found;
}

}  // namespace indx
