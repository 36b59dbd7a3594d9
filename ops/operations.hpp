#pragma once
#include "ops/operation.hpp"

namespace indx {

/// One function an operation, each defined in its own file; registry.cpp puts them in order.
Operation vault_status();
Operation note_list();
Operation note_read();
Operation note_outline();
Operation note_exists();
Operation notes_read();
Operation document_map();
Operation note_history();
Operation note_diff();
Operation note_restore();
Operation note_write();
Operation note_patch();
Operation note_delete();
Operation vault_search();
Operation tag_list();
Operation tag_notes();
Operation tag_rename();
Operation property_rename();
Operation property_list();
Operation property_values();
Operation task_list();
Operation recent_changes();
Operation daily_path();
Operation daily_read();
Operation daily_append();
Operation link_forward();
Operation link_backlinks();
Operation note_move();
Operation link_unresolved();
Operation link_orphans();
Operation link_resolve();
Operation unlinked_mentions();
Operation graph_neighbors();
Operation canvas_read();
Operation canvas_write();
Operation canvas_patch();
Operation base_query();
Operation base_query_inline();
Operation attachment_list();
Operation attachment_read();
Operation attachment_write();
Operation attachment_upload();
Operation attachment_delete();
Operation vault_config_get();
Operation vault_config_set();
Operation vault_reindex();
Operation vault_doctor();
Operation job_list();
Operation job_get();
Operation job_cancel();
Operation job_revert();
Operation token_create();
Operation token_list();
Operation token_revoke();
Operation ai_status();
Operation ai_tag();

}  // namespace indx
