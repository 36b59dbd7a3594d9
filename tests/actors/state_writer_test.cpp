#include "actors/state_writer.hpp"

#include "actors/directory.hpp"
#include "tests/support/process.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace indx {
namespace {

/// As a thread sees time that loses the processor before each look at it: longer than a lead lasts.
class InterruptedClock : public Clock {
 public:
  Timestamp now() const override { return from_millis(1773655200000); }
  std::chrono::nanoseconds monotonic() const override { return milliseconds(10 * ++looks_); }

 private:
  mutable std::atomic<std::int64_t> looks_ = 0;
};

/// A writer without actors around it.
struct LoneWriter {
  static Config config_of(const TempFolder& folder) {
    Config config;
    config.vault_dir = folder.path();
    config.index_dir = folder.path() + "/.indx";
    return config;
  }
  Result<Json> enqueue(int number) {
    return writer.change({[number](State& state) -> Result<Json> {
      JobRequest request;
      request.kind = "tag";
      request.input = {{"number", number}};
      return Json(INDX_TRY(state.queue.enqueue(request)).job.id.value);
    }});
  }

  TempFolder folder;
  InterruptedClock clock;
  SeededRandom random{3};
  const Registry registry = make_registry();
  Parts parts{config_of(folder), registry, Vault::open(folder.path(), Durability::Off).value()};
  Directory directory;
  StateWriter writer{
      parts, directory,
      State::open({.dir = folder.path() + "/.indx", .durability = Durability::Off, .instance = "a"},
                  clock, random)
          .value()};
};

}  // namespace

TEST_CASE("a caller that is interrupted while it begins to lead leads all the same", "[actors]") {
  LoneWriter lone;

  for (int i = 0; i < 3; ++i) {
    const auto stored = lone.enqueue(i);
    REQUIRE(stored.has_value());
  }

  lone.writer.close();
  CHECK(lone.enqueue(3).error().reason == Reason::Unavailable);
}

TEST_CASE("no change is lost while the lead goes from caller to caller", "[actors]") {
  LoneWriter lone;
  std::atomic<int> stored = 0;

  {
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < 4; ++caller)
      callers.emplace_back([&, caller] {
        for (int i = 0; i < 25; ++i)
          if (lone.enqueue(caller * 100 + i).has_value()) ++stored;
      });
  }

  CHECK(stored == 100);
  const auto live = lone.writer.change(
      {[](State& state) -> Result<Json> { return Json(INDX_TRY(state.queue.count_live())); }});
  REQUIRE(live.has_value());
  CHECK(*live == Json(100));
  lone.writer.close();
}

}  // namespace indx
