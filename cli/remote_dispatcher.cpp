#include "cli/remote_dispatcher.hpp"

#include "base/ids.hpp"
#include "base/json_text.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "cli/files.hpp"
#include "cli/follow_job.hpp"
#include "cli/remote_health.hpp"
#include "cli/remote_subscription.hpp"
#include "cli/remote_wire.hpp"
#include "ops/job_record.hpp"
#include "ops/route_field.hpp"
#include "vault/note_path.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <optional>
#include <set>
#include <thread>

namespace indx {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr milliseconds kShortAnswer{120000};
/// One that is stopping refuses calls for about a second before another can take its place.
constexpr milliseconds kRevivalTime{5000}, kRevivalPause{100};

bool has_query(const std::string& method) {
  return method == "GET" || method == "HEAD" || method == "DELETE";
}

std::string query_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : json_text(value);
}

/// A segment of dots would bend the address; the slashes beside it are then encoded, and refused.
bool has_dots(std::string_view text) {
  const auto segments = split(text, '/');
  return std::any_of(segments.begin(), segments.end(),
                     [](const auto& one) { return one == "." || one == ".."; });
}

/// The address of a call: captures filled in, the rest of a read as query. What is left of `input`
/// is the body.
Result<std::string> target_of(const Operation& operation, Json& input) {
  std::string target;
  for (const auto& part : split(operation.route.pattern.substr(1), '/')) {
    target += '/';
    if (!part.starts_with('{')) {
      target += part;
      continue;
    }
    const std::string field = part.substr(1, part.size() - 2);
    if (!input.contains(field))
      return invalid(cat("`", field, "` is required."), Json{{"path", field}});
    std::string text = query_text(input[field]);
    input.erase(field);
    const bool is_path = takes_segments(field) && field != "tag";
    // As the handler will: no `..` may bend the address.
    if (is_path) text = INDX_TRY(NotePath::parse(text)).str();
    target += percent_encode(text, takes_segments(field) && (is_path || !has_dots(text)));
  }
  if (!has_query(operation.route.method) && !operation.takes_file) return target;
  char separator = '?';
  for (const auto& [key, value] : input.items()) {
    target += separator + percent_encode(key) + "=" + percent_encode(query_text(value));
    separator = '&';
  }
  return target;
}

class RemoteDispatcher : public Dispatcher {
 public:
  RemoteDispatcher(Registry registry, RemoteTarget target) : registry_(std::move(registry)) {
    wire_->target = std::move(target);
  }
  ~RemoteDispatcher() override {
    wire_->closing.cancel(CancelReason::Shutdown);
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return calls_ == 0; });
  }

  const Registry& registry() const override { return registry_; }
  bool has_provider() const override { return ai_roles().chat; }
  AiRoles ai_roles() const override {
    const Json server = health_->now();
    return {.chat = !server.value("provider", "").empty(),
            .embeddings = !server.value("embeddings", "").empty()};
  }
  Json health() override { return health_->now(); }
  Principal as_granted(const Principal& caller) override {
    const auto scopes = scopes_of_token();
    if (!scopes) return caller;
    Principal of_token = caller, granted = caller;
    of_token.scopes = *scopes;
    granted.scopes.clear();
    for (const Scope scope : {Scope::VaultRead, Scope::VaultWrite, Scope::VaultAdmin})
      if (caller.has(scope) && of_token.has(scope)) granted.scopes.insert(scope);
    return granted;
  }
  Result<Principal> authenticate(const std::string&) override {
    return make_error(Reason::Unauthorized,
                      "Tokens are checked by the server that holds the vault.");
  }
  std::string event_epoch() const override {
    const std::scoped_lock lock(wire_->mutex);
    return wire_->epoch;
  }

  void call(Call call, OnAnswer answer, OnEvent progress) override {
    in_background([this, call = std::move(call), answer = std::move(answer),
                   progress = std::move(progress)]() mutable {
      const auto closing = wire_->closing.on_cancel(
          [cancel = call.cancel] { cancel.cancel(CancelReason::Shutdown); });
      auto result = run(call, progress);
      std::exchange(answer, {})(std::move(result));
    });
  }

  Result<std::unique_ptr<Subscription>> subscribe(const EventFilter& filter,
                                                  const std::optional<std::string>& last_event_id,
                                                  std::function<bool(const Event&)> sink) override {
    std::string target = "/v1/events";
    char separator = '?';
    if (!filter.kinds.empty())
      target +=
          cat(std::exchange(separator, '&'), "kinds=", percent_encode(join(filter.kinds, ",")));
    if (!filter.jobs.empty())
      target += cat(separator, "jobs=", percent_encode(join(filter.jobs, ",")));
    const auto& revive = wire_->target.revive;
    const auto until = SteadyClock::now() + kRevivalTime;
    while (true) {
      auto subscription = std::make_unique<RemoteSubscription>(wire_, target, last_event_id, sink);
      const auto opened = subscription->open();
      if (opened) return std::unique_ptr<Subscription>(std::move(subscription));
      if (!revive || !opened.error().is_retryable() || SteadyClock::now() >= until ||
          !revive(wire_->closing))
        return opened.error();
      std::this_thread::sleep_for(kRevivalPause);
    }
  }

 private:
  /// Nobody waits for the thread; the count keeps this object alive until it has let go of it.
  template <typename Work>
  void in_background(Work work) {
    {
      const std::scoped_lock lock(mutex_);
      ++calls_;
    }
    std::thread([this, work = std::optional<Work>(std::move(work))]() mutable {
      (*work)();
      work.reset();
      const std::scoped_lock lock(mutex_);
      --calls_;
      ended_.notify_all();
    }).detach();
  }

  static Answer failed(Error error) {
    const int status = error.http_status();
    return {std::move(error), status, {}, false, false};
  }

  /// A narrowed caller is refused here too: over TCP the server knows only the token.
  static Status check_scopes(const Call& call) {
    std::vector<Scope> wanted = call.operation->scopes;
    if (call.operation->extra_scopes)
      for (const Scope scope : call.operation->extra_scopes(call.input)) wanted.push_back(scope);
    return indx::check_scopes(*call.operation, call.principal, wanted);
  }

  Answer run(const Call& call, const OnEvent& progress) {
    const auto input = validate(call.operation->input, call.input);
    if (!input) return failed(input.error());
    Call complete = call;
    complete.input = *input;
    if (const auto allowed = check_scopes(complete); !allowed) return failed(allowed.error());
    const bool is_long = call.operation->execution != Execution::Inline;
    const bool is_told = call.is_streamed && call.operation->streams_answer();
    if (is_long && call.keep && !call.is_async && !(is_told && progress))
      return run_as_job(call, progress);
    const bool streams = progress && !call.is_async && (is_long || is_told);
    if (streams && call.keep && call.idempotency_key.empty()) {
      // A key is what makes the server go on with a job whose stream is gone.
      Call kept = call;
      kept.idempotency_key = fresh_key();
      return exchange(std::move(kept), false, progress);
    }
    return exchange(call, call.is_async, streams ? progress : OnEvent());
  }

  Answer run_as_job(const Call& call, const OnEvent& progress) {
    Answer accepted = exchange(call, true, {});
    if (!accepted.result || !accepted.is_accepted) return accepted;
    const std::string id = (*accepted.result)["job"].value("id", "");
    if (call.on_job) call.on_job(id);
    const auto record = follow_job(*this, call.principal, id, call.cancel, [&](const Json& now) {
      if (!progress || !now.contains("progress")) return;
      Event event;
      event.kind = "job.progress";
      event.job_id = id;
      event.data = {{"job", id}, {"progress", now["progress"]}};
      progress(event);
    });
    Answer answer{record, call.operation->success_status, id, accepted.is_replay, false};
    if (record) answer.result = outcome_of(*record);
    if (!answer.result) answer.http_status = answer.result.error().http_status();
    return answer;
  }

  /// Made again while nobody takes it, where somebody can be found who does. A key lets a write
  /// that went down with its server be made again: at the next one it is done once in all.
  Answer exchange(Call call, bool is_async, const OnEvent& progress) {
    const auto& revive = wire_->target.revive;
    const bool only_reads = call.operation->effect == Effect::Reads;
    if (revive && !only_reads && call.idempotency_key.empty() &&
        !call.input.contains("idempotency_key"))
      call.idempotency_key = fresh_key();
    const bool may_repeat = only_reads || !call.idempotency_key.empty();
    Answer answer = exchange_once(call, is_async, progress);
    const auto until = SteadyClock::now() + kRevivalTime;
    while (revive && !answer.result && was_not_taken(answer.result.error(), may_repeat) &&
           SteadyClock::now() < until && revive(call.cancel)) {
      std::this_thread::sleep_for(kRevivalPause);
      answer = exchange_once(call, is_async, progress);
    }
    return answer;
  }

  static std::string fresh_key() {
    SystemRandom random;
    return new_ulid(SystemClock().now(), random);
  }

  /// Whether nothing came of a call, or nothing that another one would do twice.
  static bool was_not_taken(const Error& error, bool may_repeat) {
    if (error.reason == Reason::Draining) return true;
    if (error.reason != Reason::Unavailable || !error.details.is_object()) return false;
    const auto cause = error.details.value("cause", Json());
    return cause == "connect" || (cause == "lost" && may_repeat);
  }

  Answer exchange_once(const Call& call, bool is_async, const OnEvent& progress) {
    Json input = call.input;
    // A body has no name; the operation has a field for it.
    if (call.upload && !call.upload->name.empty() && !input.contains("name") &&
        call.operation->input->find("name") != nullptr)
      input["name"] = call.upload->name;
    // Only events of the job are wanted: the answer comes whole.
    if (progress && !call.is_streamed && call.operation->streams_answer()) input["stream"] = false;
    const auto target = target_of(*call.operation, input);
    if (!target) return failed(target.error());
    auto request = wire_->request(call.operation->route.method, *target, &call.principal);
    const bool is_long =
        call.operation->execution != Execution::Inline || call.operation->needs_provider;
    if (!is_long || is_async) request.timeout = kShortAnswer;
    if (call.operation->takes_file) {
      request.timeout = milliseconds(0);  // as long as the file takes
      request.headers.emplace_back("Content-Type", "application/octet-stream");
      request.body_file = std::shared_ptr<const FileBytes>(call.upload, &call.upload->bytes);
    } else if (!has_query(request.method)) {
      request.headers.emplace_back("Content-Type", "application/json");
      request.body = json_text(input);
    }
    if (!call.idempotency_key.empty())
      request.headers.emplace_back("Idempotency-Key", call.idempotency_key);
    if (is_async) request.headers.emplace_back("Prefer", "respond-async");
    if (call.operation->gives_file) return fetch_file(call, request);
    return progress ? stream(call, request, progress) : plain(call, request);
  }

  /// A file goes into one without a name, what is told about it comes in a header.
  static Answer fetch_file(const Call& call, HttpClientRequest& request) {
    auto file = FileBytes::make_temp(temp_folder());
    if (!file) return failed(file.error());
    request.timeout = milliseconds(0);
    Status kept;
    const auto response = http_stream(request, call.cancel, [&](std::string_view bytes) {
      kept = file->append(bytes);
      return kept.has_value();
    });
    if (!response) return failed(response.error());
    if (!kept) return failed(kept.error());
    const auto told = response->headers.find("x-indx-answer");
    if (response->status >= 300 || told == response->headers.end()) {
      const auto body = file->read_all();
      return failed(error_of_response({response->status, response->headers, body.value_or("")}));
    }
    Answer answer{Json::parse(percent_decode(told->second), nullptr, false), 200, {}, false, false};
    answer.file = std::make_shared<const FileBytes>(std::move(*file));
    return answer;
  }

  Answer plain(const Call& call, HttpClientRequest& request) {
    auto response = http_exchange(request, call.cancel);
    if (!response) return failed(response.error());
    if (request.method == "HEAD") {
      if (response->status == 200 || response->status == 404) return head_answer(call, *response);
      request.method = "GET";  // HEAD has no body; the error of a GET has one
      response = http_exchange(request, call.cancel);
      if (!response) return failed(response.error());
    }
    return to_answer(*response);
  }

  /// The output that HEAD means: what was asked, whether it is there, its etag.
  static Answer head_answer(const Call& call, const HttpClientResponse& response) {
    Json data = Json::object();
    for (const auto& property : call.operation->output->properties) {
      const auto etag = response.headers.find("etag");
      if (call.input.contains(property.name))
        data[property.name] =
            property.name == "path" ? shown_path(call.input["path"]) : call.input[property.name];
      else if (property.schema.type == SchemaNode::Type::Boolean)
        data[property.name] = response.status == 200;
      else if (property.name == "etag" && etag != response.headers.end())
        data["etag"] = replace_all(etag->second, "\"", "");
    }
    return {std::move(data), call.operation->success_status, {}, false, false};
  }
  static Json shown_path(const Json& path) {
    const auto parsed =
        path.is_string() ? NotePath::parse(path.get<std::string>()) : Result<NotePath>(invalid(""));
    return parsed ? Json(parsed->str()) : path;
  }

  static Answer to_answer(const HttpClientResponse& response) {
    const auto header = [&](const char* key) {
      const auto it = response.headers.find(key);
      return it == response.headers.end() ? std::string() : it->second;
    };
    Answer answer{Json::object(),
                  response.status,
                  {},
                  header("x-indx-idempotent-replay") == "true",
                  response.status == 202};
    Json body = response.status < 300 ? Json::parse(response.body, nullptr, false) : Json();
    const bool is_whole = body.is_object() && body.contains("data");
    if (is_whole)
      answer.result = std::move(body["data"]);
    else
      answer.result = error_of_response(response);
    if (answer.is_accepted && is_whole)
      answer.job_id = answer.result->contains("job") ? (*answer.result)["job"].value("id", "") : "";
    return answer;
  }

  Answer stream(const Call& call, HttpClientRequest& request, const OnEvent& progress) {
    request.headers.emplace_back("Accept", "text/event-stream");
    std::optional<Answer> answer;
    std::string whole;
    SseReader reader;
    const auto on_frame = [&](const SseFrame& frame) {
      const Json data = Json::parse(frame.data, nullptr, false);
      if (frame.event.ends_with("complete"))
        answer = Answer{data, call.operation->success_status, {}, false, false};
      else if (frame.event.ends_with("error"))
        answer = failed(error_from_json(data));
      else
        progress(event_of(frame, nullptr));
      return !answer;
    };
    bool is_json = false;
    const auto response = http_stream(request, call.cancel, [&](std::string_view bytes) {
      if (whole.empty()) is_json = bytes.starts_with('{');  // refused before the stream began
      if (is_json || whole.empty()) whole += bytes;
      return is_json || reader.add(bytes, on_frame);
    });
    if (answer) return std::move(*answer);
    if (!response) return failed(response.error());
    if (is_json) {
      HttpClientResponse plain_response = *response;
      plain_response.body = whole;
      return to_answer(plain_response);
    }
    return failed(
        make_error(Reason::Unavailable, "The server ended the stream before the answer."));
  }

  /// As the server says; kept, since a token never changes. nullopt: it does not say.
  std::optional<std::set<Scope>> scopes_of_token() {
    {
      const std::scoped_lock lock(mutex_);
      if (token_scopes_) return token_scopes_;
    }
    const Json health = health_->now();
    const auto told = health.find("caller");
    if (told == health.end() || !told->is_object()) return std::nullopt;
    std::set<Scope> scopes;
    for (const Json& each : told->value("scopes", Json::array()))
      if (const auto scope = parse_scope(each.is_string() ? each.get<std::string>() : ""))
        scopes.insert(*scope);
    const std::scoped_lock lock(mutex_);
    token_scopes_ = scopes;
    return scopes;
  }

  const Registry registry_;
  const std::shared_ptr<RemoteWire> wire_ =
      std::make_shared<RemoteWire>();  // shared with subscriptions and what is asked
  const std::unique_ptr<RemoteHealth> health_ = std::make_unique<RemoteHealth>(wire_);
  std::mutex mutex_;
  std::condition_variable ended_;
  int calls_ = 0;
  std::optional<std::set<Scope>> token_scopes_;  // under the mutex
};

}  // namespace

std::unique_ptr<Dispatcher> make_remote_dispatcher(Registry registry, RemoteTarget target) {
  return std::make_unique<RemoteDispatcher>(std::move(registry), std::move(target));
}

}  // namespace indx
