#include "base/http_client.hpp"
#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"
#include "tests/support/vendor_server.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <optional>

namespace indx {
namespace {

using std::chrono::milliseconds;
using StreamFrames = std::vector<EventFeed::Frame>;

const std::string kStreamedText =
    "Compost \"warms\" the heap.\nGrüße aus 東京 👋🏽, all winter long.";

Json summary_reply() {
  const Json citation{{"path", "a.md"}, {"snippet", "Compost warms the heap"}};
  return {{"text", kStreamedText},
          {"tldr", "It warms."},
          {"key_points",
           Json::array({{{"text", "Compost warms."}, {"citations", Json::array({citation})}}})},
          {"open_questions", Json::array()}};
}

VendorPlan summary_plan(VendorFault fault = VendorFault::None) {
  VendorPlan plan;
  plan.reply.text = summary_reply().dump(-1, ' ', true);  // escapes, pairs of them too
  plan.piece = 7;
  plan.fault = fault;
  return plan;
}

/// A server whose vault has the note, and a model that is planned by the test.
struct StreamingVault {
  explicit StreamingVault(const std::string& provider = "openai") {
    vault.write("a.md", "# Garden\n\nOwner: Ana\n\nCompost warms the heap in winter.\n");
    vault.write("b.md", "# Tools\n\nOwner: Ben\n\nA fork turns the heap.\n");
    const auto config = model.config();
    env = {{"INDX_AI_PROVIDER", provider},
           {"INDX_AI_MODEL", config.model},
           {"INDX_OPENAI_BASE_URL", config.openai_base_url},
           {"OPENAI_API_KEY", config.openai_api_key}};
  }
  TempFolder vault;
  VendorServer model{"openai"};
  std::map<std::string, std::string> env;
};

const Json kOneNote{{"scope", {{"kind", "note"}, {"path", "a.md"}}}, {"cache", false}};
const Json kTwoNotes{{"scope", {{"kind", "glob"}, {"path_glob", "*.md"}}}, {"cache", false}};

HttpClientRequest streamed_request(const RunningServer& server, const std::string& target,
                                   const Json& body) {
  HttpClientRequest request;
  request.method = "POST";
  request.url = server.url() + target;
  request.headers = {{"Authorization", "Bearer " + server.token()},
                     {"Content-Type", "application/json"},
                     {"Accept", "text/event-stream"}};
  request.body = body.dump();
  return request;
}

StreamFrames stream_call(const RunningServer& server, const Json& body,
                         const std::string& target = "/v1/ai/summarize") {
  std::string text;
  const auto response = http_stream(streamed_request(server, target, body), CancelToken(),
                                    [&](std::string_view piece) {
                                      text += piece;
                                      return true;
                                    });
  REQUIRE(response);
  CHECK(response->status == 200);
  CHECK(response->headers.at("content-type") == "text/event-stream");
  INFO(text);
  return parse_frames(text);
}

/// The kinds in order without those of the job, each once where it is repeated.
std::vector<std::string> stream_kinds(const StreamFrames& frames) {
  std::vector<std::string> kinds;
  for (const auto& frame : frames)
    if (!frame.event.starts_with("job.") && (kinds.empty() || kinds.back() != frame.event))
      kinds.push_back(frame.event);
  return kinds;
}
const std::vector<std::string> kWholeStream = {"ai.partial", "ai.citation", "ai.usage",
                                               "ai.complete"};

/// What the deltas since the last restart are together, and how often they began anew.
std::pair<std::string, int> joined_deltas(const StreamFrames& frames) {
  std::pair<std::string, int> joined;
  for (const auto& frame : frames) {
    if (frame.event != "ai.partial") continue;
    if (frame.data.value("restart", false)) joined = {"", joined.second + 1};
    joined.first += frame.data["delta"].get<std::string>();
  }
  return joined;
}
std::size_t count_frames(const StreamFrames& frames, const std::string& kind) {
  return static_cast<std::size_t>(std::count_if(
      frames.begin(), frames.end(), [&](const auto& frame) { return frame.event == kind; }));
}

}  // namespace

TEST_CASE("a summary is told while the model writes it, and ends as one that is not streamed",
          "[end_to_end][D42][C18]") {
  StreamingVault given;
  RunningServer server(given.vault, {}, given.env);
  for (int i = 0; i < 3; ++i) given.model.plan(summary_plan());

  const auto plain = server.call("POST", "/v1/ai/summarize", kOneNote);
  const auto frames = stream_call(server, kOneNote);
  Json asked = kOneNote;
  asked["stream"] = true;
  auto request = streamed_request(server, "/v1/ai/summarize", asked);
  request.headers.pop_back();  // without Accept the field of the body asks for it
  const auto by_field = http_exchange(request, CancelToken());

  REQUIRE(plain.status == 200);
  CHECK(stream_kinds(frames) == kWholeStream);
  CHECK(count_frames(frames, "ai.partial") > 5);
  CHECK(joined_deltas(frames) == std::pair(kStreamedText, 0));
  CHECK(frames.back().data == plain.body["data"]);
  CHECK(plain.body["data"]["summary"]["text"] == kStreamedText);
  for (const auto& frame : frames) {
    if (frame.event == "ai.citation")
      CHECK(frame.data == Json{{"citation", plain.body["data"]["citations"][0]}});
    if (frame.event == "ai.usage")
      CHECK(frame.data == Json{{"usage", plain.body["data"]["usage"]}});
  }
  REQUIRE(by_field);
  CHECK(stream_kinds(parse_frames(by_field->body)) == kWholeStream);
  CHECK(given.model.requests()[0].body.value("stream", false) == false);
  CHECK(given.model.requests()[1].body["stream"] == true);
}

TEST_CASE("a model's stream that breaks is begun anew, and the reader is told so",
          "[end_to_end][D42]") {
  StreamingVault given;
  RunningServer server(given.vault, {}, given.env);
  given.model.plan(summary_plan(VendorFault::BreakInAnswer));
  given.model.plan(summary_plan());

  const auto frames = stream_call(server, kOneNote);

  CHECK(stream_kinds(frames) == kWholeStream);
  CHECK(joined_deltas(frames) == std::pair(kStreamedText, 1));
  CHECK(given.model.requests().size() == 2);
}

TEST_CASE("a model that cannot be streamed gives one partial and a warning", "[end_to_end][D45]") {
  StreamingVault given;
  RunningServer server(given.vault, {}, given.env);
  given.model.plan(summary_plan(VendorFault::NoStream));

  const auto frames = stream_call(server, kOneNote);

  CHECK(stream_kinds(frames) == kWholeStream);
  CHECK(count_frames(frames, "ai.partial") == 1);
  CHECK(joined_deltas(frames).first == kStreamedText);
  CHECK(frames.back().data["warnings"] == Json::array({"stream_unsupported"}));
}

TEST_CASE("an error behind the beginning of a stream is its last event", "[end_to_end][D42]") {
  StreamingVault given;
  RunningServer server(given.vault, {}, given.env);
  VendorPlan refused;
  refused.status = 401;
  given.model.plan(refused);

  const auto frames = stream_call(server, kOneNote);

  CHECK(stream_kinds(frames) == std::vector<std::string>{"ai.error"});
  CHECK(frames.back().data["code"] == "ai_provider_error");
  CHECK(frames.back().data.contains("request_id"));
}

TEST_CASE("a call that becomes a job is streamed the same way", "[end_to_end][D42]") {
  StreamingVault given;
  RunningServer server(given.vault, {}, given.env);
  given.model.plan(summary_plan());
  given.model.plan(summary_plan());

  const auto plain = server.call("POST", "/v1/ai/summarize", kTwoNotes);
  const auto frames = stream_call(server, kTwoNotes);

  REQUIRE(plain.status == 200);
  CHECK(stream_kinds(frames) == kWholeStream);
  CHECK(count_frames(frames, "ai.partial") > 5);
  CHECK(joined_deltas(frames) == std::pair(kStreamedText, 0));
  CHECK(frames.back().data == plain.body["data"]);
}

TEST_CASE("every operation of AI streams, without a model too", "[end_to_end][D42][D45]") {
  StreamingVault given("builtin");
  RunningServer server(given.vault, {}, given.env);
  Json metadata = kTwoNotes, extract = kTwoNotes;
  metadata["fields"] = Json::array({{{"key", "owner"}, {"type", "string"}}});
  extract["schema"] = {{"properties", {{"owner", {{"type", "string"}}}}}};
  const std::vector<std::pair<std::string, Json>> calls = {{"/v1/ai/summarize", kOneNote},
                                                           {"/v1/ai/summarize", kTwoNotes},
                                                           {"/v1/ai/tag", kTwoNotes},
                                                           {"/v1/ai/metadata", metadata},
                                                           {"/v1/ai/extract", extract}};
  for (const auto& [target, body] : calls) {
    CAPTURE(target, body);
    const auto plain = server.call("POST", target, body);
    REQUIRE(plain.status == 200);
    const auto frames = stream_call(server, body, target);
    CHECK(count_frames(frames, "ai.partial") <= 1);  // nothing grows, it comes at once
    CHECK(count_frames(frames, "ai.usage") == 1);
    CHECK(frames.back().event == "ai.complete");
    CHECK(frames.back().data == plain.body["data"]);
    if (target == "/v1/ai/summarize")
      CHECK(joined_deltas(frames).first == plain.body["data"]["summary"]["text"]);
  }
}

TEST_CASE("a client that leaves ends the call of the model", "[end_to_end][D46]") {
  StreamingVault given;
  RunningServer server(given.vault, {}, given.env);
  const bool is_job = GENERATE(false, true);
  CAPTURE(is_job);
  given.model.plan(summary_plan(VendorFault::HangInAnswer));
  std::chrono::steady_clock::time_point left;

  const auto response =
      http_stream(streamed_request(server, "/v1/ai/summarize", is_job ? kTwoNotes : kOneNote),
                  CancelToken(), [&](std::string_view piece) {
                    left = std::chrono::steady_clock::now();
                    return piece.find("ai.partial") == piece.npos;  // it leaves at the first one
                  });
  static_cast<void>(response);

  REQUIRE(given.model.saw_close());
  CHECK(std::chrono::steady_clock::now() - left < std::chrono::seconds(1));
}

TEST_CASE("a command whose lines nobody reads ends the call of the model",
          "[end_to_end][D43][D46]") {
  StreamingVault given;
  std::optional<RunningServer> server;
  const bool with_server = GENERATE(false, true);
  CAPTURE(with_server);
  if (with_server) server.emplace(given.vault, std::vector<std::string>{}, given.env);
  given.model.plan(summary_plan(VendorFault::HangInAnswer));
  auto env = given.env;
  env["INDX_VAULT"] = given.vault.path();
  auto spec = indx_spec({"ai", "summarize", "--scope-note", "a.md", "--stream"}, env);
  spec.args.insert(spec.args.begin(), {"-c", "\"$0\" \"$@\" | :", spec.program});
  spec.program = "/bin/sh";
  spec.input = "";

  Process process(spec);

  CHECK(given.model.saw_close());
  CHECK(process.wait().has_value());
}

TEST_CASE("the command line streams lines of JSON, with a server and without one",
          "[end_to_end][D43]") {
  StreamingVault given;
  std::optional<RunningServer> server;
  const bool with_server = GENERATE(false, true);
  CAPTURE(with_server);
  if (with_server) server.emplace(given.vault, std::vector<std::string>{}, given.env);
  given.model.plan(summary_plan());
  VendorPlan refused;
  refused.status = 401;
  given.model.plan(refused);
  auto env = given.env;
  env["INDX_VAULT"] = given.vault.path();

  const auto good = run_indx({"ai", "summarize", "--scope-note", "a.md", "--stream"}, env);
  const auto bad =
      run_indx({"--stream", "ai", "summarize", "--scope-note", "a.md", "--no-cache"}, env);

  INFO(good.out);
  INFO(good.err);
  CHECK(good.code == 0);
  StreamFrames lines;
  for (const auto& line : split(std::string(trim(good.out)), '\n')) {
    EventFeed::Frame frame{"", "", Json::parse(line, nullptr, false)};
    REQUIRE(frame.data.is_object());
    CHECK(frame.data.begin().key() == "type");
    frame.event = frame.data["type"].get<std::string>();
    lines.push_back(std::move(frame));
  }
  CHECK(stream_kinds(lines) == kWholeStream);
  CHECK(joined_deltas(lines) == std::pair(kStreamedText, 0));
  CHECK(lines.back().data["data"]["summary"]["text"] == kStreamedText);
  for (const auto& line : lines) CHECK(line.data.size() == 2);  // the type, and what it tells
  INFO(bad.out);
  CHECK(bad.code == 8);
  const auto last = split(std::string(trim(bad.out)), '\n').back();
  const auto error = Json::parse(last, nullptr, false);
  CHECK(error["type"] == "ai.error");
  CHECK(error["error"]["code"] == "ai_provider_error");
}

}  // namespace indx
