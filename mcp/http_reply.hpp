#pragma once
#include "http/router.hpp"
#include "mcp/http_message.hpp"
#include "mcp/session.hpp"
#include "mcp/sse_stream.hpp"

#include <memory>
#include <mutex>
#include <vector>

namespace indx {

/// The answer of one POST in a session: JSON, unless something is said before the last of its
/// requests is answered; then a stream, on which each answer is a message of its own. Thread-safe.
class PostAnswer : public std::enable_shared_from_this<PostAnswer> {
 public:
  enum class Form : std::uint8_t { Single, Batch };
  /// `requests`: how many there are to answer, at least one; each through a reply of its own. `id`:
  /// of the one there is; null: there are several.
  PostAnswer(const HttpRequest& request, Responder responder, Accepted accepted,
             std::shared_ptr<McpSession> session, Form form, std::size_t requests, Json id);

  std::shared_ptr<McpReply> reply();
  bool is_over() const;
  /// Shows the headers of what takes long, so that nobody in between gives up.
  void show_life();

 private:
  class Reply;
  void notify(const Json& message);
  void answer(McpAnswer answer);
  void drop(CancelReason reason);
  // Under the mutex:
  void begin_stream();
  void settle_one();
  void send_whole();
  HttpResponse json_response() const;

  HttpRequest head_;  // no more of the request than answers need: bodies may be long
  const Responder responder_;
  const Accepted accepted_;
  const std::shared_ptr<McpSession> session_;  // shared: an answer may come after the session ended
  const Form form_;
  const Json id_;
  mutable std::mutex mutex_;
  std::size_t unsettled_;
  std::vector<McpAnswer> answers_;     // while there is no stream
  std::shared_ptr<SseStream> stream_;  // shared with the session, which can resume it
  bool is_stopped_ = false;
};

}  // namespace indx
