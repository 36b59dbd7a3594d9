#include "ops/operations.hpp"

#include <iterator>
#include <utility>
#include <vector>

namespace indx {
namespace {

constexpr Operation (*kOperations[])() = {
    vault_status,
    note_list,
    note_read,
    note_outline,
    note_exists,
    note_write,
    note_patch,
    note_delete,
    note_move,
    notes_read,
    document_map,
    note_history,
    note_diff,
    note_restore,
    vault_search,
    note_similar,
    tag_list,
    tag_notes,
    tag_rename,
    property_rename,
    property_list,
    property_values,
    task_list,
    recent_changes,
    daily_path,
    daily_read,
    daily_append,
    link_forward,
    link_backlinks,
    link_unresolved,
    link_orphans,
    link_resolve,
    unlinked_mentions,
    graph_neighbors,
    graph_edges,
    canvas_read,
    canvas_write,
    canvas_patch,
    base_query,
    base_query_inline,
    attachment_list,
    attachment_read,
    attachment_write,
    attachment_upload,
    attachment_delete,
    vault_config_get,
    vault_config_set,
    vault_reindex,
    vault_index_paths,
    vault_doctor,
    vault_prune,
    vault_embed,
    job_list,
    job_get,
    job_events,
    job_result,
    job_cancel,
    job_revert,
    job_pause,
    job_resume,
    job_retry,
    job_redrive,
    queue_status,
    queue_pause,
    queue_resume,
    schedule_list,
    schedule_set,
    schedule_delete,
    token_create,
    token_list,
    token_revoke,
    ai_status,
    ai_tag,
    ai_metadata,
    ai_extract,
    ai_summarize,
    ai_relate,
    ai_toc,
    ai_ask,
};

}  // namespace

Registry make_registry() {
  std::vector<Operation> operations;
  operations.reserve(std::size(kOperations));
  for (const auto make : kOperations) operations.push_back(make());
  return Registry(std::move(operations));
}

}  // namespace indx
