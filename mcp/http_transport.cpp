#include "mcp/http_transport.hpp"

#include "base/text.hpp"
#include "http/rest.hpp"
#include "mcp/http_message.hpp"
#include "mcp/modern_http.hpp"
#include "mcp/modern_request.hpp"
#include "mcp/sse_stream.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <utility>

namespace indx {
namespace {

constexpr const char* kSessionHeader = "Mcp-Session-Id";

HttpResponse no_stream(const HttpRequest& request) {
  HttpResponse response = rpc_failure(
      405, "There is no stream to open or to resume here. Send messages with POST.", request);
  response.headers.emplace_back("Allow", "POST, DELETE");
  return response;
}

HttpResponse with_session(HttpResponse response, const McpSession& session) {
  response.headers.emplace_back(kSessionHeader, session.id);
  return response;
}

/// The answer of one POST: JSON, unless something is said before the answer.
class HttpReply : public McpReply {
 public:
  HttpReply(HttpRequest request, Responder responder, Accepted accepted,
            const std::shared_ptr<McpSession>& session)
      : request_(std::move(request)),
        responder_(std::move(responder)),
        accepted_(accepted),
        session_(session) {}

  void notify(const Json& message) override {
    const std::scoped_lock lock(mutex_);
    begin_stream();
    if (stream_) stream_->send(message);
  }

  bool can_notify() const override { return accepted_.sse; }

  void answer(McpAnswer answer) override {
    const std::scoped_lock lock(mutex_);
    is_over_ = true;
    if (stream_) {
      stream_->send(answer.message);
      return stream_->finish();
    }
    if (accepted_.json || answer.http_status != 200) return send_json(answer);
    if (const auto stream = responder_.begin_stream(sse_head(sse_frame(answer.message))))
      stream->close();
  }

  void drop(CancelReason reason) override {
    const std::scoped_lock lock(mutex_);
    is_over_ = true;
    if (stream_) return stream_->finish();
    if (reason == CancelReason::Shutdown)
      return responder_.send(rpc_failure(503, "The server is stopping.", request_));
    responder_.send({202, {}, ""});  // the client asked for silence, HTTP wants an answer
  }

  /// Shows the headers of a call that takes long, so that nobody in between gives up.
  void show_life() {
    const std::scoped_lock lock(mutex_);
    if (!is_over_) begin_stream();
  }

 private:
  void begin_stream() {
    if (stream_ || !accepted_.sse) return;
    stream_ = session_->streams->open(*session_->protocol);
    stream_->begin(responder_);
  }

  void send_json(const McpAnswer& answer) {
    HttpResponse response = rpc_response(answer.http_status, answer.message, request_);
    if (!answer.challenge.empty())
      response.headers.emplace_back("WWW-Authenticate", answer.challenge);
    responder_.send(std::move(response));
  }

  const HttpRequest request_;
  const Responder responder_;
  const Accepted accepted_;
  const std::shared_ptr<McpSession> session_;  // shared: an answer may come after the session ended
  std::mutex mutex_;
  std::shared_ptr<SseStream> stream_;  // shared with the session, which can resume it
  bool is_over_ = false;
};

class McpHttpImpl : public McpHttp {
 public:
  McpHttpImpl(Dispatcher& dispatcher, const McpOptions& options)
      : dispatcher_(dispatcher),
        server_(dispatcher, options),
        sessions_(options.sessions, server_.clock(), server_.random()),
        modern_(server_) {}
  /// Open calls and their sessions hold each other until the calls end.
  ~McpHttpImpl() override { McpHttpImpl::stop(); }

  void add_routes(Router& router) override {
    using Handler = void (McpHttpImpl::*)(const HttpRequest&, const Principal&, const Responder&);
    const auto add = [&](const char* method, Handler handler) {
      for (const char* path :
           {"/mcp", "/mcp/"})  // never a redirect: some hosts drop the token or loop
        router.add(
            method, path,
            [this, handler](const HttpRequest& request, const auto&, const Responder& responder) {
              admit(request, responder, handler);
            });
    };
    add("POST", &McpHttpImpl::post);
    add("GET", &McpHttpImpl::get);
    add("DELETE", &McpHttpImpl::remove);
  }

  void stop() override {
    is_stopping_ = true;
    server_.end_listening();
    sessions_.close_all(CancelReason::Shutdown);
    modern_.stop();
  }

 private:
  /// What is checked before everything else, on every method.
  void admit(const HttpRequest& request, const Responder& responder,
             void (McpHttpImpl::*handler)(const HttpRequest&, const Principal&, const Responder&)) {
    if (const Status origin = check_origin(request); !origin)
      return responder.send(error_response(origin.error(), request.id));
    auto principal = authenticate_request(request, dispatcher_, Surface::Mcp);
    if (!principal) return responder.send(error_response(principal.error(), request.id));
    if (is_stopping_) return responder.send(rpc_failure(503, "The server is stopping.", request));
    if (request.method != "POST" && is_modern_version(request.header(kVersionHeader)))
      return responder.send(only_post(request));
    principal->request_id = request.id.value;
    (this->*handler)(request, *principal, responder);
  }

  void post(const HttpRequest& request, const Principal& principal, const Responder& responder) {
    if (media_type(request.header("content-type")) != "application/json")
      return responder.send(rpc_failure(415, "Content-Type must be application/json.", request));
    const Accepted accepted = accepted_types(request);
    if (!accepted.json && !accepted.sse)
      return responder.send(
          rpc_failure(406, "Accept must allow application/json or text/event-stream.", request));
    auto parsed = parse_rpc(request.body);
    if (const auto* fault = std::get_if<RpcFault>(&parsed))
      return responder.send(rpc_response(400, rpc_error(*fault), request));
    const auto& message = std::get<RpcMessage>(parsed);
    if (is_modern(message, request.header(kVersionHeader)))
      return modern_.post(request, principal, responder, message, accepted);
    if (message.kind == RpcMessage::Kind::Request && message.method == "initialize")
      return initialize(request, principal, responder, message, accepted);

    const auto session = session_of(request, principal, responder, message.id);
    if (!session) return;
    const McpPeer peer{McpTransport::Http, session->protocol, principal,
                       session->calls,     session,           session->client_capabilities};
    if (message.kind != RpcMessage::Kind::Request) {
      if (message.kind == RpcMessage::Kind::Notification) server_.notification(peer, message);
      if (message.kind == RpcMessage::Kind::Response) server_.response(peer, message);
      return responder.send({202, {}, ""});
    }
    const auto reply =
        std::make_shared<HttpReply>(without_body(request), responder, accepted, session);
    if (accepted.sse && wants_progress(message))
      server_.deadlines().after(server_.options().stream_start, [weak = std::weak_ptr(reply)] {
        if (const auto waiting = weak.lock()) waiting->show_life();
      });
    server_.request(peer, message, reply);
  }

  void initialize(const HttpRequest& request, const Principal& principal,
                  const Responder& responder, const RpcMessage& message, Accepted accepted) {
    if (sessions_.find(request.header("mcp-session-id"), principal.subject))
      return responder.send(
          rpc_failure(400, "This session is initialised already. Open another without the header.",
                      request, kRpcInvalidRequest, message.id));
    auto handshake = server_.initialize(message);
    auto session = std::make_shared<McpSession>();
    if (handshake.protocol) {
      session->subject = principal.subject;
      session->protocol = handshake.protocol;
      session->client_capabilities = std::move(handshake.client_capabilities);
      session->streams = std::make_shared<SseStreams>();
      if (!sessions_.add(session))
        return responder.send(rpc_failure(503, "Every session is in use. Try again in a moment.",
                                          request, kRpcInternalError, message.id));
    }
    const bool is_session = handshake.protocol != nullptr;
    if (accepted.json) {
      HttpResponse response =
          rpc_response(handshake.answer.http_status, handshake.answer.message, request);
      return responder.send(is_session ? with_session(std::move(response), *session)
                                       : std::move(response));
    }
    HttpResponse head = sse_head(sse_frame(handshake.answer.message));
    if (const auto stream = responder.begin_stream(
            is_session ? with_session(std::move(head), *session) : std::move(head)))
      stream->close();
  }

  void get(const HttpRequest& request, const Principal& principal, const Responder& responder) {
    if (!accepted_types(request).sse)
      return responder.send(rpc_failure(406, "Accept must allow text/event-stream.", request));
    if (request.header("mcp-session-id").empty()) return responder.send(no_stream(request));
    const auto session = session_of(request, principal, responder, nullptr);
    if (!session) return;
    const auto position = session->streams->find(request.header("last-event-id"));
    if (!position) return responder.send(no_stream(request));
    position->stream->resume(responder, position->after);
  }

  void remove(const HttpRequest& request, const Principal& principal, const Responder& responder) {
    const auto session = session_of(request, principal, responder, nullptr);
    if (!session) return;
    sessions_.close(session->id, principal.subject);
    responder.send({204, {}, ""});
  }

  /// The session that the headers name; otherwise the request has been answered.
  std::shared_ptr<McpSession> session_of(const HttpRequest& request, const Principal& principal,
                                         const Responder& responder, const Json& id) {
    const auto fail = [&](int status, const char* message) {
      responder.send(rpc_failure(status, message, request, kRpcInvalidRequest, id));
      return nullptr;
    };
    const std::string version = request.header(kVersionHeader);
    if (!version.empty() && !find_protocol(version))
      return fail(400, "This MCP-Protocol-Version is not supported.");
    const std::string session_id = request.header("mcp-session-id");
    if (session_id.empty())
      return fail(400, "The header Mcp-Session-Id is missing. Send initialize first.");
    auto session = sessions_.find(session_id, principal.subject);
    if (!session) return fail(404, "This session is unknown or over. Send initialize again.");
    return session;
  }

  static bool wants_progress(const RpcMessage& message) {
    const auto meta = message.params.find("_meta");
    return meta != message.params.end() && meta->is_object() && meta->contains("progressToken");
  }

  /// What a reply needs of its request; bodies may be long.
  static HttpRequest without_body(const HttpRequest& request) {
    HttpRequest head;
    head.id = request.id;
    return head;
  }

  Dispatcher& dispatcher_;
  McpServer server_;
  SessionTable sessions_;
  ModernHttp modern_;
  std::atomic<bool> is_stopping_ = false;
};

}  // namespace

std::unique_ptr<McpHttp> make_mcp_http(Dispatcher& dispatcher) {
  return make_mcp_http(dispatcher, {});
}

std::unique_ptr<McpHttp> make_mcp_http(Dispatcher& dispatcher, const McpOptions& options) {
  return std::make_unique<McpHttpImpl>(dispatcher, options);
}

}  // namespace indx
