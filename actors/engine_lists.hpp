#pragma once
#include "actors/core.hpp"
#include "ops/lists.hpp"
#include "store/list_index.hpp"

namespace indx {

/// Lists, over the index, for one caller.
class EngineLists : public Lists {
 public:
  EngineLists(Core& core, PathScope scope) : core_(core), scope_(std::move(scope)) {}

  Result<Page<TaskRow>> tasks(TaskFilter filter, int limit, const std::string& cursor) override;
  Result<Page<PropertySummary>> properties(const std::string& prefix, int limit,
                                           const std::string& cursor) override;
  Result<Page<PropertyValue>> values(const std::string& name, NoteFilter filter, int limit,
                                     const std::string& cursor) override;
  Result<Page<NoteRow>> recent(NoteFilter filter, const TimeSpan& span, int limit,
                               const std::string& cursor) override;

 private:
  Core& core_;
  const PathScope scope_;
};

}  // namespace indx
