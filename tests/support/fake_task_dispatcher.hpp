#pragma once
#include "base/text.hpp"
#include "mcp/server.hpp"
#include "tests/support/fake_mcp_dispatcher.hpp"

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace indx {

/// FakeMcpDispatcher with a queue of jobs: calls of what may become a job make one that does
/// nothing until the test says so. Ids are J1, J2, …
class FakeTaskDispatcher : public FakeMcpDispatcher {
 public:
  FakeTaskDispatcher()
      : FakeMcpDispatcher({reading("job_get"), reading("job_list"), wiping("vault_wipe")}) {
    behaviours["job_get"] = [this](const Call& call) { return get(call); };
    behaviours["job_list"] = [this](const Call& call) { return page(call); };
    behaviours["job_cancel"] = [this](const Call& call) { return cancel(call); };
  }

  void call(Call call, OnAnswer answer, OnEvent progress = {}) override {
    if (call.operation->execution == Execution::Inline || behaviours.contains(call.operation->name))
      return FakeMcpDispatcher::call(std::move(call), std::move(answer), std::move(progress));
    const std::string id = add_job(call.operation->name);
    if (call.on_job) call.on_job(id);
    if (call.is_async) return answer({Json{{"job", record(id)}}, 202, id, false, true});
    const std::scoped_lock lock(mutex_);
    waiting_[id] = std::move(answer);
  }

  std::string add_job(const std::string& kind, bool is_own = true,
                      const Json& parent = Json(nullptr)) {
    const std::scoped_lock lock(mutex_);
    const std::string id = cat("J", jobs_.size() + 1);
    jobs_[id] = {{"id", id},
                 {"kind", kind},
                 {"state", "ready"},
                 {"cancel_requested", false},
                 {"parent", parent},
                 {"result", nullptr},
                 {"error", nullptr},
                 {"progress", {{"done", 0}, {"total", nullptr}, {"unit", "notes"}, {"phase", ""}}},
                 {"created_at", "2026-01-01T00:00:00.000Z"},
                 {"updated_at", "2026-01-01T00:00:00.000Z"},
                 {"finished_at", nullptr},
                 {"is_own", is_own}};
    return id;
  }
  Json record(const std::string& id) const {
    const std::scoped_lock lock(mutex_);
    return jobs_.at(id);
  }
  /// Changes a job and tells who listens.
  void change(const std::string& id, const Json& members,
              const std::string& event = "job.started") {
    {
      const std::scoped_lock lock(mutex_);
      jobs_.at(id).update(members);
    }
    tell(id, event, Json::object());
  }
  void end(const std::string& id, const std::string& state, const Json& members = Json::object()) {
    Json all = {{"state", state}, {"finished_at", "2026-01-01T00:00:05.000Z"}};
    all.update(members);
    change(id, all, "job.finished");
    OnAnswer answer;
    {
      const std::scoped_lock lock(mutex_);
      const auto found = waiting_.find(id);
      if (found == waiting_.end()) return;
      answer = std::move(found->second);
      waiting_.erase(found);
    }
    const Json job = record(id);
    if (job["error"].is_null()) return answer({job["result"], 200, id, false, false});
    answer({error_from_json(job["error"]), 500, id, false, false});
  }
  void tell(const std::string& id, const std::string& kind, const Json& data) {
    Event event;
    event.kind = kind;
    event.job_id = id;
    event.data = data;
    emit(event);
  }

 private:
  static Operation reading(const std::string& name) {
    Operation made;
    made.name = name;
    made.scopes = {Scope::VaultRead};
    return made;
  }

  /// Long work that a person is asked about.
  static Operation wiping(const std::string& name) {
    Operation made = reading(name);
    made.scopes = {Scope::VaultWrite};
    made.effect = Effect::Destructive;
    made.execution = Execution::Job;
    SchemaNode nothing;
    nothing.type = SchemaNode::Type::Object;
    made.input = std::move(nothing);
    return made;
  }

  Answer get(const Call& call) const {
    const std::string id = call.input.value("id", "");
    const std::scoped_lock lock(mutex_);
    const auto found = jobs_.find(id);
    if (found == jobs_.end()) return mcp_answer(not_found("You have no job with that id."));
    return mcp_answer(Json{{"job", found->second}});
  }
  /// Two jobs a page.
  Answer page(const Call& call) const {
    const std::string cursor = call.input.value("cursor", "0");
    if (cursor.size() > 9 || cursor.find_first_not_of("0123456789") != std::string::npos)
      return mcp_answer(invalid("The cursor is not one of ours."));
    const auto from = static_cast<std::size_t>(std::stoul(cursor));
    const std::scoped_lock lock(mutex_);
    Json jobs = Json::array();
    std::size_t at = 0;
    for (const auto& [id, job] : jobs_)
      if (at++ >= from && jobs.size() < 2) jobs.push_back(job);
    Json output = {{"jobs", jobs}};
    if (from + 2 < jobs_.size()) output["next_cursor"] = cat(from + 2);
    return mcp_answer(std::move(output));
  }
  /// Running jobs are asked, others end at once.
  Answer cancel(const Call& call) {
    const std::string id = call.input.value("id", "");
    const std::scoped_lock lock(mutex_);
    if (!jobs_.contains(id)) return mcp_answer(not_found("You have no job with that id."));
    Json& job = jobs_.at(id);
    if (!job["finished_at"].is_null()) return mcp_answer(Json{{"job", job}});
    job["cancel_requested"] = true;
    if (job["state"] != "running")
      job.update(Json{{"state", "cancelled"}, {"finished_at", "2026-01-01T00:00:05.000Z"}});
    return mcp_answer(Json{{"job", job}});
  }

  mutable std::mutex mutex_;
  std::map<std::string, Json> jobs_;
  std::map<std::string, OnAnswer> waiting_;
};

/// The client's end of one request.
class RecordingReply : public McpReply {
 public:
  void notify(const Json& message) override {
    const std::scoped_lock lock(mutex_);
    told_.push_back(message);
    changed_.notify_all();
  }
  bool can_notify() const override { return has_stream; }
  void answer(McpAnswer answer) override {
    const std::scoped_lock lock(mutex_);
    answer_ = std::move(answer);
    changed_.notify_all();
  }
  void drop(CancelReason) override {}

  bool is_answered() const {
    const std::scoped_lock lock(mutex_);
    return answer_.has_value();
  }
  /// Waits for the answer; null when none comes in half a minute (busy machines).
  Json message() const {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(30), [&] { return answer_.has_value(); });
    return answer_ ? answer_->message : Json();
  }
  int http_status() const {
    const std::scoped_lock lock(mutex_);
    return answer_ ? answer_->http_status : 0;
  }
  std::vector<Json> told() const {
    const std::scoped_lock lock(mutex_);
    return told_;
  }

  bool has_stream = true;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<Json> told_;
  std::optional<McpAnswer> answer_;
};

/// Where messages go that belong to no request.
class RecordingChannel : public McpChannel {
 public:
  void send(const Json& notification) override {
    const std::scoped_lock lock(mutex_);
    sent_.push_back(notification);
  }
  std::vector<Json> sent() const {
    const std::scoped_lock lock(mutex_);
    return sent_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Json> sent_;
};

/// One client of an McpServer without a transport, of any version.
class McpTestClient {
 public:
  McpTestClient(McpServer& server, std::string_view version,
                const Json& capabilities = Json::object())
      : server_(server) {
    peer.transport = McpTransport::Http;
    peer.protocol = find_protocol(version);
    peer.principal = FakeMcpDispatcher::principal("writer", {Scope::VaultRead, Scope::VaultWrite});
    peer.client_capabilities = capabilities;
    if (peer.protocol->era == Era::Legacy) {
      peer.session = std::make_shared<McpSession>();
      peer.session->protocol = peer.protocol;
      peer.session->channel = channel;
      peer.calls = peer.session->calls;
    } else {
      peer.calls = std::make_shared<OpenCalls>();
    }
  }

  std::shared_ptr<RecordingReply> request(const std::string& method, Json params,
                                          bool has_stream = true) {
    auto reply = std::make_shared<RecordingReply>();
    reply->has_stream = has_stream;
    RpcMessage message;
    message.id = ++last_id_;
    message.method = method;
    message.params = std::move(params);
    server_.request(peer, message, reply);
    return reply;
  }
  std::shared_ptr<RecordingReply> call_tool(const std::string& name, const Json& arguments,
                                            const Json& more = Json::object()) {
    Json params = {{"name", name}, {"arguments", arguments}};
    params.update(more);
    return request("tools/call", std::move(params));
  }
  Json result(const std::string& method, Json params) {
    return request(method, std::move(params))->message()["result"];
  }
  int error_code(const std::string& method, Json params) {
    return request(method, std::move(params))->message()["error"].value("code", 0);
  }
  void cancel_last() {
    RpcMessage message;
    message.kind = RpcMessage::Kind::Notification;
    message.method = "notifications/cancelled";
    message.params = {{"requestId", last_id_}};
    server_.notification(peer, message);
  }
  /// Says something to the question that a reply was asked last.
  void respond(const RecordingReply& asked, const Json& result, const Json& error = nullptr) {
    RpcMessage message;
    message.kind = RpcMessage::Kind::Response;
    message.id = asked.told().back()["id"];
    message.result = result;
    message.error = error;
    server_.response(peer, message);
  }

  McpPeer peer;
  const std::shared_ptr<RecordingChannel> channel = std::make_shared<RecordingChannel>();

 private:
  McpServer& server_;
  int last_id_ = 0;
};

}  // namespace indx
