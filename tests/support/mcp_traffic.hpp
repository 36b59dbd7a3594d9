#pragma once
#include "base/random.hpp"
#include "base/text.hpp"
#include "tests/support/fake_task_dispatcher.hpp"

#include <array>
#include <deque>
#include <limits>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace indx {

/// Holds calls and jobs until it is told to answer one.
class TrafficDispatcher : public FakeTaskDispatcher {
 public:
  TrafficDispatcher() {
    // As the engine does it: who waits for the job and who follows it hears of its end.
    behaviours["job_cancel"] = [this, cancel = behaviours["job_cancel"]](const Call& call) {
      Answer answer = cancel(call);
      const Error error = make_error(Reason::Cancelled, "The job was cancelled.");
      if (answer.result) end(call.input["id"], "cancelled", {{"error", error.to_json()}});
      return answer;
    };
  }

  void call(Call call, OnAnswer answer, OnEvent progress = {}) override {
    if (behaviours.contains(call.operation->name))
      return FakeTaskDispatcher::call(std::move(call), std::move(answer), std::move(progress));
    if (call.operation->execution != Execution::Inline) {
      call.on_job = [this, is_async = call.is_async, tell = call.on_job](const std::string& id) {
        {
          const std::scoped_lock lock(traffic_mutex_);
          live_jobs_.push_back(id);
          if (!is_async) ++held_so_far_;
        }
        if (tell) tell(id);
      };
      return FakeTaskDispatcher::call(std::move(call), std::move(answer), std::move(progress));
    }
    const std::scoped_lock lock(traffic_mutex_);
    held_.emplace_back(std::move(answer), std::move(progress));
    ++held_so_far_;
  }
  /// One of the held calls or live jobs, whether its caller still waits or not.
  void answer_one(std::size_t which) {
    std::pair<OnAnswer, OnEvent> held;
    std::string job;
    {
      const std::scoped_lock lock(traffic_mutex_);
      if (held_.empty() && live_jobs_.empty()) return;
      const std::size_t at = which % (held_.size() + live_jobs_.size());
      if (at < held_.size()) {
        held = std::move(held_[at]);
        held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(at));
      } else {
        const auto found = live_jobs_.begin() + static_cast<std::ptrdiff_t>(at - held_.size());
        job = *found;
        live_jobs_.erase(found);
      }
    }
    if (!job.empty()) return end_job(job, which);
    Event event;
    event.kind = "job.progress";
    event.data = {{"done", 1}, {"total", 2}};
    if (held.second) held.second(event);
    held.first(mcp_answer(Json{{"path", "a.md"}, {"indexed", 1}, {"answer", "yes"}}));
  }
  /// Calls and jobs that wait.
  std::size_t held() const {
    const std::scoped_lock lock(traffic_mutex_);
    return held_.size() + live_jobs_.size();
  }
  std::size_t held_so_far() const {
    const std::scoped_lock lock(traffic_mutex_);
    return held_so_far_;
  }
  /// Something in the vault changes.
  void change_note() {
    Event event;
    event.kind = "note.created";
    event.data = {{"path", "Ops/New.md"}, {"etag", "e"}};
    emit(event);
  }

 private:
  void end_job(const std::string& id, std::size_t which) {
    if (!record(id)["finished_at"].is_null()) return;  // it was cancelled
    if (which % 5 == 0)
      return end(id, "failed", {{"error", make_error(Reason::Timeout, "Slow.").to_json()}});
    end(id, "succeeded", {{"result", {{"indexed", 1}}}});
  }

  mutable std::mutex traffic_mutex_;
  std::deque<std::pair<OnAnswer, OnEvent>> held_;
  std::vector<std::string> live_jobs_;
  std::size_t held_so_far_ = 0;
};

/// Lines that a client may send, from sensible to broken; the same seed gives the same lines.
class TrafficMaker {
 public:
  explicit TrafficMaker(std::uint64_t seed) : random_(seed) {}

  std::size_t pick(std::size_t choices) { return random_.next() % choices; }

  /// Sensible, or nearly.
  Json message() {
    Json made = draft();
    if (made.contains("method") && made["method"] == "subscriptions/listen" && pick(4) != 0)
      made["params"] = {{"_meta", modern_meta()}, {"notifications", wishes()}};
    return made;
  }
  std::string line() {
    const std::size_t kind = pick(10);
    if (kind == 0) return noise();
    if (kind == 1) return batch();
    std::string text = to_text(message());
    return kind < 5 ? damaged(std::move(text)) : text;
  }

 private:
  template <std::size_t n>
  std::string one_of(const std::array<const char*, n>& words) {
    return words[pick(n)];
  }

  static std::string to_text(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  Json id() {
    switch (pick(12)) {
      case 0:
        return "";
      case 1:
        return "ключ-🎉";
      case 2:
        return nullptr;
      case 3:
        return 1.5;
      case 4:
        return Json::object();
      case 5:
        return std::numeric_limits<std::int64_t>::min();
      case 6:
        return 7;  // again and again
      default:
        return static_cast<std::int64_t>(++ids_);
    }
  }

  Json value(int depth = 0) {
    switch (pick(depth > 3 ? 6 : 8)) {
      case 0:
        return nullptr;
      case 1:
        return pick(2) == 0;
      case 2:
        return static_cast<std::int64_t>(random_.next());
      case 3:
        return std::string(pick(300), 'x');
      case 4:
        return one_of<6>({"Ops/Runbook.md", "../up.md", "", "\xF0\x9F\x8C\xB1", "null", "[1]"});
      case 5:
        return random_.uniform();
      case 6:
        return Json::array({value(depth + 1), value(depth + 1)});
      default:
        return {{one_of<8>({"path", "name", "uri", "arguments", "_meta", "cursor", "ref", "x"}),
                 value(depth + 1)}};
    }
  }

  Json modern_meta() {
    const std::string ns = "io.modelcontextprotocol/";
    return {
        {ns + "protocolVersion", "2026-07-28"},
        {ns + "clientCapabilities",
         pick(2) == 0 ? Json::object() : Json{{"extensions", {{ns + "tasks", Json::object()}}}}}};
  }
  Json meta() {
    const std::string ns = "io.modelcontextprotocol/";
    switch (pick(4)) {
      case 0:
        return {{"progressToken", pick(2) == 0 ? Json(0) : Json("token")}};
      case 1:
        return modern_meta();
      case 2:
        return {{ns + "protocolVersion", value()}};
      default:
        return value();
    }
  }

  Json wishes() {
    return {{"resourcesListChanged", pick(2) == 0},
            {"resourceSubscriptions", {"vault://Ops/**"}},
            {"taskIds", {cat("J", 1 + pick(60))}}};
  }

  Json params() {
    Json made = Json::object();
    if (pick(2) == 0)
      made["name"] = one_of<9>({"note_read", "note_list", "slow_read", "vault_reindex", "ai_ask",
                                "note_write", "no_such_tool", "token_create", "weekly_review"});
    if (pick(2) == 0) made["arguments"] = pick(3) == 0 ? value() : Json{{"path", "Ops/Runbook.md"}};
    if (pick(4) == 0) made["uri"] = one_of<3>({"vault://Ops/Runbook.md", "vault://%zz", "x"});
    if (pick(4) == 0) made["requestId"] = pick(3) == 0 ? value() : Json(latest_id());
    if (pick(8) == 0) made["protocolVersion"] = one_of<3>({"2025-11-25", "2024-11-05", "1"});
    if (pick(3) == 0) made["taskId"] = pick(8) == 0 ? value() : Json(cat("J", 1 + pick(60)));
    if (pick(6) == 0) made["task"] = pick(6) == 0 ? value() : Json{{"ttl", 60000}};
    if (pick(4) == 0) made["notifications"] = pick(6) == 0 ? value() : wishes();
    if (pick(8) == 0) made["cursor"] = value();
    if (pick(4) == 0) made["_meta"] = meta();
    if (pick(8) == 0) made["level"] = one_of<2>({"debug", "loud"});
    return made;
  }
  std::int64_t latest_id() {
    return static_cast<std::int64_t>(ids_) - static_cast<std::int64_t>(pick(6));
  }

  Json draft() {
    Json made = {{"jsonrpc", "2.0"}};
    if (pick(20) == 0) made["jsonrpc"] = value();
    if (pick(12) == 0) {  // what a client says to a question that nobody asked
      made["id"] = id();
      made[pick(2) == 0 ? "result" : "error"] = value();
      return made;
    }
    const bool is_notification = pick(4) == 0;
    made["method"] = is_notification
                         ? one_of<5>({"notifications/cancelled", "notifications/initialized",
                                      "notifications/nobody_knows", "tools/call", "ping"})
                         : one_of<24>({"tools/call",          "tools/call",
                                       "tools/call",          "tools/call",
                                       "tools/list",          "ping",
                                       "initialize",          "resources/list",
                                       "resources/read",      "resources/templates/list",
                                       "resources/subscribe", "resources/unsubscribe",
                                       "prompts/list",        "prompts/get",
                                       "completion/complete", "logging/setLevel",
                                       "tasks/get",           "tasks/list",
                                       "tasks/result",        "tasks/cancel",
                                       "tasks/update",        "subscriptions/listen",
                                       "server/discover",     "no/such/method"});
    if (!is_notification) made["id"] = id();
    if (pick(5) != 0) made["params"] = pick(12) == 0 ? value() : params();
    if (pick(30) == 0) made["method"] = value();
    return made;
  }

  std::string batch() {
    Json made = Json::array();
    for (std::size_t i = pick(4); i > 0; --i) made.push_back(message());
    return to_text(made);
  }

  std::string noise() {
    if (pick(4) == 0) return std::string(pick(20'000), pick(2) == 0 ? '[' : '{');
    std::string bytes(pick(200), ' ');
    for (char& byte : bytes) byte = static_cast<char>(random_.next());
    return bytes;
  }

  std::string damaged(std::string text) {
    for (std::size_t i = 1 + pick(3); i > 0 && !text.empty(); --i) {
      const std::size_t at = pick(text.size());
      switch (pick(5)) {
        case 0:
          text[at] = static_cast<char>(random_.next());
          break;
        case 1:
          text.erase(at, 1 + pick(8));
          break;
        case 2:
          text.insert(at, text.substr(0, pick(text.size())));
          break;
        case 3:
          text.insert(at, 1, "{}[],:\"0\\"[pick(9)]);
          break;
        default:
          text.resize(at);
      }
    }
    return text;
  }

  SeededRandom random_;
  std::uint64_t ids_ = 100;
};

}  // namespace indx
