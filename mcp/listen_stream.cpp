#include "mcp/listen_stream.hpp"

namespace indx {
namespace {

constexpr const char* kSubscriptionId = "io.modelcontextprotocol/subscriptionId";

}  // namespace

Json ListenStream::marked(std::string_view method, Json params) const {
  params["_meta"][kSubscriptionId] = call_->id();
  return rpc_notification(method, std::move(params));
}

void ListenStream::tell(std::string_view method, Json params) {
  Json message = marked(method, std::move(params));
  {
    const std::scoped_lock lock(mutex_);
    if (!is_acknowledged_) return early_.push_back(std::move(message));
  }
  call_->notify(message);
}

void ListenStream::acknowledge(Json honoured) {
  const std::scoped_lock lock(mutex_);
  call_->notify(
      marked("notifications/subscriptions/acknowledged", {{"notifications", std::move(honoured)}}));
  is_acknowledged_ = true;
  for (const Json& message : std::exchange(early_, {})) call_->notify(message);
}

void Honoured::set(const char* kind, Json value) {
  const std::scoped_lock lock(mutex_);
  wishes_[kind] = std::move(value);
}

void Honoured::add(const char* kind, Json value) {
  const std::scoped_lock lock(mutex_);
  wishes_[kind].push_back(std::move(value));
}

void ListenStream::finish() const {
  // mcp.md section 5: the pages of the protocol differ, and a pipe has no end of its own stream.
  if (peer_.transport == McpTransport::Stdio)
    call_->notify(rpc_notification(
        "notifications/cancelled",
        {{"requestId", call_->id()}, {"reason", "The server has ended this subscription."}}));
  call_->answer_result({{"_meta", {{kSubscriptionId, call_->id()}}}});
}

}  // namespace indx
