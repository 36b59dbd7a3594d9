#pragma once
#include "store/index_pool.hpp"
#include "vault/list_query.hpp"

#include <string>

namespace indx {

/// Lists across notes: tasks, properties, recent changes. Safe from any thread. Rows that the
/// scope of a filter hides are left out and not counted.
class ListIndex {
 public:
  explicit ListIndex(IndexPool& pool) : pool_(pool) {}

  /// By path, then line.
  Result<Page<TaskRow>> tasks(const TaskFilter& filter, int limit, const std::string& cursor);
  /// Most used first; `prefix` in any case.
  Result<Page<PropertySummary>> properties(const PathScope& scope, const std::string& prefix,
                                           int limit, const std::string& cursor);
  /// Most used first.
  Result<Page<PropertyValue>> values(const std::string& name, const NoteFilter& filter, int limit,
                                     const std::string& cursor);
  /// Notes that changed last in the span, newest first.
  Result<Page<NoteRow>> recent(const NoteFilter& filter, const TimeSpan& span, int limit,
                               const std::string& cursor);

 private:
  IndexPool& pool_;
};

}  // namespace indx
