#pragma once
#include "ops/lists.hpp"
#include "store/list_index.hpp"
#include "tests/store/index_fixture.hpp"

namespace indx {

/// Lists over a real index of files in memory, for handlers.
class IndexedLists : public Lists {
 public:
  explicit IndexedLists(const std::map<std::string, std::string>& files) { index_.put(files); }
  Result<Page<TaskRow>> tasks(TaskFilter filter, int limit, const std::string& cursor) override {
    return lists().tasks(filter, limit, cursor);
  }
  Result<Page<PropertySummary>> properties(const std::string& prefix, int limit,
                                           const std::string& cursor) override {
    return lists().properties({}, prefix, limit, cursor);
  }
  Result<Page<PropertyValue>> values(const std::string& name, NoteFilter filter, int limit,
                                     const std::string& cursor) override {
    return lists().values(name, filter, limit, cursor);
  }
  Result<Page<NoteRow>> recent(NoteFilter filter, const TimeSpan& span, int limit,
                               const std::string& cursor) override {
    return lists().recent(filter, span, limit, cursor);
  }

 private:
  ListIndex lists() { return ListIndex(index_.reader->pool()); }
  IndexFixture index_;
};

}  // namespace indx
