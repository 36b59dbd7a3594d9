#include "ops/ai_stream.hpp"

#include "ops/operation.hpp"
#include "tests/support/fake_backend.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace indx {
namespace {

struct Heard {
  std::vector<Event> events;
  AiStream stream{[this](const Event& event) { events.push_back(event); }};

  /// What somebody reads who forgets at each restart.
  std::string text() const {
    std::string all;
    for (const auto& event : events) {
      if (event.data.value("restart", false)) all.clear();
      all += event.data["delta"].get<std::string>();
    }
    return all;
  }
  std::size_t restarts() const {
    return static_cast<std::size_t>(std::count_if(
        events.begin(), events.end(), [](const Event& e) { return e.data.contains("restart"); }));
  }
};

/// The order in which events came, and what they tell beside their kind.
std::vector<std::pair<std::string, Json>> streamed_events(FakeWorld& world, const Json& input,
                                                          Result<Json>& answer, bool is_job) {
  std::vector<std::pair<std::string, Json>> told;
  const auto stream = std::make_shared<AiStream>(
      [&](const Event& event) { told.emplace_back(event.kind, event.data); });
  const Registry registry = make_registry();
  const auto& operation = *registry.find("ai_summarize");
  FakeContext context(world, is_job);
  context.give_stream(stream);
  answer = operation.handler(context, *validate(operation.input, input));
  return told;
}

}  // namespace

TEST_CASE("the deltas of a stream are the prose of the answer, whatever came in between",
          "[ops][D42]") {
  Heard grown;
  grown.stream.begin_prose();
  grown.stream.add_prose("One ");
  grown.stream.add_prose("");
  grown.stream.add_prose("two");
  grown.stream.settle_prose("One two three");
  CHECK(grown.text() == "One two three");
  CHECK(grown.restarts() == 0);
  CHECK(grown.events.size() == 3);

  Heard whole;
  whole.stream.settle_prose("At once");
  whole.stream.settle_prose("At once");
  CHECK(whole.text() == "At once");
  CHECK(whole.events.size() == 1);
  CHECK_FALSE(whole.events[0].data.contains("restart"));

  Heard again;
  again.stream.begin_prose();
  again.stream.add_prose("Half an");
  again.stream.begin_prose();
  again.stream.add_prose("A whole ");
  again.stream.add_prose("one");
  CHECK(again.restarts() == 1);
  again.stream.settle_prose("A whole one");
  CHECK(again.text() == "A whole one");
  CHECK(again.events.size() == 3);

  Heard other;
  other.stream.add_prose("What the model said");
  other.stream.settle_prose("What may be said");
  CHECK(other.text() == "What may be said");
  CHECK(other.restarts() == 1);

  Heard none;
  none.stream.settle_prose("");
  CHECK(none.events.empty());
}

TEST_CASE("a stream that has ended tells nothing more", "[ops][D46]") {
  Heard heard;
  heard.stream.end();
  heard.stream.add_prose("late");
  heard.stream.tell_usage({{"input_tokens", 1}});
  CHECK(heard.events.empty());
  for (const char* kind : {"ai.partial", "ai.citation", "ai.usage"})
    CHECK(AiStream::tells(Event{.kind = kind}));
  CHECK_FALSE(AiStream::tells(Event{.kind = "ai.invocation"}));
}

TEST_CASE("an extractive summary is told as one partial, its citations, then its usage",
          "[ops][D42]") {
  FakeWorld world;
  world.files["a.md"] = "# A\n\nCompost warms the heap in winter. Worms like it.\n";
  const Json input{{"scope", {{"kind", "note"}, {"path", "a.md"}}}};
  const bool is_job = GENERATE(false, true);
  Result<Json> answer = Json();

  const auto told = streamed_events(world, input, answer, is_job);

  REQUIRE(answer.has_value());
  const Json& data = *answer;
  REQUIRE(data["citations"].size() >= 1);
  REQUIRE(told.size() == 2 + data["citations"].size());
  CHECK(told[0].first == "ai.partial");
  CHECK(told[0].second == Json{{"delta", data["summary"]["text"]}});
  for (std::size_t i = 0; i < data["citations"].size(); ++i) {
    CHECK(told[i + 1].first == "ai.citation");
    CHECK(told[i + 1].second == Json{{"citation", data["citations"][i]}});
  }
  CHECK(told.back().first == "ai.usage");
  CHECK(told.back().second == Json{{"usage", data["usage"]}});
}

TEST_CASE("a call that fails tells nothing before its error", "[ops][D42]") {
  FakeWorld world;
  Result<Json> answer = Json();
  const auto told =
      streamed_events(world, {{"scope", {{"kind", "note"}, {"path", "none.md"}}}}, answer, false);
  CHECK_FALSE(answer.has_value());
  CHECK(told.empty());
}

TEST_CASE("dispatch hands the stream to the call, and to the job that it becomes",
          "[ops][D42][D48]") {
  const auto ask = [](bool is_streamed, bool is_ai, Execution execution) {
    struct StreamBackend : FakeBackend {
      std::vector<std::shared_ptr<AiStream>> streams;
      Result<Job> enqueue_streamed(const JobRequest& request,
                                   const std::optional<IdempotencyKey>& key,
                                   const std::shared_ptr<AiStream>& stream) override {
        streams.push_back(stream);
        return enqueue(request, key);
      }
    };
    Operation operation;
    operation.name = "ai_probe";
    operation.scopes = {Scope::VaultRead};
    operation.route = {"POST", "/v1/ai/probe"};
    operation.is_ai = is_ai;
    operation.execution = execution;
    operation.input = SchemaNode();
    operation.output = SchemaNode();
    bool was_given = false;
    operation.handler = [&](Context& ctx, const Json&) -> Result<Json> {
      was_given = ctx.stream() != nullptr;
      if (was_given) ctx.stream()->add_prose("hi");
      return Json::object();
    };
    StreamBackend backend;
    std::vector<std::string> kinds;
    std::vector<Answer> answers;
    const auto dispatcher = make_dispatcher(Registry({operation}), backend);
    Call call;
    call.operation = dispatcher->registry().find("ai_probe");
    call.principal = backend.world.principal;
    call.is_streamed = is_streamed;
    dispatcher->call(
        call, [&](Answer answer) { answers.push_back(std::move(answer)); },
        [&](const Event& event) { kinds.push_back(event.kind); });
    if (execution == Execution::Inline) return was_given && kinds.size() == 1;
    const bool is_told = !backend.streams.empty() && backend.streams[0] != nullptr;
    if (is_told) backend.streams[0]->add_prose("from the job");
    backend.end_job("job1", JobState::Succeeded, Json::object());
    if (is_told) backend.streams[0]->add_prose("behind its end");
    return is_told && kinds == std::vector<std::string>{"ai.partial"} && answers.size() == 1;
  };

  CHECK(ask(true, true, Execution::Inline));
  CHECK(ask(true, true, Execution::Job));
  CHECK_FALSE(ask(false, true, Execution::Inline));
  CHECK_FALSE(ask(false, true, Execution::Job));
  CHECK_FALSE(ask(true, false, Execution::Inline));
}

TEST_CASE("an idempotency key names the same call with a stream and without one", "[ops][D48]") {
  Operation operation;
  operation.name = "ai_probe";
  operation.scopes = {Scope::VaultRead};
  operation.route = {"POST", "/v1/ai/probe"};
  operation.is_ai = operation.needs_provider = true;
  SchemaNode asked, text, flag;
  text.type = SchemaNode::Type::String;
  flag.type = SchemaNode::Type::Boolean;
  asked.properties = {{"stream", flag, false}, {"idempotency_key", text, false}};
  operation.input = asked;
  operation.output = SchemaNode();
  int runs = 0;
  operation.handler = [&](Context&, const Json&) -> Result<Json> {
    ++runs;
    return Json::object();
  };
  FakeBackend backend;
  const auto dispatcher = make_dispatcher(Registry({operation}), backend);
  const auto ask = [&](Json input) {
    Call call;
    call.operation = dispatcher->registry().find("ai_probe");
    call.principal = backend.world.principal;
    call.input = std::move(input);
    call.idempotency_key = "k";
    return dispatcher->call_and_wait(std::move(call));
  };

  CHECK(ask({{"stream", true}}).result.has_value());
  const auto again = ask(Json::object());

  CHECK(again.result.has_value());
  CHECK(again.is_replay);
  CHECK(runs == 1);
}

}  // namespace indx
