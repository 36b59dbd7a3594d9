#pragma once
#include "store/index_pool.hpp"
#include "vault/base_rows.hpp"
#include "vault/note_query.hpp"

namespace indx {

/// Every file that `scope` shows, in order of paths, with what `needs` asks for; `created_ms` is
/// left out, for the index does not hold it. A link to a hidden file reaches nothing. Safe from any
/// thread.
Status visit_base_rows(IndexPool& pool, const BaseRowNeeds& needs, const PathScope& scope,
                       const BaseRowVisitor& visit);

}  // namespace indx
