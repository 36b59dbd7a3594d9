#include "http/line_stream.hpp"

#include "base/json_text.hpp"
#include "http/rest.hpp"

#include <cstdio>

namespace indx {
namespace {

constexpr int kRowsAtOnce = 500;

/// One client. Lives as long as its socket, or until the list is told. One page is on its way at a
/// time, so nothing here is used by two threads at once.
class LineStream : public std::enable_shared_from_this<LineStream> {
 public:
  LineStream(Dispatcher& dispatcher, Call call, bool is_chunked,
             const std::shared_ptr<TaskThread>& thread, RequestId id, Responder responder)
      : dispatcher_(dispatcher),
        call_(std::move(call)),
        is_chunked_(is_chunked),
        thread_(thread),
        id_(std::move(id)),
        responder_(std::move(responder)) {}

  void start() {
    call_.input["limit"] = call_.operation->page_size(kRowsAtOnce);
    responder_.on_disconnect([cancel = call_.cancel] { cancel.cancel(CancelReason::Requested); });
    ask();
  }

 private:
  void ask() {
    if (call_.cancel.is_cancelled()) return;  // nobody listens
    Call call = call_;
    dispatcher_.call(std::move(call), [self = shared_from_this()](const Answer& answer) {
      self->take(answer.result);
    });
  }

  void take(const Result<Json>& page) {
    if (!page && !stream_) return responder_.send(error_response(page.error(), id_));
    if (!page) return end(Json{{"error", page.error().to_json()}}.dump() + "\n");
    if (!stream_ && call_.operation->text_of(*page) != nullptr)  // it asks for no rows
      return responder_.send(data_response(200, *page, id_));
    const std::string rows = lines_of(*call_.operation, *page);
    const Json cursor = page->value("next_cursor", Json());
    if (!stream_ && !cursor.is_string()) {
      HttpResponse whole = head();
      whole.body = rows;
      return responder_.send(std::move(whole));
    }
    if (!cursor.is_string()) return end(rows);
    call_.input["cursor"] = cursor;
    call_.is_next_page = true;
    if (stream_) {
      stream_->write(chunk(rows));
    } else {
      HttpResponse first = head();
      if (is_chunked_) first.headers.emplace_back("Transfer-Encoding", "chunked");
      first.body = chunk(rows);
      stream_ = responder_.begin_stream(std::move(first));
    }
    stream_->when_drained([self = shared_from_this()] {
      if (const auto thread = self->thread_.lock()) thread->post([self] { self->ask(); });
    });
  }

  void end(const std::string& lines) {
    stream_->write(chunk(lines) + (is_chunked_ ? "0\r\n\r\n" : ""));
    stream_->close();
  }

  HttpResponse head() const {
    HttpResponse response;
    response.headers = {{"Content-Type", "application/x-ndjson"},
                        {"X-Request-Id", id_.value},
                        {"X-Accel-Buffering", "no"}};
    return response;
  }
  std::string chunk(const std::string& bytes) const {
    if (!is_chunked_ || bytes.empty()) return bytes;
    char size[20];
    std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
    return size + bytes + "\r\n";
  }

  Dispatcher& dispatcher_;
  Call call_;
  const bool is_chunked_;
  const std::weak_ptr<TaskThread> thread_;  // the routes own it; a task must not be its last owner
  const RequestId id_;
  const Responder responder_;
  std::shared_ptr<ResponseStream> stream_;  // shared: with the stream thread
};

}  // namespace

bool is_whole_list(const Call& call) {
  return call.operation->has_pages() && call.operation->execution == Execution::Inline &&
         !call.input.contains("limit") && !call.input.contains("cursor");
}

std::string lines_of(const Operation& operation, const Json& data) {
  std::string lines;
  const auto add = [&](const Json& item) { lines += json_text(item) + "\n"; };
  const auto list = data.find(operation.list);
  if (list != data.end())
    for (const auto& item : *list) add(item);
  for (const auto& gap : operation.gap_lines(data)) add(gap);
  return lines;
}

void send_lines(Dispatcher& dispatcher, Call call, bool is_chunked,
                const std::shared_ptr<TaskThread>& thread, const RequestId& id,
                const Responder& responder) {
  std::make_shared<LineStream>(dispatcher, std::move(call), is_chunked, thread, id, responder)
      ->start();
}

}  // namespace indx
