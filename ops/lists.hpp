#pragma once
#include "base/result.hpp"
#include "vault/list_query.hpp"

#include <string>

namespace indx {

/// Lists across notes, as one caller may see them: what is hidden is neither shown nor counted.
class Lists {
 public:
  virtual ~Lists() = default;
  virtual Result<Page<TaskRow>> tasks(TaskFilter filter, int limit, const std::string& cursor) = 0;
  virtual Result<Page<PropertySummary>> properties(const std::string& prefix, int limit,
                                                   const std::string& cursor) = 0;
  virtual Result<Page<PropertyValue>> values(const std::string& name, NoteFilter filter, int limit,
                                             const std::string& cursor) = 0;
  virtual Result<Page<NoteRow>> recent(NoteFilter filter, const TimeSpan& span, int limit,
                                       const std::string& cursor) = 0;
};

}  // namespace indx
