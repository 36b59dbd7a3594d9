#include "mcp/http_reply.hpp"

#include <utility>

namespace indx {

/// Of one request.
class PostAnswer::Reply : public McpReply {
 public:
  explicit Reply(std::shared_ptr<PostAnswer> post) : post_(std::move(post)) {}
  void notify(const Json& message) override { post_->notify(message); }
  bool can_notify() const override { return post_->accepted_.sse; }
  void answer(McpAnswer answer) override { post_->answer(std::move(answer)); }
  void drop(CancelReason reason) override { post_->drop(reason); }

 private:
  const std::shared_ptr<PostAnswer> post_;  // shared by the replies of a batch
};

PostAnswer::PostAnswer(const HttpRequest& request, Responder responder, Accepted accepted,
                       std::shared_ptr<McpSession> session, Form form, std::size_t requests,
                       Json id)
    : responder_(std::move(responder)),
      accepted_(accepted),
      session_(std::move(session)),
      form_(form),
      id_(std::move(id)),
      unsettled_(requests) {
  head_.id = request.id;
}

std::shared_ptr<McpReply> PostAnswer::reply() {
  return std::make_shared<Reply>(shared_from_this());
}

bool PostAnswer::is_over() const {
  const std::scoped_lock lock(mutex_);
  return unsettled_ == 0;
}

void PostAnswer::show_life() {
  const std::scoped_lock lock(mutex_);
  if (unsettled_ > 0) begin_stream();
}

void PostAnswer::notify(const Json& message) {
  const std::scoped_lock lock(mutex_);
  begin_stream();
  if (stream_) stream_->send(message);
}

void PostAnswer::answer(McpAnswer answer) {
  const std::scoped_lock lock(mutex_);
  if (stream_)
    stream_->send(answer.message);
  else
    answers_.push_back(std::move(answer));
  settle_one();
}

void PostAnswer::drop(CancelReason reason) {
  const std::scoped_lock lock(mutex_);
  if (reason == CancelReason::Shutdown) is_stopped_ = true;
  settle_one();
}

void PostAnswer::begin_stream() {
  if (stream_ || !accepted_.sse) return;
  stream_ = session_->streams->open();
  stream_->connect(responder_);
  for (const McpAnswer& answer : answers_) stream_->send(answer.message);
  answers_.clear();
}

void PostAnswer::settle_one() {
  if (--unsettled_ > 0) return;
  if (stream_) return stream_->finish();
  send_whole();
}

void PostAnswer::send_whole() {
  if (answers_.empty() && is_stopped_)
    return responder_.send(
        rpc_failure(503, "The server is stopping.", head_, kRpcInvalidRequest, id_));
  if (answers_.empty() && session_->is_over)
    return responder_.send(rpc_failure(404, "This session was ended while this call ran.", head_,
                                       kRpcInvalidRequest, id_));
  // The client asked for silence, HTTP wants an answer.
  if (answers_.empty()) return responder_.send({202, {}, ""});
  const bool is_refusal = form_ == Form::Single && answers_.front().http_status != 200;
  if (accepted_.json || is_refusal) return responder_.send(json_response());
  std::string frames;
  for (const McpAnswer& answer : answers_) frames += sse_frame(answer.message);
  if (const auto stream = responder_.begin_stream(sse_head(std::move(frames)))) stream->close();
}

HttpResponse PostAnswer::json_response() const {
  if (form_ == Form::Batch) {
    Json all = Json::array();
    for (const McpAnswer& answer : answers_) all.push_back(answer.message);
    return rpc_response(200, all, head_);
  }
  const McpAnswer& answer = answers_.front();
  HttpResponse response = rpc_response(answer.http_status, answer.message, head_);
  if (!answer.challenge.empty())
    response.headers.emplace_back("WWW-Authenticate", answer.challenge);
  return response;
}

}  // namespace indx
