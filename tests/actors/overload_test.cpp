#include "base/text.hpp"
#include "store/database.hpp"
#include "tests/actors/engine_fixture.hpp"

#include <atomic>
#include <fstream>
#include <optional>
#include <unistd.h>
#include <vector>

namespace indx {
namespace {

std::int64_t resident_bytes() {
  std::ifstream in("/proc/self/statm");
  std::int64_t total = 0, resident = 0;
  in >> total >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

}  // namespace

TEST_CASE("more writers than the queue takes are refused for the moment, and memory stays",
          "[actors][E24][slow]") {
  constexpr int kWriters = 320, kQueued = 256, kRefusals = 1000;
  const TempFolder vault;
  vault.write("a.md", "Here.\n");
  const ServedVault running(vault, [](Config& config) { config.rate_limit_per_minute = 0; });
  REQUIRE(running.works("vault_reindex", Json::object()));
  auto outside =
      Database::open(vault.path() + "/.indx/state.db", {.durability = Durability::Off}).value();
  std::optional<Result<Database::Transaction>> lock = Database::Transaction::begin(outside);
  REQUIRE(lock->has_value());

  std::atomic<int> written = 0, refusals = 0, other_errors = 0;
  std::vector<std::jthread> writers;
  for (int writer = 0; writer < kWriters; ++writer)
    writers.emplace_back([&, writer] {
      const Json input{{"path", cat("w", writer, ".md")}, {"body", "Text.\n"}};
      for (;;) {
        const auto answer = running.call("note_write", input);
        if (answer.result) {
          ++written;
          return;
        }
        const Error& error = answer.result.error();
        const bool is_for_now =
            error.reason == Reason::Unavailable && error.details.value("retry_after_s", 0) > 0;
        ++(is_for_now ? refusals : other_errors);
        if (!is_for_now) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    });
  const bool is_full = comes_true([&] { return refusals >= kWriters - kQueued; });
  const auto before = resident_bytes();
  const bool is_pressed = comes_true([&] { return refusals >= kRefusals; });
  const auto grown = resident_bytes() - before;
  const int written_by_then = written;
  const bool reads = running.works("note_read", {{"path", "a.md"}});
  lock.reset();
  writers.clear();

  CHECK(is_full);
  CHECK(is_pressed);
  CHECK(grown < std::int64_t{16} << 20U);
  CHECK(written_by_then == 0);
  CHECK(reads);
  CHECK(other_errors == 0);
  CHECK(written == kWriters);
  for (int writer = 0; writer < kWriters; ++writer)
    CHECK(running.has_file(cat("w", writer, ".md")));
}

}  // namespace indx
