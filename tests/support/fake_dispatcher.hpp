#pragma once
#include "base/text.hpp"
#include "ops/dispatch.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace indx::test {

inline Answer answered(Result<Json> result, int http_status = 200) {
  return {std::move(result), http_status, {}, false, false};
}

inline SchemaNode fake_node(SchemaNode::Type type) {
  SchemaNode node;
  node.type = type;
  return node;
}
inline SchemaNode object_of(std::vector<SchemaNode::Property> properties) {
  SchemaNode node;
  node.properties = std::move(properties);
  return node;
}
inline SchemaNode list_of_any() {
  auto node = fake_node(SchemaNode::Type::Array);
  node.items = std::make_shared<SchemaNode>(fake_node(SchemaNode::Type::Any));
  return node;
}
inline SchemaNode list_of_text() {
  auto node = fake_node(SchemaNode::Type::Array);
  node.items = std::make_shared<SchemaNode>(fake_node(SchemaNode::Type::String));
  return node;
}

/// Six operations whose answers the test decides; checks scopes and schemas as the real one does,
/// remembers every call. Tokens: `indx_owner`, `indx_reader`.
class FakeDispatcher : public Dispatcher {
 public:
  using Answerer = std::function<Answer(const Call&)>;
  struct Open {
    Call call;
    OnAnswer answer;
    OnEvent progress;
  };

  FakeDispatcher() : registry_(make_operations()) {}

  const Registry& registry() const override { return registry_; }
  bool has_provider() const override { return true; }
  std::string event_epoch() const override { return "e"; }
  Json health() override {
    const std::scoped_lock lock(mutex_);
    return health_;
  }
  Metrics* metrics() override { return &numbers; }
  void set_health(Json health) {
    const std::scoped_lock lock(mutex_);
    health_ = std::move(health);
  }

  Result<Principal> authenticate(const std::string& token) override {
    if (token != "indx_owner" && token != "indx_reader")
      return make_error(Reason::Unauthorized, "No such token.");
    Principal principal;
    principal.subject = token.substr(5);
    principal.scopes = {token == "indx_owner" ? Scope::VaultAdmin : Scope::VaultRead};
    return principal;
  }

  void call(Call call, OnAnswer answer, OnEvent progress = {}) override {
    for (const auto scope : call.operation->scopes)
      if (!call.principal.has(scope))
        return answer(answered(make_error(Reason::Forbidden, "The token lacks a scope.")));
    auto input = validate(call.operation->input, call.input);
    if (!input) return answer(answered(input.error()));
    call.input = *input;
    Answerer answerer;
    {
      const std::scoped_lock lock(mutex_);
      calls_.push_back(call);
      const auto found = answerers_.find(call.operation->name);
      if (found == answerers_.end())
        return open_.push_back({std::move(call), std::move(answer), std::move(progress)});
      answerer = found->second;
    }
    answer(answerer(call));
  }

  /// Without an answerer the calls of an operation stay open.
  void on(const std::string& operation, Answerer answerer) {
    const std::scoped_lock lock(mutex_);
    answerers_[operation] = std::move(answerer);
  }
  std::vector<Open> open_calls() {
    const std::scoped_lock lock(mutex_);
    return open_;
  }
  Call last_call() {
    const std::scoped_lock lock(mutex_);
    return calls_.empty() ? Call{} : calls_.back();
  }
  std::size_t call_count() {
    const std::scoped_lock lock(mutex_);
    return calls_.size();
  }

  Result<std::unique_ptr<Subscription>> subscribe(const EventFilter& filter,
                                                  const std::optional<std::string>& last_event_id,
                                                  std::function<bool(const Event&)> sink) override {
    const auto listener = std::make_shared<Listening>(Listening{filter, std::move(sink)});
    std::vector<Event> missed;
    {
      const std::scoped_lock lock(mutex_);
      if (last_event_id && !last_event_id->starts_with("e-"))
        missed.push_back(Event{.kind = std::string(kEventReset),
                               .actor = "system",
                               .data = {{"newest", cat("e-", history_.size())}}});
      const auto after = last_event_id && last_event_id->starts_with("e-")
                             ? std::stoll(last_event_id->substr(2))
                             : std::int64_t(history_.size());
      for (const auto& event : history_)
        if (event.id > after && listener->wants(event)) missed.push_back(event);
      listeners_.push_back(listener);
    }
    for (const auto& event : missed) listener->sink(event);
    struct Held : Subscription {
      std::shared_ptr<Listening> listener;
    };
    auto held = std::make_unique<Held>();
    held->listener = listener;
    return std::unique_ptr<Subscription>(std::move(held));
  }
  std::size_t listener_count() {
    const std::scoped_lock lock(mutex_);
    std::erase_if(listeners_, [](const auto& weak) { return weak.expired(); });
    return listeners_.size();
  }

  /// Durable unless progress.
  void publish(const std::string& kind, const std::string& job_id, Json data,
               const std::string& subject = "owner") {
    std::vector<std::shared_ptr<Listening>> heard;
    Event event;
    {
      const std::scoped_lock lock(mutex_);
      event = Event{kind == "job.progress" ? 0 : static_cast<std::int64_t>(history_.size()) + 1,
                    kind,
                    from_millis(0),
                    "api",
                    subject,
                    job_id,
                    std::move(data)};
      if (event.id > 0) history_.push_back(event);
      for (const auto& weak : listeners_)
        if (auto listener = weak.lock(); listener && listener->wants(event))
          heard.push_back(std::move(listener));
    }
    for (const auto& listener : heard) listener->sink(event);
  }

  Metrics numbers;

 private:
  struct Listening {
    EventFilter filter;
    std::function<bool(const Event&)> sink;
    bool wants(const Event& event) const {
      return event.kind == kTokenRevoked || filter.wants(event);
    }
  };

  static Operation make_operation(const std::string& name, Route route, SchemaNode input,
                                  std::vector<Scope> scopes, Effect effect) {
    Operation operation;
    operation.name = name;
    operation.route = std::move(route);
    operation.input = std::move(input);
    operation.scopes = std::move(scopes);
    operation.effect = effect;
    return operation;
  }

  static std::vector<Operation> make_operations() {
    using Type = SchemaNode::Type;
    const auto text = fake_node(Type::String);
    auto etag = text;
    etag.is_header = true;
    std::vector<Operation> all;
    all.push_back(
        make_operation("note_read", {"GET", "/v1/notes/{path}"},
                       object_of({{"path", text, true}, {"include", list_of_text(), false}}),
                       {Scope::VaultRead}, Effect::Reads));
    all.push_back(make_operation("note_exists", {"HEAD", "/v1/notes/{path}"},
                                 object_of({{"path", text, true}}), {Scope::VaultRead},
                                 Effect::Reads));
    all.push_back(make_operation(
        "note_list", {"GET", "/v1/notes"},
        object_of({{"limit", fake_node(Type::Integer), false}, {"tag", list_of_text(), false}}),
        {Scope::VaultRead}, Effect::Reads));
    all.back().output = object_of({{"notes", list_of_any(), true}, {"next_cursor", text, false}});
    all.back().list = "notes";
    all.push_back(make_operation("note_write", {"PUT", "/v1/notes/{path}"},
                                 object_of({{"path", text, true},
                                            {"body", text, false},
                                            {"dry_run", fake_node(Type::Boolean), false},
                                            {"if_match", etag, false}}),
                                 {Scope::VaultWrite}, Effect::Writes));
    all.push_back(make_operation(
        "ai_tag", {"POST", "/v1/ai/tag"},
        object_of({{"scope", text, false}, {"stream", fake_node(Type::Boolean), false}}),
        {Scope::VaultRead}, Effect::Reads));
    all.back().execution = Execution::Job;
    all.back().needs_provider = all.back().is_ai = true;
    all.push_back(make_operation("job_get", {"GET", "/v1/jobs/{id}"},
                                 object_of({{"id", text, true}}), {Scope::VaultRead},
                                 Effect::Reads));
    return all;
  }

  const Registry registry_;
  std::mutex mutex_;
  Json health_ = {{"ready", true}, {"state", "ready"}};
  std::map<std::string, Answerer> answerers_;
  std::vector<Call> calls_;
  std::vector<Open> open_;
  std::vector<Event> history_;
  std::vector<std::weak_ptr<Listening>> listeners_;
};

}  // namespace indx::test
