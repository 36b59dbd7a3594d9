#include "cli/sse_reader.hpp"

#include <utility>

namespace indx {

bool SseReader::add(std::string_view bytes, const std::function<bool(const SseFrame&)>& on_frame) {
  rest_ += bytes;
  std::size_t begin = 0;
  for (auto end = rest_.find('\n'); end != rest_.npos; end = rest_.find('\n', begin)) {
    std::string_view line(rest_.data() + begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    begin = end + 1;
    if (!line.empty()) {
      take_line(line);
      continue;
    }
    const SseFrame frame = std::exchange(frame_, {});
    if (!frame.data.empty() && !on_frame(frame)) return false;
  }
  rest_.erase(0, begin);
  return true;
}

void SseReader::take_line(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == 0) return;
  const auto field = line.substr(0, colon);
  auto value = colon == line.npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "id") frame_.id = value;
  if (field == "event") frame_.event = value;
  if (field == "data") frame_.data += (frame_.data.empty() ? "" : "\n") + std::string(value);
}

}  // namespace indx
