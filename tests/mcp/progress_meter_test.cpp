#include "mcp/progress_meter.hpp"

#include "tests/support/fake_mcp_dispatcher.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

constexpr std::chrono::milliseconds kMeterGap{250};

/// A meter and the params that it sent.
struct MeteredCall {
  explicit MeteredCall(const Json& token = "t", std::string_view version = "2025-11-25")
      : meter(token, *find_protocol(version), clock, kMeterGap,
              [this](const Json& told) { sent.push_back(told["params"]); }) {}

  void job(std::int64_t done, const Json& total = Json()) {
    take("job.progress", {{"done", done}, {"total", total}, {"unit", "notes"}});
  }
  void take(const std::string& kind, const Json& data) {
    Event event;
    event.kind = kind;
    event.data = data;
    meter.take(event);
  }
  void wait() { clock.advance(kMeterGap); }
  /// The text as a client puts it together.
  std::string text() const {
    std::string whole;
    for (const Json& params : sent) {
      if (!params.contains("_meta") || !params["_meta"].contains("indx/partial")) continue;
      const Json& partial = params["_meta"]["indx/partial"];
      if (partial.value("restart", false)) whole.clear();
      whole += partial["delta"].get<std::string>();
    }
    return whole;
  }

  McpTestClock clock;
  std::vector<Json> sent;
  ProgressMeter meter;
};

}  // namespace

TEST_CASE("progress keeps its token as it came, rises with every step and comes once per gap",
          "[mcp]") {
  for (const Json& token : {Json(0), Json("0"), Json(-7)}) {
    MeteredCall call(token);
    call.take("job.started", Json::object());
    call.job(1, 9);  // too soon
    call.wait();
    call.job(5, 9);
    call.wait();
    call.job(5, 9);  // nothing new
    call.wait();
    call.job(2, 4);  // another phase
    call.wait();
    call.job(4, 4);

    REQUIRE(call.sent.size() == 4);
    for (std::size_t i = 0; i < call.sent.size(); ++i) {
      CHECK(call.sent[i]["progressToken"] == token);
      CHECK(call.sent[i]["progressToken"].type() == token.type());
      if (i > 0) CHECK(call.sent[i]["progress"] > call.sent[i - 1]["progress"]);
    }
    CHECK(call.sent[1]["total"] == 9);
    CHECK(call.sent[1]["message"] == "5 of 9 notes");
  }
}

TEST_CASE("what an AI call tells of its answer is gathered, and nothing of it is lost",
          "[mcp][D44][B67]") {
  MeteredCall call;
  call.take("ai.partial", {{"delta", "Roses "}});
  call.take("ai.partial", {{"delta", "are "}});
  call.take("ai.partial", {{"delta", "red."}});
  CHECK(call.sent.size() == 1);
  call.wait();
  call.take("ai.partial", {{"delta", "\nViolets"}});
  CHECK(call.sent.size() == 2);
  CHECK(call.text() == "Roses are red.\nViolets");
  CHECK(call.sent[1]["message"] == "writing: Violets");

  call.take("ai.partial", {{"delta", "Tulips"}, {"restart", true}});
  call.take("ai.citation", {{"citation", {{"path", "a.md"}}}});
  call.take("ai.citation", {{"citation", {{"path", "b.md"}}}});
  call.take("ai.usage", {{"usage", {{"input_tokens", 3}}}});

  REQUIRE(call.sent.size() == 3);
  CHECK(call.text() == "Tulips");
  const Json& meta = call.sent[2]["_meta"];
  CHECK(meta["indx/citations"].size() == 2);
  CHECK(meta["indx/citations"][1]["path"] == "b.md");
  CHECK(meta["indx/usage"]["input_tokens"] == 3);
  for (std::size_t i = 1; i < call.sent.size(); ++i)
    CHECK(call.sent[i]["progress"] > call.sent[i - 1]["progress"]);
}

TEST_CASE("what is gathered last goes out before the answer, once", "[mcp][D44]") {
  MeteredCall call;
  call.take("ai.partial", {{"delta", "One"}});
  call.take("ai.partial", {{"delta", " two"}});

  call.meter.flush();
  call.meter.flush();

  CHECK(call.sent.size() == 2);
  CHECK(call.text() == "One two");
}

TEST_CASE("steps of a job and pieces of its answer rise together", "[mcp][D44]") {
  MeteredCall call;
  for (int i = 0; i < 10; ++i) {
    call.job(i, 10);
    call.wait();
    call.take("ai.partial", {{"delta", "x"}});
    call.wait();
  }

  CHECK(call.text() == "xxxxxxxxxx");
  REQUIRE(call.sent.size() == 20);
  for (std::size_t i = 1; i < call.sent.size(); ++i)
    CHECK(call.sent[i]["progress"] > call.sent[i - 1]["progress"]);
}

TEST_CASE("progress has no words for versions that do not know them", "[mcp]") {
  MeteredCall call("t", "2024-11-05");
  call.job(1, 2);

  REQUIRE(call.sent.size() == 1);
  CHECK_FALSE(call.sent[0].contains("message"));
  CHECK(call.sent[0]["total"] == 2);
}

}  // namespace indx
