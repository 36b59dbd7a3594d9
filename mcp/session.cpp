#include "mcp/session.hpp"

#include "base/text.hpp"
#include "mcp/sse_stream.hpp"

#include <algorithm>
#include <utility>

namespace indx {
namespace {

constexpr int kListeningFactor = 24;
constexpr std::chrono::minutes kSweepTime{2};

bool is_listening(const McpSession& session) {
  return session.channel && session.channel->is_open();
}

void end_session(const McpSession& session, CancelReason reason) {
  session.calls->cancel_all(reason);
  if (session.channel) session.channel->close();
}

}  // namespace

OpenCall::OpenCall(Json id, std::shared_ptr<McpReply> reply, std::weak_ptr<OpenCalls> owner)
    : id_(std::move(id)), owner_(std::move(owner)), reply_(std::move(reply)) {}

bool OpenCall::is_ended() const {
  const std::scoped_lock lock(mutex_);
  return is_ended_;
}

std::string OpenCall::job_id() const {
  const std::scoped_lock lock(mutex_);
  return job_id_;
}

bool OpenCall::set_job(const std::string& job_id) {
  const std::scoped_lock lock(mutex_);
  if (!job_id_.empty()) return true;
  job_id_ = job_id;
  return token_.reason() != CancelReason::Requested;
}

bool OpenCall::end() {
  if (is_ended_) return false;
  is_ended_ = true;
  if (const auto owner = owner_.lock()) owner->remove(this);
  return true;
}

void OpenCall::notify(const Json& message) {
  const std::scoped_lock lock(mutex_);
  if (!is_ended_) reply_->notify(message);
}

void OpenCall::ask(std::string_view method, Json params, OnPeerReply on_reply) {
  const auto owner = owner_.lock();
  if (!owner) return;
  {
    const std::scoped_lock lock(mutex_);
    if (is_ended_) return;
    if (reply_->can_notify()) {
      const std::string id = owner->expect_reply(this, std::move(on_reply));
      return reply_->notify(rpc_request(id, method, std::move(params)));
    }
  }
  on_reply(make_error(Reason::Unavailable, "The client cannot be asked on this call."));
}

void OpenCall::answer(McpAnswer answer) {
  const std::scoped_lock lock(mutex_);
  if (end()) reply_->answer(std::move(answer));
}

void OpenCall::answer_result(Json result) {
  answer({.message = rpc_result(id_, std::move(result))});
}

void OpenCall::answer_fault(int code, std::string message, Json data) {
  answer({.message = rpc_error({code, std::move(message), std::move(data), id_})});
}

void OpenCall::cancel(CancelReason reason) {
  {
    const std::scoped_lock lock(mutex_);
    if (!end()) return;
    reply_->drop(reason);
  }
  token_.cancel(reason);
}

std::shared_ptr<OpenCall> OpenCalls::open(Json id, std::shared_ptr<McpReply> reply) {
  auto call = std::make_shared<OpenCall>(std::move(id), std::move(reply), weak_from_this());
  const std::scoped_lock lock(mutex_);
  calls_.push_back(call);
  return call;
}

void OpenCalls::remove(const OpenCall* call) {
  std::shared_ptr<OpenCall> last;  // destroyed after the lock
  const std::scoped_lock lock(mutex_);
  const auto found = std::find_if(calls_.begin(), calls_.end(),
                                  [&](const auto& each) { return each.get() == call; });
  if (found == calls_.end()) return;
  last = *found;
  if (calls_.size() == 1 && on_empty_) on_empty_();  // before anybody can see that it is empty
  calls_.erase(found);
  std::erase_if(questions_, [&](const auto& each) { return each.second.call == call; });
}

std::string OpenCalls::expect_reply(const OpenCall* call, OnPeerReply on_reply) {
  const std::scoped_lock lock(mutex_);
  std::string id = cat("indx-", ++asked_);
  questions_[id] = {call, std::move(on_reply)};
  return id;
}

void OpenCalls::take_reply(const RpcMessage& response) {
  if (!response.id.is_string()) return;
  OnPeerReply on_reply;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = questions_.find(response.id.get<std::string>());
    if (found == questions_.end()) return;
    on_reply = std::move(found->second.on_reply);
    questions_.erase(found);
  }
  if (response.error.is_null()) return on_reply(response.result);
  on_reply(make_error(Reason::Unavailable, "The client did not answer the question.",
                      {{"error", response.error}}));
}

std::vector<std::shared_ptr<OpenCall>> OpenCalls::with_id(const Json& id) const {
  std::vector<std::shared_ptr<OpenCall>> found;
  const std::scoped_lock lock(mutex_);
  for (const auto& call : calls_)
    if (call->id() == id) found.push_back(call);
  return found;
}

void OpenCalls::cancel_all(CancelReason reason) {
  std::vector<std::shared_ptr<OpenCall>> calls;
  {
    const std::scoped_lock lock(mutex_);
    calls = calls_;
  }
  for (const auto& call : calls) call->cancel(reason);
}

bool OpenCalls::empty() const {
  const std::scoped_lock lock(mutex_);
  return calls_.empty();
}

SessionTable::SessionTable(Limits limits, const Clock& clock, Random& random)
    : limits_(limits), clock_(clock), random_(random) {}

bool SessionTable::add(const std::shared_ptr<McpSession>& session) {
  session->id = random_.hex(16);
  auto last_used = std::make_shared<Time>(clock_.monotonic());
  session->calls->when_empty([last_used, &clock = clock_] { *last_used = clock.monotonic(); });
  std::vector<std::shared_ptr<McpSession>> ended;
  bool has_room = false;
  {
    const std::scoped_lock lock(mutex_);
    sweep();
    ended = take_superfluous();
    has_room = rows_.size() < limits_.max_sessions;
    if (has_room) rows_[session->id] = {session, std::move(last_used)};
  }
  for (const auto& each : ended) end_session(*each, CancelReason::Shutdown);
  return has_room;
}

void SessionTable::sweep() {
  const auto now = clock_.monotonic();
  if (now - swept_at_ < kSweepTime) return;
  swept_at_ = now;
  for (const auto& [id, row] : rows_)
    if (row.session->streams) row.session->streams->sweep();
}

bool SessionTable::is_expired(const Row& row) const {
  if (!row.session->calls->empty()) return false;
  const auto unused = clock_.monotonic() - row.last_used->load();
  return unused > (is_listening(*row.session) ? kListeningFactor * limits_.idle : limits_.idle);
}

std::vector<std::shared_ptr<McpSession>> SessionTable::take_superfluous() {
  std::vector<std::shared_ptr<McpSession>> taken;
  std::erase_if(rows_, [&](const auto& row) {
    const bool is_over = is_expired(row.second);
    if (is_over) taken.push_back(row.second.session);
    return is_over;
  });
  if (rows_.size() < limits_.max_sessions) return taken;
  if (const auto oldest = longest_idle(); oldest != rows_.end()) {
    taken.push_back(oldest->second.session);
    rows_.erase(oldest);
  }
  return taken;
}

SessionTable::Rows::iterator SessionTable::longest_idle() {
  std::map<std::string, std::size_t> counts;
  for (const auto& [id, row] : rows_) ++counts[row.session->subject];
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == counts.end()) return rows_.end();
  const auto found = longest_idle_of(most->first);
  return found == rows_.end() ? longest_idle_of(std::nullopt) : found;
}

SessionTable::Rows::iterator SessionTable::longest_idle_of(
    const std::optional<std::string>& subject) {
  auto oldest = rows_.end();
  bool is_oldest_listening = false;
  for (auto row = rows_.begin(); row != rows_.end(); ++row) {
    if (subject && row->second.session->subject != *subject) continue;
    if (!row->second.session->calls->empty()) continue;
    const bool listens = is_listening(*row->second.session);
    const bool goes_first = oldest == rows_.end() || (is_oldest_listening && !listens) ||
                            (is_oldest_listening == listens &&
                             row->second.last_used->load() < oldest->second.last_used->load());
    if (!goes_first) continue;
    oldest = row;
    is_oldest_listening = listens;
  }
  return oldest;
}

std::shared_ptr<McpSession> SessionTable::find(const std::string& id, const std::string& subject) {
  std::shared_ptr<McpSession> expired;
  {
    const std::scoped_lock lock(mutex_);
    const auto row = rows_.find(id);
    if (row == rows_.end() || row->second.session->subject != subject) return nullptr;
    if (!is_expired(row->second)) {
      *row->second.last_used = clock_.monotonic();
      return row->second.session;
    }
    expired = row->second.session;
    rows_.erase(row);
  }
  end_session(*expired, CancelReason::Shutdown);
  return nullptr;
}

bool SessionTable::close(const std::string& id, const std::string& subject) {
  const auto session = find(id, subject);
  if (!session) return false;
  {
    const std::scoped_lock lock(mutex_);
    if (rows_.erase(id) == 0) return false;
  }
  session->is_over = true;
  end_session(*session, CancelReason::Requested);
  return true;
}

void SessionTable::close_all(CancelReason reason) {
  Rows rows;
  {
    const std::scoped_lock lock(mutex_);
    rows.swap(rows_);
  }
  for (const auto& [id, row] : rows) end_session(*row.session, reason);
}

std::size_t SessionTable::size() const {
  const std::scoped_lock lock(mutex_);
  return rows_.size();
}

}  // namespace indx
