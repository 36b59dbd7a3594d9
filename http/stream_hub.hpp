#pragma once
#include "base/result.hpp"
#include "http/file_tail.hpp"
#include "http/router.hpp"
#include "http/unique_fd.hpp"

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace indx {

class HubStream;

/// What streams tell the hub's thread; outlives it, so that a late answer finds a closed door and
/// not a hole.
struct HubInbox {
  std::mutex mutex;
  std::vector<std::shared_ptr<HubStream>> changed;
  std::vector<std::function<void()>> tasks;
  bool is_stopped = false;
  UniqueFd wake;

  /// False: the hub is stopped and nobody will look.
  bool post(std::shared_ptr<HubStream> stream);
  void post(std::function<void()> task);
};

/// A socket that was taken from the front. Any thread may write; only the hub's thread touches the
/// socket.
class HubStream : public ResponseStream, public std::enable_shared_from_this<HubStream> {
 public:
  struct Options {
    std::string first;  ///< bytes to send at once
    FileTail tail;      ///< to send after them
    std::size_t max_buffer = 256U << 10U;
    bool has_heartbeat = false;  ///< `: hb` when nothing else was sent
    bool only_flushes = false;   ///< ends when all is sent; a half-closed peer may still read
    /// Gets the socket back when all is sent; empty: it is closed.
    std::function<void(UniqueFd)> give_back;
    std::function<void()> on_gone;      ///< the peer left before the end
    std::function<void()> on_overflow;  ///< it reads too slowly and is ended; must not block
  };

  HubStream(UniqueFd fd, Options options, std::shared_ptr<HubInbox> inbox);
  bool write(std::string frame) override;
  bool write_shared(std::shared_ptr<const std::string> frame) override;
  void when_drained(std::function<void()> callback) override;
  void close() override;
  /// The last bytes, however many.
  void finish(std::string bytes, FileTail tail = {});
  /// Runs at once on the hub's thread when the peer has left already.
  void set_on_gone(std::function<void()> callback);
  void set_heartbeat(bool has_heartbeat) { has_heartbeat_ = has_heartbeat; }

 private:
  friend class StreamHub;
  using Bytes = std::shared_ptr<const std::string>;  // shared: with other streams
  void announce();
  void queue(std::string bytes) {
    frames_.push_back(std::make_shared<const std::string>(std::move(bytes)));
  }

  std::mutex mutex_;  // guards what follows
  std::deque<Bytes> frames_;
  std::size_t offset_ = 0;  // sent of the first frame
  std::size_t queued_ = 0;
  FileTail tail_;  // read when no frame is left
  bool is_closing_ = false, is_over_ = false, has_left_ = false, is_announced_ = false;
  std::function<void()> on_gone_, on_drained_;

  const std::function<void()> on_overflow_;
  const std::size_t max_buffer_;
  const bool only_flushes_;
  std::atomic<bool> has_heartbeat_;
  const std::shared_ptr<HubInbox> inbox_;  // shared with the hub and all its streams

  // Only for the hub's thread.
  UniqueFd fd_;
  std::function<void(UniqueFd)> give_back_;
  bool is_registered_ = false, wants_out_ = false;
  std::chrono::steady_clock::time_point last_sent_, last_progress_;
};

/// One epoll thread for every socket that waits for an answer, carries a stream, or is slow to take
/// a long reply.
class StreamHub {
 public:
  struct Settings {
    std::chrono::milliseconds heartbeat{15000};
    std::chrono::milliseconds stall{
        10000};  ///< a closing stream whose peer takes nothing for so long is dropped
  };
  static Result<std::unique_ptr<StreamHub>> start(Settings settings);
  ~StreamHub();
  StreamHub(const StreamHub&) = delete;
  StreamHub& operator=(const StreamHub&) = delete;

  std::shared_ptr<HubStream> adopt(UniqueFd fd, HubStream::Options options);
  /// Sends what is queued for at most `grace`, then ends every stream without telling that peers
  /// left.
  void stop(std::chrono::milliseconds grace);
  std::size_t size() const { return size_; }

 private:
  StreamHub(Settings settings, UniqueFd epoll, std::shared_ptr<HubInbox> inbox);
  void run();
  int wait_millis() const;
  void take_inbox();
  void handle(int fd, unsigned events);
  void admit(const std::shared_ptr<HubStream>& stream);
  void flush(const std::shared_ptr<HubStream>& stream);
  void beat();
  enum class End : std::uint8_t { Complete, PeerLeft, Stopped };
  void end(const std::shared_ptr<HubStream>& stream, End how);

  const Settings settings_;
  UniqueFd epoll_;
  const std::shared_ptr<HubInbox> inbox_;
  std::vector<std::shared_ptr<HubStream>> by_fd_;  // only for the thread
  std::size_t count_ = 0;
  std::atomic<std::size_t> size_ = 0;
  std::atomic<std::int64_t> stop_by_{0};  // steady nanoseconds; 0: not stopping
  std::thread thread_;
};

}  // namespace indx
