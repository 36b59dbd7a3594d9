#include "mcp/modern_http.hpp"

#include "mcp/modern_request.hpp"
#include "mcp/operation_call.hpp"
#include "mcp/sse_stream.hpp"

#include <mutex>
#include <utility>
#include <variant>

namespace indx {
namespace {

/// The answer of one POST: JSON, or a stream of events when something is said before the answer.
class ModernHttpReply : public McpReply {
 public:
  ModernHttpReply(const HttpRequest& request, Responder responder, Accepted accepted)
      : responder_(std::move(responder)), accepted_(accepted) {
    head_.id = request.id;
  }

  void notify(const Json& message) override {
    const std::scoped_lock lock(mutex_);
    say(sse_frame(message));
  }

  bool can_notify() const override { return accepted_.sse; }

  void answer(McpAnswer answer) override {
    const std::scoped_lock lock(mutex_);
    is_over_ = true;
    const bool is_json = accepted_.json || answer.http_status != 200;
    if (!stream_ && is_json) return send_json(answer);
    say(sse_frame(answer.message));
    if (stream_) stream_->close();
  }

  void drop(CancelReason reason) override {
    const std::scoped_lock lock(mutex_);
    is_over_ = true;
    if (stream_) return stream_->close();
    if (reason == CancelReason::Shutdown)
      return responder_.send(rpc_failure(503, "The server is stopping.", head_));
    responder_.send({202, {}, ""});  // nobody is left to read it
  }

  /// Shows the headers of a call that takes long, so that nobody in between gives up.
  void show_life() {
    const std::scoped_lock lock(mutex_);
    if (!is_over_ && !stream_) say(": working\n\n");
  }

 private:
  void say(std::string frame) {
    if (stream_)
      stream_->write(std::move(frame));
    else
      stream_ = responder_.begin_stream(sse_head(std::move(frame)));
  }

  void send_json(const McpAnswer& answer) {
    HttpResponse response = rpc_response(answer.http_status, answer.message, head_);
    if (!answer.challenge.empty())
      response.headers.emplace_back("WWW-Authenticate", answer.challenge);
    responder_.send(std::move(response));
  }

  HttpRequest head_;  // only its id; bodies may be long
  const Responder responder_;
  const Accepted accepted_;
  std::mutex mutex_;
  std::shared_ptr<ResponseStream> stream_;  // shared with the HTTP front
  bool is_over_ = false;
};

}  // namespace

HttpResponse only_post(const HttpRequest& request) {
  HttpResponse response = rpc_failure(
      405, "This protocol version has only POST: no stream to open, no session to end.", request);
  response.headers.emplace_back("Allow", "POST");
  return response;
}

void ModernHttp::post(const HttpRequest& request, const Principal& principal,
                      const Responder& responder, const RpcMessage& message, Accepted accepted) {
  if (message.kind == RpcMessage::Kind::Notification) return responder.send({202, {}, ""});
  if (message.kind == RpcMessage::Kind::Response)
    return responder.send(
        rpc_failure(400, "The server asked nothing: send requests and notifications.", request));

  const ModernHeaders headers{request.header(kVersionHeader), request.header("mcp-method"),
                              request.header("mcp-name")};
  auto terms = read_modern_terms(message, &headers);
  if (const auto* fault = std::get_if<RpcFault>(&terms))
    return responder.send(rpc_response(400, rpc_error(*fault), request));

  auto& [protocol, capabilities] = std::get<ModernTerms>(terms);
  const McpPeer peer{McpTransport::Http,     protocol, principal, calls_, nullptr,
                     std::move(capabilities)};
  const auto reply = std::make_shared<ModernHttpReply>(request, responder, accepted);
  if (accepted.sse && !progress_token(message).is_null())
    server_.deadlines().after(server_.options().stream_start, [weak = std::weak_ptr(reply)] {
      if (const auto waiting = weak.lock()) waiting->show_life();
    });
  const auto call = server_.request(peer, message, reply);
  responder.on_disconnect([&server = server_, peer, weak = std::weak_ptr(call)] {
    if (const auto open = weak.lock()) server.cancel(peer, open);
  });
}

}  // namespace indx
