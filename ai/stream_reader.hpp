#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// One event of a model's stream; of NDJSON, `event` is empty and `data` the line.
struct StreamEvent {
  std::string event;
  std::string data;

  bool operator==(const StreamEvent&) const = default;
};

/// How the events of a stream are told apart.
enum class StreamFraming : std::uint8_t { ServerSentEvents, Lines };

/// Cuts a stream into events however its bytes are split on the way: between any two bytes, also
/// inside a character. Server-sent events follow the WHATWG rules: LF, CR or CRLF ends a line, a
/// blank line an event, several `data` lines are joined by LF, comments and unknown fields are
/// left out, and an event without data is none.
class StreamReader {
 public:
  explicit StreamReader(StreamFraming framing) : framing_(framing) {}

  /// The events that `bytes` complete.
  std::vector<StreamEvent> feed(std::string_view bytes);
  /// At the end of the input: of NDJSON the last line, which may lack its line break. A
  /// server-sent event that is not ended by a blank line does not count.
  std::vector<StreamEvent> finish();
  /// What is held back until its end comes, for limits.
  std::size_t pending_bytes() const { return line_.size() + data_.size(); }

 private:
  void end_line(std::vector<StreamEvent>& out);
  void end_field(std::string_view line);

  const StreamFraming framing_;
  std::string line_, event_, data_;
  bool has_data_ = false, after_cr_ = false, is_first_line_ = true;
};

}  // namespace indx
