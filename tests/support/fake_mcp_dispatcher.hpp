#pragma once
#include "ops/dispatch.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace indx {

inline Answer mcp_answer(Result<Json> result) { return {std::move(result), 200, "", false, false}; }

/// A dispatcher whose operations do what the test says; calls of operations without behaviour stay
/// open.
class FakeMcpDispatcher : public Dispatcher {
 public:
  struct Held {
    Call call;
    OnAnswer answer;
    OnEvent progress;
  };
  using Behaviour = std::function<Answer(const Call&)>;

  /// With `more` operations beside those of its own.
  explicit FakeMcpDispatcher(std::vector<Operation> more = {})
      : registry_(operations(std::move(more))) {
    behaviours["note_read"] = [](const Call& call) { return read(call); };
    behaviours["note_list"] = [](const Call& call) { return list(call); };
    behaviours["note_write"] = [](const Call& call) {
      return mcp_answer(Json{{"path", call.input.value("path", Json())}});
    };
    behaviours["job_cancel"] = [](const Call& call) {
      return mcp_answer(Json{{"id", call.input.value("id", Json())}});
    };
  }

  const Registry& registry() const override { return registry_; }
  bool has_provider() const override { return is_ai_configured; }
  Result<Principal> authenticate(const std::string& token) override {
    if (token == "indx_reader") return principal("reader", {Scope::VaultRead});
    if (token == "indx_writer") return principal("writer", {Scope::VaultRead, Scope::VaultWrite});
    if (token == "indx_nobody") return principal("nobody", {});
    return make_error(Reason::Unauthorized,
                      "This token is not known. Create one with indx token create.");
  }

  void call(Call call, OnAnswer answer, OnEvent progress = {}) override {
    Behaviour behaviour;
    {
      const std::scoped_lock lock(mutex_);
      calls_.push_back(call);
      const auto found = behaviours.find(call.operation->name);
      if (found == behaviours.end()) {
        held_.push_back({std::move(call), std::move(answer), std::move(progress)});
        return;
      }
      behaviour = found->second;
    }
    answer(behaviour(call));
  }

  Result<std::unique_ptr<Subscription>> subscribe(const EventFilter& filter,
                                                  const std::optional<std::string>&,
                                                  std::function<bool(const Event&)> sink) override {
    const std::scoped_lock lock(listeners_->mutex);
    const int number = listeners_->next++;
    listeners_->all[number] = {filter, std::move(sink)};
    return std::unique_ptr<Subscription>(std::make_unique<FakeSubscription>(listeners_, number));
  }
  /// Tells an event to those who listen, as the event bus does.
  void emit(const Event& event) {
    std::map<int, Listeners::One> all;
    {
      const std::scoped_lock lock(listeners_->mutex);
      all = listeners_->all;
    }
    for (const auto& [number, one] : all) {
      const bool is_revoked = event.kind == kTokenRevoked;
      const bool is_told =
          is_revoked ? event.subject == one.filter.subject : one.filter.wants(event);
      if (!is_told || (one.sink(event) && !is_revoked)) continue;
      const std::scoped_lock lock(listeners_->mutex);
      listeners_->all.erase(number);
    }
  }
  /// Open subscriptions.
  std::size_t listener_count() const {
    const std::scoped_lock lock(listeners_->mutex);
    return listeners_->all.size();
  }
  std::string event_epoch() const override { return "e1"; }
  Json health() override { return Json::object(); }
  std::optional<std::string> revision(const Operation& operation, const Json&) override {
    const std::scoped_lock lock(mutex_);
    return operation.effect == Effect::Reads ? vault_revision : std::nullopt;
  }

  static Principal principal(const std::string& subject, std::set<Scope> scopes) {
    Principal principal;
    principal.subject = subject;
    principal.surface = Surface::Mcp;
    principal.scopes = std::move(scopes);
    return principal;
  }

  std::vector<Call> calls_of(const std::string& operation) const {
    const std::scoped_lock lock(mutex_);
    std::vector<Call> found;
    for (const Call& call : calls_)
      if (call.operation->name == operation) found.push_back(call);
    return found;
  }
  std::vector<Held> held() const {
    const std::scoped_lock lock(mutex_);
    return held_;
  }

  bool is_ai_configured = false;
  std::optional<std::string> vault_revision;  ///< of every read; nullopt: none can be given again
  std::map<std::string, Behaviour> behaviours;

 private:
  struct Listeners {
    struct One {
      EventFilter filter;
      std::function<bool(const Event&)> sink;
    };
    std::mutex mutex;
    std::map<int, One> all;
    int next = 0;
  };
  class FakeSubscription : public Subscription {
   public:
    FakeSubscription(std::shared_ptr<Listeners> listeners, int number)
        : listeners_(std::move(listeners)), number_(number) {}
    ~FakeSubscription() override {
      const std::scoped_lock lock(listeners_->mutex);
      listeners_->all.erase(number_);
    }

   private:
    const std::shared_ptr<Listeners> listeners_;  // shared: with the dispatcher
    const int number_;
  };

  using Type = SchemaNode::Type;

  static SchemaNode node(Type type, std::string description = "A field.") {
    SchemaNode made;
    made.type = type;
    made.description = std::move(description);
    return made;
  }
  static SchemaNode list_of(SchemaNode item) {
    SchemaNode made = node(Type::Array);
    made.items = std::make_shared<SchemaNode>(std::move(item));
    return made;
  }
  static SchemaNode object(std::vector<SchemaNode::Property> properties) {
    SchemaNode made = node(Type::Object, "");
    made.properties = std::move(properties);
    return made;
  }
  static Operation operation(const std::string& name, Effect effect, SchemaNode input,
                             SchemaNode output) {
    Operation made;
    made.name = name;
    made.summary = "Do " + name + ".";
    made.guidance = "Use it in tests.";
    made.scopes = {effect == Effect::Reads ? Scope::VaultRead : Scope::VaultWrite};
    made.effect = effect;
    made.input = std::move(input);
    made.output = std::move(output);
    return made;
  }

  static std::vector<Operation> operations(std::vector<Operation> more) {
    SchemaNode part = node(Type::String);
    part.allowed = {"body", "raw"};
    const SchemaNode text = node(Type::String);
    const SchemaNode count = node(Type::Integer);
    std::vector<Operation> made;
    made.push_back(operation("note_read", Effect::Reads,
                             object({{"path", text, true}, {"include", list_of(part), false}}),
                             object({{"path", text, true},
                                     {"etag", text, false},
                                     {"body", text, false},
                                     {"raw", text, false},
                                     {"encoding", text, false}})));
    made.push_back(operation("note_list", Effect::Reads,
                             object({{"limit", count, false}, {"cursor", text, false}}),
                             object({{"notes", list_of(object({{"path", text, true}})), true},
                                     {"next_cursor", text, false}})));
    made.back().list = "notes";
    made.push_back(operation("note_write", Effect::Writes,
                             object({{"path", text, true}, {"body", text, true}}),
                             object({{"path", text, true}})));
    made.push_back(operation("note_delete", Effect::Destructive, object({{"path", text, true}}),
                             object({{"path", text, true}})));
    made.push_back(operation("ai_ask", Effect::Reads, object({{"question", text, true}}),
                             object({{"answer", text, true}})));
    made.back().needs_provider = true;
    made.push_back(operation("vault_reindex", Effect::Writes,
                             object({{"rebuild", node(Type::Boolean), false}}),
                             object({{"indexed", count, true}})));
    made.back().execution = Execution::Job;
    made.back().is_idempotent = true;
    made.push_back(operation("job_cancel", Effect::Writes, object({{"id", text, true}}),
                             object({{"id", text, true}})));
    made.push_back(
        operation("token_create", Effect::Writes, object({{"name", text, true}}), object({})));
    made.back().scopes = {Scope::VaultAdmin};
    made.back().tool_group = "vault_manage";
    made.push_back(
        operation("slow_read", Effect::Reads, object({}), object({{"path", text, false}})));
    std::move(more.begin(), more.end(), std::back_inserter(made));
    return made;
  }

  /// Nobody has validated the input.
  static std::string text_in(const Call& call, const char* field) {
    const auto found = call.input.find(field);
    return found != call.input.end() && found->is_string() ? found->get<std::string>() : "";
  }
  static Answer read(const Call& call) {
    const std::string path = text_in(call, "path");
    if (path == "photo.md")
      return mcp_answer(Json{{"path", path}, {"encoding", "binary"}, {"raw", "/w=="}});
    if (path != "Ops/Runbook.md")
      return mcp_answer(
          not_found("No note has the path " + path + ". Look for it with vault_search."));
    const bool is_raw = call.input.contains("include");
    return mcp_answer(Json{
        {"path", path}, {"etag", "0123456789abcdef"}, {is_raw ? "raw" : "body", "# Runbook\n"}});
  }
  static Answer list(const Call& call) {
    const std::string cursor = text_in(call, "cursor");
    if (cursor.empty())
      return mcp_answer(Json{{"notes", {{{"path", "Ops/Runbook.md"}}}}, {"next_cursor", "c2"}});
    if (cursor == "c2") return mcp_answer(Json{{"notes", {{{"path", "tags/a b.md"}}}}});
    return mcp_answer(invalid("This cursor was not given by this list."));
  }

  const Registry registry_;
  mutable std::mutex mutex_;
  std::vector<Call> calls_;
  std::vector<Held> held_;
  const std::shared_ptr<Listeners> listeners_ = std::make_shared<Listeners>();  // shared: with them
};

/// Time that tests move by hand.
class McpTestClock : public Clock {
 public:
  Timestamp now() const override {
    return from_millis(1'700'000'000'000) + std::chrono::duration_cast<milliseconds>(monotonic());
  }
  std::chrono::nanoseconds monotonic() const override {
    return std::chrono::nanoseconds(nanoseconds_.load());
  }
  void advance(std::chrono::nanoseconds by) { nanoseconds_ += by.count(); }

 private:
  std::atomic<std::int64_t> nanoseconds_ = 0;
};

}  // namespace indx
