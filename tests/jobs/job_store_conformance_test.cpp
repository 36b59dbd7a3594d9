#include "tests/jobs/job_store_conformance.hpp"

#include "store/state_schema.hpp"
#include "tests/support/temp_dir.hpp"

#include <memory>

namespace indx {
namespace {

/// The jobs of state.db. A restart opens the file again.
class SqliteJobStore {
 public:
  SqliteJobStore() { restart(); }
  FakeClock& clock() { return clock_; }
  JobStore& queue() { return *queue_; }
  void restart() {
    queue_.reset();
    db_.reset();
    db_.emplace(open_state_db(dir_.path(), Durability::Off).value());
    queue_.emplace(*db_, clock_, random_, JobQueue::Settings{.spill_dir = dir_.path() + "/spill"});
  }

 private:
  TempDir dir_;
  FakeClock clock_;
  SeededRandom random_{42};
  std::optional<Database> db_;
  std::optional<JobQueue> queue_;
};

}  // namespace

TEST_CASE("the jobs of state.db keep the promises of a store of jobs",
          "[jobs][jobs-16][jobs-20][jobs-22][jobs-48]") {
  check_job_store([] { return std::make_unique<SqliteJobStore>(); });
}

}  // namespace indx
