#include "ai/stream_reader.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

std::vector<StreamEvent> StreamReader::feed(std::string_view bytes) {
  std::vector<StreamEvent> out;
  while (!bytes.empty()) {
    if (after_cr_ && bytes.front() == '\n') bytes.remove_prefix(1);  // the rest of a CRLF
    after_cr_ = false;
    const auto end = bytes.find_first_of("\r\n");
    line_ += bytes.substr(0, end);
    if (end == bytes.npos) break;
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    end_line(out);
  }
  return out;
}

std::vector<StreamEvent> StreamReader::finish() {
  std::vector<StreamEvent> out;
  if (framing_ == StreamFraming::Lines) end_line(out);
  line_.clear(), event_.clear(), data_.clear();
  has_data_ = false;
  return out;
}

void StreamReader::end_line(std::vector<StreamEvent>& out) {
  if (is_first_line_ && line_.starts_with(kByteOrderMark)) line_.erase(0, kByteOrderMark.size());
  is_first_line_ = false;
  if (framing_ == StreamFraming::Lines) {
    if (!trim(line_).empty()) out.push_back({"", line_});
  } else if (!line_.empty()) {
    end_field(line_);
  } else {
    if (has_data_) out.push_back({std::move(event_), std::move(data_)});
    event_.clear(), data_.clear();
    has_data_ = false;
  }
  line_.clear();
}

void StreamReader::end_field(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == 0) return;  // a comment: servers send them to keep the connection open
  const auto name = line.substr(0, colon);
  auto value = colon == line.npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (name == "event") event_ = value;
  if (name != "data") return;
  if (has_data_) data_ += '\n';
  data_ += value;
  has_data_ = true;
}

}  // namespace indx
