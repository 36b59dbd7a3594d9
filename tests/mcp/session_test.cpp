#include "mcp/session.hpp"

#include "tests/support/fake_mcp_dispatcher.hpp"

#include <catch2/catch.hpp>

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

}  // namespace indx
