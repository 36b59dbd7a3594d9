#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace indx {

/// Wakes a poll from any thread.
class WakeFd {
 public:
  WakeFd();
  ~WakeFd();
  WakeFd(const WakeFd&) = delete;
  WakeFd& operator=(const WakeFd&) = delete;
  int get() const { return fd_; }
  void wake() const;

 private:
  int fd_;
};

/// Lines to one reader, written whole and in order by a thread of its own, so that nobody waits for
/// a slow one. Thread-safe.
class LineWriter {
 public:
  LineWriter(int fd, std::shared_ptr<WakeFd> on_broken);
  ~LineWriter() { close(); }
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  /// Adds the newline. Nothing happens when the reader is gone.
  void write(std::string line);
  std::size_t queued_bytes() const { return queued_bytes_; }
  /// All that the reader has taken so far.
  std::uint64_t written_bytes() const { return written_bytes_; }
  bool is_broken() const { return is_broken_; }
  /// Writes what is queued, for a moment at most, then nothing any more.
  void close();

 private:
  void run();
  bool is_late();
  bool write_line(const std::string& line);

  const int fd_;
  const std::shared_ptr<WakeFd> on_broken_;  // shared: answers may come after the reader has left
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> lines_;
  std::atomic<std::size_t> queued_bytes_ = 0;
  std::atomic<std::uint64_t> written_bytes_ = 0;
  std::atomic<bool> is_broken_ = false;
  bool is_closed_ = false;
  std::chrono::steady_clock::time_point flush_until_;
  std::thread thread_;  // last: it uses the members above
};

}  // namespace indx
