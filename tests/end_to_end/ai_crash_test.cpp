// A tagging job over many notes whose model fails in every way, and whose process is killed again
// and again: what it did, what it says that it did, and what it cost have to agree with the model.
#include "base/random.hpp"
#include "base/text.hpp"
#include "store/state_schema.hpp"
#include "store/usage_store.hpp"
#include "tests/end_to_end/running_server.hpp"
#include "tests/support/model_server.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace indx {
namespace {

constexpr int kFlakyLanes = 8;
/// Millionths of a dollar a token, whole numbers so that sums are exact.
constexpr std::int64_t kInputPrice = 250, kOutputPrice = 1000;

std::string flaky_note(int number) { return cat("note-", 10000 + number, ".md"); }

struct FlakyVault {
  FlakyVault(int notes, std::uint64_t seed) : model(0, milliseconds(20)), count(notes) {
    for (int i = 0; i < notes; ++i)
      vault.write(flaky_note(i),
                  cat("# Note ", i, "\n\nCompost number ", i, " warms the compost heap.\n"));
    vault.write(
        ".indx/config.json",
        R"({"ai": {"prices": {"openai/flaky": {"input_per_1k": 0.25, "output_per_1k": 1}}}})");
    model.be_flaky(
        {.seed = seed, .status_500 = 10, .status_429 = 5, .hang = 2, .broken_content = 2});
  }
  std::map<std::string, std::string> env() const {
    return {{"INDX_AI_PROVIDER", "openai"},
            {"INDX_AI_MODEL", "flaky"},
            {"INDX_AI_CACHE", "off"},
            {"INDX_AI_TIMEOUT_MS", "3000"},
            {"INDX_OPENAI_BASE_URL", model.base_url()},
            {"INDX_OPENAI_API_KEY", "k"},
            {"INDX_JOBS_LANES_PER_JOB", std::to_string(kFlakyLanes)},
            {"INDX_JOBS_MAX_CRASHES", "50"},
            {"INDX_RATE_LIMIT_PER_MINUTE", "0"}};
  }
  bool is_tagged(int number) const {
    return vault.read(flaky_note(number)).starts_with("---\ntags:");
  }
  /// What the model answered about each note, oldest first.
  std::map<std::string, std::vector<Json>> answers_by_note() const {
    std::map<std::string, std::vector<Json>> by_note;
    for (const auto& answer : model.answers()) {
      const auto text = answer["text"].get<std::string>();
      const std::string before = "Compost number ";
      const auto at = text.find(before);
      REQUIRE(at != text.npos);
      by_note[flaky_note(std::stoi(text.substr(at + before.size())))].push_back(answer);
    }
    return by_note;
  }

  TempFolder vault;
  ModelServer model;
  const int count;
};

std::int64_t micro_dollars(std::int64_t input_tokens, std::int64_t output_tokens) {
  return input_tokens * kInputPrice + output_tokens * kOutputPrice;
}

/// What the last server tells, and what the killed ones left behind.
struct FlakyEnd {
  std::string job;
  Json record, ai_status;
  std::vector<Timestamp> killed_at;
  std::map<std::string, std::vector<UsageRecord>> usage;  ///< by note, oldest first
};

/// Kills the job at moments by chance: so many answers and some milliseconds into its share of the
/// work, and, when there is enough of it, one time among the writes at the end.
FlakyEnd run_and_kill(const FlakyVault& flaky, int kills, std::uint64_t seed) {
  constexpr int kEnoughForWrites = 1000;
  FlakyEnd end;
  SeededRandom random(seed);
  for (int kill = 0; kill < kills; ++kill) {
    RunningServer server(flaky.vault, {}, flaky.env());
    if (kill == 0)
      end.job = server.start_job(
          "/v1/ai/tag", {{"scope", {{"kind", "glob"}, {"path_glob", "*.md"}}}, {"apply", true}});
    const bool is_among_writes = kill + 1 == kills && flaky.count >= kEnoughForWrites;
    const auto share = (kill + 0.2 + 0.6 * random.uniform()) / kills;
    const auto calls = static_cast<int>(0.9 * share * flaky.count);
    const auto written = static_cast<int>(random.uniform() * flaky.count / 2);
    REQUIRE(wait_until(
        [&] {
          return is_among_writes ? flaky.is_tagged(written)
                                 : flaky.model.counts()["calls"].get<int>() >= calls &&
                                       server.job(end.job)["state"] == "running";
        },
        std::chrono::minutes(5)));
    std::this_thread::sleep_for(milliseconds(random.next() % 40));
    server.kill();
    end.killed_at.push_back(SystemClock().now());
  }
  RunningServer server(flaky.vault, {}, flaky.env());
  end.record = server.wait_for_job(end.job, std::chrono::minutes(5));
  end.ai_status = server.call("GET", "/v1/vault/status").body["data"]["ai"];
  CHECK(server.stop() == 0);
  auto db = open_state_db(flaky.vault.path() + "/.indx", Durability::Off);
  REQUIRE(db.has_value());
  const auto rows = UsageStore(*db).list(end.job);
  REQUIRE(rows.has_value());
  for (const auto& row : *rows) end.usage[row.item].push_back(row);
  return end;
}

/// Every note has its tags, written, or stands among the warnings with its reason.
void check_notes(const FlakyVault& flaky, const FlakyEnd& end,
                 const std::map<std::string, std::vector<Json>>& answers) {
  REQUIRE(end.record["state"] == "succeeded");
  CHECK(end.record["crashes"] == end.killed_at.size());
  const auto& result = end.record["result"];
  std::set<std::string> done, listed, applied;
  for (const auto& note : result["suggestions"]) {
    CHECK_FALSE(note["tags"].empty());
    CHECK(done.insert(note["path"].get<std::string>()).second);
  }
  for (const auto& note : result["applied"])
    CHECK(applied.insert(note["path"].get<std::string>()).second);
  for (const auto& warning : result["warnings"]) {
    REQUIRE(warning.is_object());
    CHECK(warning["code"] == "ai_provider_error");
    CHECK_FALSE(warning["reason"].get<std::string>().empty());
    CHECK(listed.insert(warning["path"].get<std::string>()).second);
  }
  CHECK(done.size() + listed.size() == static_cast<std::size_t>(flaky.count));
  CHECK(applied == done);
  for (int i = 0; i < flaky.count; ++i) {
    const auto path = flaky_note(i);
    INFO(path);
    REQUIRE(answers.contains(path));
    const auto& usage = end.usage.at(path);
    const bool is_done = done.contains(path);
    CHECK(is_done != listed.contains(path));
    CHECK(flaky.is_tagged(i) == is_done);
    CHECK(answers.at(path).back()["outcome"] == (is_done ? "ok" : "broken_content"));
    CHECK(usage.back().status == (is_done ? "succeeded" : "failed"));
    // What is committed is not asked again: it ends what was asked about the note.
    CHECK(std::count_if(usage.begin(), usage.end(), [](const auto& row) {
            return row.status == "succeeded";
          }) == (is_done ? 1 : 0));
  }
}

/// Every call that reached the model has its row; those cut off by a kill are `interrupted`.
void check_calls(const FlakyEnd& end, const std::map<std::string, std::vector<Json>>& answers) {
  const auto most_cut_off = end.killed_at.size() * kFlakyLanes;
  std::size_t repeated = 0, unsent = 0;
  std::set<std::pair<std::size_t, std::string>> cut_off;
  for (const auto& [path, rows] : end.usage) {
    INFO(path);
    const auto& told = answers.at(path);
    const auto good = std::count_if(told.begin(), told.end(),
                                    [](const Json& one) { return one["outcome"] == "ok"; });
    repeated += good > 1 ? static_cast<std::size_t>(good) - 1 : 0;
    CHECK(rows.size() >= told.size());
    unsent += rows.size() - told.size();
    for (const auto& row : rows) {
      CHECK(row.status != "started");
      if (row.status != "interrupted") continue;
      CHECK_FALSE(row.cost_usd.has_value());
      const auto kills_before = std::count_if(end.killed_at.begin(), end.killed_at.end(),
                                              [&](Timestamp at) { return at < row.started_at; });
      cut_off.emplace(static_cast<std::size_t>(kills_before), path);
    }
  }
  CHECK(end.usage.size() == answers.size());
  CHECK(repeated <= most_cut_off);
  CHECK(unsent <= most_cut_off);
  CHECK(cut_off.size() <= most_cut_off);
  for (const auto& [kills_before, path] : cut_off) CHECK(kills_before < end.killed_at.size());
}

/// What the rows cost is what the model says that it answered, at the configured price; only
/// answers that a kill kept from being recorded are missing, and these are known as interrupted.
void check_cost(const FlakyEnd& end, const std::map<std::string, std::vector<Json>>& answers) {
  std::int64_t told = 0, spent = 0, unread = 0;
  std::size_t lost_answers = 0;
  for (const auto& [path, rows] : end.usage) {
    INFO(path);
    std::multiset<std::pair<std::int64_t, std::int64_t>> left;
    for (const auto& answer : answers.at(path)) {
      const auto input = answer["input_tokens"].get<std::int64_t>();
      const auto output = answer["output_tokens"].get<std::int64_t>();
      told += micro_dollars(input, output);
      if (input > 0) left.emplace(input, output);
    }
    for (const auto& row : rows) {
      CHECK(row.cost_usd.has_value() == (row.input_tokens > 0));
      if (row.input_tokens == 0) continue;
      CHECK(row.source == "reported");
      const auto cost = std::llround(row.cost_usd.value_or(0) * 1e6);
      CHECK(cost == micro_dollars(row.input_tokens, row.output_tokens));
      spent += cost;
      const auto same = left.find({row.input_tokens, row.output_tokens});
      REQUIRE(same != left.end());  // a row without an answer would be an invention
      left.erase(same);
    }
    for (const auto& [input, output] : left) unread += micro_dollars(input, output);
    lost_answers += left.size();
    const auto interrupted = std::count_if(
        rows.begin(), rows.end(), [](const auto& row) { return row.status == "interrupted"; });
    CHECK(left.size() <= static_cast<std::size_t>(interrupted));
  }
  CHECK(spent > 0);
  CHECK(spent == told - unread);
  CHECK(lost_answers <= end.killed_at.size() * kFlakyLanes);
  CHECK(end.ai_status["spend_today_usd"].get<double>() ==
        Approx(static_cast<double>(spent) / 1e6).epsilon(1e-9));
}

void check_flaky_job(int notes, int kills, std::uint64_t seed) {
  const FlakyVault flaky(notes, seed);

  const auto end = run_and_kill(flaky, kills, seed);

  const auto answers = flaky.answers_by_note();
  std::set<std::string> outcomes;
  for (const auto& [path, all] : answers)
    for (const auto& answer : all) outcomes.insert(answer["outcome"].get<std::string>());
  CHECK(outcomes == std::set<std::string>{"broken_content", "hang", "ok", "status"});
  check_notes(flaky, end, answers);
  check_calls(end, answers);
  check_cost(end, answers);
}

}  // namespace

TEST_CASE("a tagging job with a flaky model that is killed twice ends whole, with its exact cost",
          "[end_to_end][E6]") {
  check_flaky_job(120, 2, 2);
}

TEST_CASE("a tagging job of 2,000 notes with a flaky model ends whole after five kills",
          "[.soak][end_to_end][E6]") {
  check_flaky_job(2000, 5, 2);
}

}  // namespace indx
