#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace indx {

/// One event of a text/event-stream.
struct SseFrame {
  std::string id, event, data;
};

/// Cuts the bytes of a text/event-stream into events; comments and retry lines are passed over.
class SseReader {
 public:
  /// `on_frame` returns false to stop; then so does `add`.
  bool add(std::string_view bytes, const std::function<bool(const SseFrame&)>& on_frame);

 private:
  void take_line(std::string_view line);

  std::string rest_;
  SseFrame frame_;
};

}  // namespace indx
