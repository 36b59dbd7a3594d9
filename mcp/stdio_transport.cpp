#include "mcp/stdio_transport.hpp"

#include "base/ids.hpp"
#include "mcp/line_writer.hpp"
#include "mcp/modern_request.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <poll.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace indx {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kMaxLineBytes = 64U << 20U;
constexpr std::size_t kMaxQueuedBytes = 64U
                                        << 20U;  // above, no more is read until the client has read
constexpr std::chrono::milliseconds kFinishTime{500}, kStallTime{300}, kPollStep{20};

class StdioReply : public McpReply {
 public:
  explicit StdioReply(std::shared_ptr<LineWriter> writer) : writer_(std::move(writer)) {}
  void notify(const Json& message) override { writer_->write(dump_rpc(message)); }
  void answer(McpAnswer answer) override { writer_->write(dump_rpc(answer.message)); }
  void drop(CancelReason) override {}

 private:
  const std::shared_ptr<LineWriter> writer_;  // shared by all replies
};

class StdioChannel : public McpChannel {
 public:
  explicit StdioChannel(std::shared_ptr<LineWriter> writer) : writer_(std::move(writer)) {}
  void send(const Json& notification) override { writer_->write(dump_rpc(notification)); }

 private:
  const std::shared_ptr<LineWriter> writer_;  // shared with the replies
};

/// Whether nobody will write to this descriptor any more, though some of it may be unread.
bool has_hung_up(int in) {
  pollfd watched{in, POLLRDHUP, 0};
  return ::poll(&watched, 1, 0) > 0 && (watched.revents & (POLLHUP | POLLRDHUP)) != 0;
}

/// Cuts bytes into lines. A line over the limit is given up, once, as an empty optional.
class LineReader {
 public:
  template <typename OnLine>
  void add(std::string_view bytes, const OnLine& on_line) {
    while (!bytes.empty()) {
      const auto end = bytes.find('\n');
      append(bytes.substr(0, end), on_line);
      if (end == std::string_view::npos) return;
      finish(on_line);
      bytes.remove_prefix(end + 1);
    }
  }
  /// The last line may lack its end.
  template <typename OnLine>
  void finish(const OnLine& on_line) {
    if (line_.ends_with('\r')) line_.pop_back();
    if (!is_skipping_ && line_.find_first_not_of(" \t") != std::string::npos)
      on_line(std::optional(std::string_view(line_)));
    line_.clear();
    if (line_.capacity() > kMaxLineBytes / 16) line_.shrink_to_fit();
    is_skipping_ = false;
  }

 private:
  template <typename OnLine>
  void append(std::string_view part, const OnLine& on_line) {
    if (is_skipping_) return;
    if (line_.size() + part.size() > kMaxLineBytes) {
      on_line(std::optional<std::string_view>());
      is_skipping_ = true;
      return;
    }
    line_ += part;
  }

  std::string line_;
  bool is_skipping_ = false;
};

/// The answers to one array of messages, sent as one when the last is there. Thread-safe.
class StdioBatch {
 public:
  StdioBatch(std::shared_ptr<LineWriter> writer, std::size_t requests)
      : writer_(std::move(writer)), unsettled_(requests) {}

  void notify(const Json& message) { writer_->write(dump_rpc(message)); }
  /// Null: the request ends without an answer.
  void settle(Json answer) {
    const std::scoped_lock lock(mutex_);
    if (!answer.is_null()) answers_.push_back(std::move(answer));
    if (--unsettled_ == 0 && !answers_.empty()) writer_->write(dump_rpc(answers_));
  }

 private:
  const std::shared_ptr<LineWriter> writer_;  // shared with the other replies
  std::mutex mutex_;
  std::size_t unsettled_;
  Json answers_ = Json::array();
};

class StdioBatchReply : public McpReply {
 public:
  explicit StdioBatchReply(std::shared_ptr<StdioBatch> batch) : batch_(std::move(batch)) {}
  void notify(const Json& message) override { batch_->notify(message); }
  void answer(McpAnswer answer) override { batch_->settle(std::move(answer.message)); }
  void drop(CancelReason) override { batch_->settle(nullptr); }

 private:
  const std::shared_ptr<StdioBatch> batch_;  // shared by the replies of a batch
};

/// One client on two file descriptors.
class StdioSession {
 public:
  StdioSession(Dispatcher& dispatcher, const Principal& principal, int out,
               const McpOptions& options)
      : server_(dispatcher, options), writer_(std::make_shared<LineWriter>(out, wake_)) {
    peer_.principal = principal;
    peer_.session = std::make_shared<McpSession>();
    peer_.session->subject = principal.subject;
    peer_.session->channel = std::make_shared<StdioChannel>(writer_);
    peer_.calls = peer_.session->calls;
  }

  void run(int in, int out, const CancelToken& stop) {
    {
      const auto registration = stop.on_cancel([wake = wake_] { wake->wake(); });
      read_until_end(in, out, stop);
      server_.end_listening();
      const auto until = steady_clock::now() + kFinishTime;
      while (!peer_.calls->empty() && !stop.is_cancelled() && !writer_->is_broken() &&
             steady_clock::now() < until)
        std::this_thread::sleep_for(kPollStep / 2);
    }
    peer_.calls->cancel_all(CancelReason::Shutdown);
    writer_->close();
  }

 private:
  void read_until_end(int in, int out, const CancelToken& stop) {
    LineReader reader;
    // One read may hold a thousand lines: between them the end is seen, and the reader waited for.
    const auto on_line = [&](std::optional<std::string_view> line) {
      while (writer_->queued_bytes() >= kMaxQueuedBytes && !is_over(in, stop))
        std::this_thread::sleep_for(kPollStep);
      if (!is_over(in, stop)) handle_line(line);
    };
    std::array<char, 65536> buffer;
    while (!is_over(in, stop)) {
      const bool has_room = writer_->queued_bytes() < kMaxQueuedBytes;
      std::array<pollfd, 3> watched{{{in, POLLIN, 0}, {wake_->get(), POLLIN, 0}, {out, 0, 0}}};
      if (!has_room) watched[0].fd = -1;
      const int ready = ::poll(watched.data(), watched.size(),
                               has_room ? -1 : static_cast<int>(kPollStep.count()));
      if (ready < 0 && errno != EINTR) return;
      if (ready <= 0) continue;
      if ((watched[2].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0)
        return;  // nobody reads the answers
      if ((watched[0].revents & (POLLIN | POLLHUP | POLLERR | POLLNVAL)) == 0) continue;
      const auto count = ::read(in, buffer.data(), buffer.size());
      if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (count <= 0) return reader.finish(on_line);
      reader.add({buffer.data(), static_cast<std::size_t>(count)}, on_line);
    }
  }

  bool is_over(int in, const CancelToken& stop) {
    return stop.is_cancelled() || writer_->is_broken() || is_deserted(in);
  }

  /// The client has closed its end and takes no answer either, while more are queued than may be:
  /// the end of the input would never be read.
  bool is_deserted(int in) {
    if (writer_->queued_bytes() < kMaxQueuedBytes) {
      stalled_since_.reset();
      return false;
    }
    const auto now = steady_clock::now();
    const auto written = writer_->written_bytes();
    if (!stalled_since_ || written != written_then_) {
      stalled_since_ = now;
      written_then_ = written;
    }
    return now - *stalled_since_ > kStallTime && has_hung_up(in);
  }

  void send(const Json& message) { writer_->write(dump_rpc(message)); }

  void handle_line(std::optional<std::string_view> line) {
    if (!line)
      return send(
          rpc_error({kRpcInvalidRequest, "The line is longer than 64 MB.", nullptr, nullptr}));
    if (is_rpc_batch(*line)) return handle_batch(*line);
    auto parsed = parse_rpc(*line);
    if (const auto* fault = std::get_if<RpcFault>(&parsed)) return send(rpc_error(*fault));
    const auto& message = std::get<RpcMessage>(parsed);
    McpPeer peer = peer_;
    peer.principal.request_id = new_ulid(server_.clock().now(), server_.random());
    if (message.kind == RpcMessage::Kind::Notification) return server_.notification(peer, message);
    if (message.kind == RpcMessage::Kind::Response) return server_.response(peer, message);
    if (is_modern(message)) return modern_request(std::move(peer), message);
    if (message.method == "initialize") return initialize(message);
    server_.request(peer, message, std::make_shared<StdioReply>(writer_));
  }

  void modern_request(McpPeer peer, const RpcMessage& message) {
    auto terms = read_modern_terms(message, nullptr);
    if (const auto* fault = std::get_if<RpcFault>(&terms)) return send(rpc_error(*fault));
    auto& [protocol, capabilities] = std::get<ModernTerms>(terms);
    peer.protocol = protocol;
    peer.session = nullptr;
    peer.client_capabilities = std::move(capabilities);
    server_.request(peer, message, std::make_shared<StdioReply>(writer_));
  }

  void handle_batch(std::string_view line) {
    if (!peer_.protocol || !peer_.protocol->has_batch) return send(rpc_error(no_rpc_batches()));
    const auto parsed = parse_rpc_batch(line);
    if (const auto* fault = std::get_if<RpcFault>(&parsed)) return send(rpc_error(*fault));
    const auto& messages = std::get<std::vector<RpcParsed>>(parsed);
    const auto requests =
        static_cast<std::size_t>(std::count_if(messages.begin(), messages.end(), wants_answer));
    const auto batch = std::make_shared<StdioBatch>(writer_, requests);
    McpPeer peer = peer_;
    for (const RpcParsed& each : messages) {
      peer.principal.request_id = new_ulid(server_.clock().now(), server_.random());
      const auto* message = std::get_if<RpcMessage>(&each);
      if (!message)
        batch->settle(rpc_error(std::get<RpcFault>(each)));
      else if (message->kind == RpcMessage::Kind::Request)
        server_.request(peer, *message, std::make_shared<StdioBatchReply>(batch));
      else if (message->kind == RpcMessage::Kind::Notification)
        server_.notification(peer, *message);
      else
        server_.response(peer, *message);
    }
  }

  void initialize(const RpcMessage& message) {
    if (peer_.protocol)
      return send(rpc_error(
          {kRpcInvalidRequest, "This session is initialised already.", nullptr, message.id}));
    const auto handshake = server_.initialize(message);
    peer_.protocol = peer_.session->protocol = handshake.protocol;
    peer_.client_capabilities = peer_.session->client_capabilities = handshake.client_capabilities;
    send(handshake.answer.message);
  }

  const std::shared_ptr<WakeFd> wake_ =
      std::make_shared<WakeFd>();  // shared with the writer's thread
  McpServer server_;
  McpPeer peer_;
  const std::shared_ptr<LineWriter> writer_;  // shared with answers that come late
  std::optional<steady_clock::time_point> stalled_since_;
  std::uint64_t written_then_ = 0;
};

}  // namespace

int serve_mcp_stdio(Dispatcher& dispatcher, const Principal& principal, int in, int out,
                    const CancelToken& stop) {
  return serve_mcp_stdio(dispatcher, principal, in, out, stop, {});
}

int serve_mcp_stdio(Dispatcher& dispatcher, const Principal& principal, int in, int out,
                    const CancelToken& stop, const McpOptions& options) {
  StdioSession session(dispatcher, principal, out, options);
  session.run(in, out, stop);
  return 0;
}

}  // namespace indx
