#include "mcp/http_transport.hpp"

#include "base/text.hpp"
#include "http/rest.hpp"
#include "mcp/http_message.hpp"
#include "mcp/http_reply.hpp"
#include "mcp/modern_http.hpp"
#include "mcp/modern_request.hpp"
#include "mcp/sse_stream.hpp"

#include <algorithm>
#include <atomic>
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

HttpResponse no_such_method(const HttpRequest& request) {
  HttpResponse response = rpc_failure(
      405, cat(request.method, " is not possible here; send messages with POST."), request);
  response.headers.emplace_back("Allow", "DELETE, GET, POST");
  return response;
}

HttpResponse not_acceptable(const HttpRequest& request, const Json& id) {
  return rpc_failure(406, "Accept must allow application/json or text/event-stream.", request,
                     kRpcInvalidRequest, id);
}

HttpResponse with_session(HttpResponse response, const McpSession& session) {
  response.headers.emplace_back(kSessionHeader, session.id);
  return response;
}

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
    // Where they come from is checked before what they ask for.
    for (const char* method : {"OPTIONS", "PATCH", "PUT"}) add(method, &McpHttpImpl::refuse);
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
    if (is_rpc_batch(request.body)) return post_batch(request, principal, responder, accepted);
    auto parsed = parse_rpc(request.body);
    if (const auto* fault = std::get_if<RpcFault>(&parsed))
      return responder.send(rpc_response(400, rpc_error(*fault), request));
    const auto& message = std::get<RpcMessage>(parsed);
    // What gets no answer needs no form of one.
    if (message.kind == RpcMessage::Kind::Request && !accepted.json && !accepted.sse)
      return responder.send(not_acceptable(request, message.id));
    if (is_modern(message, request.header(kVersionHeader)))
      return modern_.post(request, principal, responder, message, accepted);
    if (message.kind == RpcMessage::Kind::Request && message.method == "initialize")
      return initialize(request, principal, responder, message, accepted);

    // The id of a response is one of ours: to repeat it would look like an answer.
    const bool is_request = message.kind == RpcMessage::Kind::Request;
    const auto session =
        session_of(request, principal, responder, is_request ? message.id : Json(nullptr));
    if (!session) return;
    const McpPeer peer = peer_in(session, principal);
    if (!is_request) {
      take_silent(peer, message);
      return responder.send({202, {}, ""});
    }
    const auto answer = std::make_shared<PostAnswer>(request, responder, accepted, session,
                                                     PostAnswer::Form::Single, 1, message.id);
    server_.request(peer, message, answer->reply());
    if (accepted.sse) show_life_of(answer);
  }

  void post_batch(const HttpRequest& request, const Principal& principal,
                  const Responder& responder, Accepted accepted) {
    const auto refuse = [&](const RpcFault& fault) {
      responder.send(rpc_response(400, rpc_error(fault), request));
    };
    if (is_modern_version(request.header(kVersionHeader))) return refuse(no_rpc_batches());
    const auto session = session_of(request, principal, responder, nullptr);
    if (!session) return;
    if (!session->protocol->has_batch) return refuse(no_rpc_batches());
    const auto parsed = parse_rpc_batch(request.body);
    if (const auto* fault = std::get_if<RpcFault>(&parsed)) return refuse(*fault);
    const auto& messages = std::get<std::vector<RpcParsed>>(parsed);
    const auto requests =
        static_cast<std::size_t>(std::count_if(messages.begin(), messages.end(), wants_answer));
    if (requests > 0 && !accepted.json && !accepted.sse)
      return responder.send(not_acceptable(request, nullptr));

    const McpPeer peer = peer_in(session, principal);
    const auto answer =
        requests == 0 ? nullptr
                      : std::make_shared<PostAnswer>(request, responder, accepted, session,
                                                     PostAnswer::Form::Batch, requests, nullptr);
    for (const RpcParsed& each : messages) {
      const auto* message = std::get_if<RpcMessage>(&each);
      if (!wants_answer(each))
        take_silent(peer, *message);
      else if (message)
        server_.request(peer, *message, answer->reply());
      else
        answer->reply()->answer({.message = rpc_error(std::get<RpcFault>(each))});
    }
    if (!answer) return responder.send({202, {}, ""});
    if (accepted.sse) show_life_of(answer);
  }

  static McpPeer peer_in(const std::shared_ptr<McpSession>& session, const Principal& principal) {
    return {McpTransport::Http, session->protocol, principal,
            session->calls,     session,           session->client_capabilities};
  }

  void take_silent(const McpPeer& peer, const RpcMessage& message) {
    if (message.kind == RpcMessage::Kind::Notification) server_.notification(peer, message);
    if (message.kind == RpcMessage::Kind::Response) server_.response(peer, message);
  }

  void show_life_of(const std::shared_ptr<PostAnswer>& answer) {
    if (answer->is_over()) return;
    server_.deadlines().after(server_.options().stream_start, [weak = std::weak_ptr(answer)] {
      if (const auto waiting = weak.lock()) waiting->show_life();
    });
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
      session->streams = std::make_shared<SseStreams>(*handshake.protocol);
      session->channel = session->streams;
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

  /// Opens the standing stream, or goes on with the one that Last-Event-ID names.
  void get(const HttpRequest& request, const Principal& principal, const Responder& responder) {
    if (request.method == "HEAD" || !accepted_types(request).any_sse ||
        request.header("mcp-session-id").empty())
      return responder.send(no_stream(request));
    const auto session = session_of(request, principal, responder, nullptr);
    if (!session) return;
    const std::string last_event = request.header("last-event-id");
    if (last_event.empty()) return session->streams->listen(responder);
    const auto position = session->streams->find(last_event);
    if (!position) return responder.send(no_stream(request));
    position->stream->connect(responder, position->after);
  }

  void refuse(const HttpRequest& request, const Principal&, const Responder& responder) {
    responder.send(no_such_method(request));
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
