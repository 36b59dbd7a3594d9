#include "actors/engine_lists.hpp"

namespace indx {

Result<Page<TaskRow>> EngineLists::tasks(TaskFilter filter, int limit, const std::string& cursor) {
  INDX_TRY(core_.ensure_scanned());
  filter.notes.scope = scope_;
  return ListIndex(core_.parts.index->pool()).tasks(filter, limit, cursor);
}

Result<Page<PropertySummary>> EngineLists::properties(const std::string& prefix, int limit,
                                                      const std::string& cursor) {
  INDX_TRY(core_.ensure_scanned());
  return ListIndex(core_.parts.index->pool()).properties(scope_, prefix, limit, cursor);
}

Result<Page<PropertyValue>> EngineLists::values(const std::string& name, NoteFilter filter,
                                                int limit, const std::string& cursor) {
  INDX_TRY(core_.ensure_scanned());
  filter.scope = scope_;
  return ListIndex(core_.parts.index->pool()).values(name, filter, limit, cursor);
}

Result<Page<NoteRow>> EngineLists::recent(NoteFilter filter, const TimeSpan& span, int limit,
                                          const std::string& cursor) {
  INDX_TRY(core_.ensure_scanned());
  filter.scope = scope_;
  return ListIndex(core_.parts.index->pool()).recent(filter, span, limit, cursor);
}

}  // namespace indx
