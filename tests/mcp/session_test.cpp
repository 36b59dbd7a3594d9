#include "mcp/session.hpp"

#include "mcp/sse_stream.hpp"
#include "tests/support/fake_mcp_dispatcher.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

namespace indx {
namespace {

class RecordedReply : public McpReply {
 public:
  void notify(const Json& message) override { said.push_back(message); }
  void answer(McpAnswer answer) override { said.push_back(answer.message); }
  void drop(CancelReason) override { is_dropped = true; }
  std::vector<Json> said;
  bool is_dropped = false;
};

std::shared_ptr<McpSession> session_for(const std::string& subject) {
  auto session = std::make_shared<McpSession>();
  session->subject = subject;
  session->protocol = &protocols().front();
  return session;
}

class SwitchedChannel : public McpChannel {
 public:
  void send(const Json&) override {}
  bool is_open() const override { return is_read; }
  void close() override { is_closed = true; }
  bool is_read = true, is_closed = false;
};

struct Table {
  McpTestClock clock;
  SeededRandom random{1};
  SessionTable sessions{{.max_sessions = 2, .idle = std::chrono::hours(1)}, clock, random};

  std::shared_ptr<McpSession> add(const std::string& subject = "me") {
    auto session = session_for(subject);
    clock.advance(std::chrono::seconds(1));
    REQUIRE(sessions.add(session));
    return session;
  }
};

}  // namespace

TEST_CASE("a session has an unguessable visible id and belongs to one subject", "[mcp]") {
  Table table;
  const auto session = table.add();

  CHECK(session->id.size() == 32);
  CHECK(table.sessions.find(session->id, "me") == session);
  CHECK_FALSE(table.sessions.find(session->id, "other"));
  CHECK_FALSE(table.sessions.close(session->id, "other"));
  CHECK(table.sessions.close(session->id, "me"));
  CHECK_FALSE(table.sessions.find(session->id, "me"));
}

TEST_CASE("at the cap the longest idle session without open work makes room", "[mcp]") {
  Table table;
  const auto busy = table.add();
  const auto idle = table.add();
  const auto call = busy->calls->open(1, std::make_shared<RecordedReply>());

  table.add();

  CHECK(table.sessions.find(busy->id, "me"));
  CHECK_FALSE(table.sessions.find(idle->id, "me"));
}

TEST_CASE("no session is opened while all are busy", "[mcp]") {
  Table table;
  for (int i = 0; i < 2; ++i) table.add()->calls->open(1, std::make_shared<RecordedReply>());

  CHECK_FALSE(table.sessions.add(session_for("me")));
}

TEST_CASE("a session expires after an hour without use, but never with a request in flight",
          "[mcp]") {
  Table table;
  const auto idle = table.add();
  const auto busy = table.add();
  const auto call = busy->calls->open(1, std::make_shared<RecordedReply>());

  table.clock.advance(std::chrono::minutes(61));

  CHECK_FALSE(table.sessions.find(idle->id, "me"));
  CHECK(table.sessions.find(busy->id, "me"));
}

TEST_CASE("nothing is sent about a call after its answer or its cancellation", "[mcp]") {
  const auto calls = std::make_shared<OpenCalls>();
  const auto answered = std::make_shared<RecordedReply>();
  const auto cancelled = std::make_shared<RecordedReply>();
  const auto first = calls->open(1, answered);
  const auto second = calls->open("1", cancelled);

  first->notify("progress");
  first->answer_result(Json::object());
  first->notify("late");
  first->answer_result(Json::object());
  second->cancel(CancelReason::Requested);
  second->answer_result(Json::object());

  CHECK(answered->said.size() == 2);
  CHECK(cancelled->said.empty());
  CHECK(cancelled->is_dropped);
  CHECK(second->token().is_cancelled());
  CHECK_FALSE(second->set_job("J1"));
  CHECK(calls->empty());
}

TEST_CASE("cancelling finds every request of an id and tells number from text", "[mcp]") {
  const auto calls = std::make_shared<OpenCalls>();
  const auto reply = std::make_shared<RecordedReply>();
  calls->open(1, reply);
  calls->open(1, reply);
  calls->open("1", reply);

  CHECK(calls->with_id(1).size() == 2);
  CHECK(calls->with_id("1").size() == 1);
  CHECK(calls->with_id(nullptr).empty());
}

TEST_CASE("at the cap who listens goes after who does not, but goes", "[mcp]") {
  Table table;
  const auto listening = table.add();
  const auto channel = std::make_shared<SwitchedChannel>();
  listening->channel = channel;
  const auto silent = table.add();

  const auto third = table.add();
  CHECK(table.sessions.find(listening->id, "me"));
  CHECK_FALSE(table.sessions.find(silent->id, "me"));

  third->channel = std::make_shared<SwitchedChannel>();
  table.clock.advance(std::chrono::seconds(1));
  CHECK(table.sessions.find(third->id, "me"));
  table.add();
  CHECK_FALSE(table.sessions.find(listening->id, "me"));
  CHECK(channel->is_closed);
}

TEST_CASE("listening keeps an idle session for longer, not for ever", "[mcp]") {
  Table table;
  const auto session = table.add();
  const auto channel = std::make_shared<SwitchedChannel>();
  session->channel = channel;

  table.clock.advance(std::chrono::hours(20));
  CHECK(table.sessions.find(session->id, "me"));
  table.clock.advance(std::chrono::hours(25));
  CHECK_FALSE(table.sessions.find(session->id, "me"));
  CHECK(channel->is_closed);
}

TEST_CASE("the end of long work counts as use, and what has expired goes with the next session",
          "[mcp]") {
  Table table;
  const auto session = table.add();
  const auto call = session->calls->open(1, std::make_shared<RecordedReply>());
  table.clock.advance(std::chrono::hours(3));

  call->answer_result(Json::object());

  table.clock.advance(std::chrono::minutes(59));
  CHECK(table.sessions.find(session->id, "me"));
  table.clock.advance(std::chrono::minutes(61));
  table.add();
  CHECK(table.sessions.size() == 1);
}

TEST_CASE("abandoned sessions leave nothing behind", "[mcp]") {
  McpTestClock clock;
  SeededRandom random{1};
  SessionTable sessions({.max_sessions = 100}, clock, random);
  std::vector<std::weak_ptr<McpSession>> opened;
  std::vector<std::weak_ptr<OpenCalls>> calls;
  for (int i = 0; i < 5000; ++i) {
    const auto session = session_for("me");
    session->calls->open(1, std::make_shared<RecordedReply>())->answer_result(Json::object());
    REQUIRE(sessions.add(session));
    opened.push_back(session);
    calls.push_back(session->calls);
  }

  const auto lives = [](const auto& each) { return !each.expired(); };
  CHECK(sessions.size() == 100);
  CHECK(std::count_if(opened.begin(), opened.end(), lives) == 100);
  CHECK(std::count_if(calls.begin(), calls.end(), lives) == 100);
}

TEST_CASE("the peer's reply reaches the call that asked, once, and no call that has ended",
          "[mcp]") {
  const auto calls = std::make_shared<OpenCalls>();
  const auto reply = std::make_shared<RecordedReply>();
  const auto call = calls->open(1, reply);
  std::vector<Json> heard;
  const auto ask = [&] {
    call->ask("elicitation/create", {{"message", "Really?"}}, [&](const Result<Json>& result) {
      heard.push_back(result ? *result : Json(result.error().name()));
    });
    return reply->said.back();
  };
  const auto respond = [&](const Json& id, Json result, Json error = nullptr) {
    RpcMessage message;
    message.kind = RpcMessage::Kind::Response;
    message.id = id;
    message.result = std::move(result);
    message.error = std::move(error);
    calls->take_reply(message);
  };

  const Json first = ask(), second = ask(), third = ask();
  CHECK(first["method"] == "elicitation/create");
  CHECK(first["id"] != second["id"]);
  respond(second["id"], {{"action", "accept"}});
  respond(second["id"], {{"action", "cancel"}});
  respond("never-asked", Json::object());
  respond(7, Json::object());
  respond(first["id"], nullptr, {{"code", -1}});
  CHECK(heard == std::vector<Json>{{{"action", "accept"}}, "unavailable"});

  call->answer_result(Json::object());
  respond(third["id"], Json::object());
  CHECK(heard.size() == 2);
}

TEST_CASE("a question that cannot reach the peer fails at once", "[mcp]") {
  struct Deaf : RecordedReply {
    bool can_notify() const override { return false; }
  };
  const auto calls = std::make_shared<OpenCalls>();
  const auto reply = std::make_shared<Deaf>();
  int failed = 0;

  calls->open(1, reply)->ask("elicitation/create", Json::object(),
                             [&](const Result<Json>& result) { failed += result ? 0 : 1; });

  CHECK(failed == 1);
  CHECK(reply->said.empty());
}

TEST_CASE("what was streamed to a session that is left alone is not kept for its whole life",
          "[mcp]") {
  Table table;
  const auto session = table.add();
  session->streams = std::make_shared<SseStreams>(*session->protocol);
  const auto stream = session->streams->open();
  stream->send(Json{{"answer", "long"}});
  stream->finish();
  const auto is_kept = [&] { return session->streams->find("1-0").has_value(); };
  const std::weak_ptr<SseStream> kept = stream;

  const auto pass = [&](std::chrono::minutes time) {
    table.clock.advance(time);
    const auto other = table.add("other");
    CHECK(table.sessions.close(other->id, "other"));
  };
  pass(std::chrono::minutes(3));
  CHECK(kept.use_count() == 2);  // its client may still come back for it
  pass(std::chrono::minutes(1));
  CHECK(kept.use_count() == 2);
  pass(std::chrono::minutes(3));
  CHECK(kept.use_count() == 1);
  CHECK_FALSE(is_kept());
  CHECK(table.sessions.find(session->id, "me") == session);
}

}  // namespace indx
