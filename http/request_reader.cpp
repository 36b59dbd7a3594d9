#include "http/request_reader.hpp"

#include "base/text.hpp"

#include <Poco/Exception.h>
#include <Poco/Net/HTTPRequest.h>

#include <algorithm>
#include <sstream>

namespace indx {
namespace {

bool is_token_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

std::string lower_ascii(std::string text) {
  for (auto& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

/// Whether a value is longer than Poco takes.
bool has_long_value(std::string_view head) {
  constexpr std::size_t kMaxValueBytes = 8192;
  for (auto end = head.find('\n'); end != head.npos; end = head.find('\n')) {
    head.remove_prefix(end + 1);  // the first line is no header
    const auto line = head.substr(0, head.find('\n'));
    if (line.size() - std::min(line.find(':'), line.size()) > kMaxValueBytes) return true;
  }
  return false;
}

/// Whether every line is one that all parsers read alike; Poco's is lenient.
bool is_strict_head(std::string_view head) {
  bool is_first = true;
  while (!head.empty()) {
    const auto end = head.find('\n');
    auto line = head.substr(0, end);
    head.remove_prefix(end == head.npos ? head.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) return !is_first;
    const auto name = line.substr(0, line.find(':'));
    if (!is_first && (name.size() == line.size() || name.empty() ||
                      !std::all_of(name.begin(), name.end(), is_token_char)))
      return false;
    if (std::any_of(line.begin(), line.end(), [](char c) { return is_control(c) && c != '\t'; }))
      return false;
    is_first = false;
  }
  return true;
}

/// The byte after the empty line that ends a head, or npos.
std::size_t end_of_head(std::string_view bytes, std::size_t from) {
  for (auto at = bytes.find('\n', from); at != bytes.npos; at = bytes.find('\n', at + 1)) {
    if (bytes.substr(at + 1, 1) == "\n") return at + 2;
    if (bytes.substr(at + 1, 2) == "\r\n") return at + 3;
  }
  return bytes.npos;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> parse_query(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& part : split(text, '&')) {
    if (part.empty()) continue;
    const auto plain = replace_all(part, "+", " ");
    const auto equals = plain.find('=');
    all.emplace_back(percent_decode(plain.substr(0, equals)),
                     equals == plain.npos ? "" : percent_decode(plain.substr(equals + 1)));
  }
  return all;
}

void RequestReader::refuse(int status, std::string message) {
  state_ = State::Refused;
  refusal_ = {status, std::move(message)};
  buffer_.clear();
  parsed_.reset();
}

void RequestReader::feed(std::string_view bytes) {
  if (state_ == State::Refused) return;
  if (state_ == State::Body &&
      !is_chunked_) {  // straight into the body, without a copy through the buffer
    const auto n = std::min<std::uint64_t>(bytes.size(), body_left_);
    if (!take_body(bytes.substr(0, n))) return;
    body_left_ -= n;
    bytes.remove_prefix(n);
  }
  buffer_.append(bytes);
  advance();
}

std::uint64_t RequestReader::body_received() const {
  if (!parsed_) return 0;
  const auto& request = parsed_->request;
  return request.body_file ? request.body_file->size() : request.body.size();
}

/// False: refused.
bool RequestReader::take_body(std::string_view bytes) {
  auto& request = parsed_->request;
  if (!request.body_file) {
    request.body.append(bytes);
    return true;
  }
  const auto kept = request.body_file->append(bytes);
  if (!kept) refuse(kept.error().http_status(), kept.error().message);
  return kept.has_value();
}

void RequestReader::advance() {
  bool goes_on = true;
  while (goes_on) {
    switch (state_) {
      case State::Idle:
      case State::Head:
        goes_on = read_head();
        break;
      case State::Body:
        goes_on = is_chunked_ ? read_chunked_body() : read_sized_body();
        break;
      case State::Complete:
      case State::Refused:
        goes_on = false;
        break;
    }
  }
}

bool RequestReader::read_head() {
  if (state_ == State::Idle) {
    const auto start = std::min(buffer_.find_first_not_of("\r\n"),
                                buffer_.size());  // empty lines between requests
    buffer_.erase(0, start);
    if (buffer_.empty()) return false;
    state_ = State::Head;
    scanned_ = 0;
  }
  const auto end = end_of_head(buffer_, scanned_ > 3 ? scanned_ - 3 : 0);
  if (end == buffer_.npos ? buffer_.size() >= kMaxHeadBytes : end > kMaxHeadBytes) {
    refuse(431, "The request head is larger than 16 kB.");
    return false;
  }
  scanned_ = buffer_.size();
  if (end == buffer_.npos) return false;
  const std::string head = buffer_.substr(0, end);
  buffer_.erase(0, end);
  parse_head(head);
  return true;
}

void RequestReader::parse_head(std::string_view head) {
  if (!is_strict_head(head)) return refuse(400, "The request head is malformed.");
  if (has_long_value(head)) return refuse(431, "A header is longer than 8 kB.");
  Poco::Net::HTTPRequest parsed;
  try {
    std::istringstream in{std::string(head)};
    parsed.read(in);
  } catch (const Poco::Exception&) {
    return refuse(400, "The request head is malformed.");
  }
  const bool is_http_1_0 = parsed.getVersion() == "HTTP/1.0";
  if (!is_http_1_0 && parsed.getVersion() != "HTTP/1.1")
    return refuse(505, "Only HTTP/1.0 and HTTP/1.1 are spoken here.");

  parsed_ = std::make_unique<Parsed>();
  auto& request = parsed_->request;
  request.is_http_1_0 = is_http_1_0;
  request.method = parsed.getMethod();
  std::string target = parsed.getURI();
  if (const auto scheme = target.find("://"); scheme != target.npos && !target.starts_with('/')) {
    const auto path = target.find_first_of("/?", scheme + 3);
    target = path == target.npos ? "/" : target.substr(path);
  }
  if (target.empty() || (target[0] != '/' && target != "*") || target.find('#') != target.npos)
    return refuse(400, "The request target must be a path.");
  const auto question = target.find('?');
  request.path = target.substr(0, question);
  if (question != target.npos)
    request.query = parse_query(std::string_view(target).substr(question + 1));

  std::vector<std::string> lengths;
  std::string coding;
  std::size_t hosts = 0;
  // Not as Poco gives them: it decodes encoded words (RFC 2047), which HTTP does not have.
  for (std::string_view lines = head.substr(std::min(head.find('\n') + 1, head.size()));;) {
    const auto line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    const auto colon = line.find(':');
    if (colon == line.npos) break;
    const auto key = lower_ascii(std::string(line.substr(0, colon)));
    const std::string text(trim(line.substr(colon + 1)));
    if (key == "content-length") lengths.push_back(text);
    if (key == "transfer-encoding") coding += (coding.empty() ? "" : ", ") + lower_ascii(text);
    if (key == "host") ++hosts;
    auto& held = request.headers[key];
    held += (held.empty() ? "" : ", ") + text;
  }
  if (hosts > 1 || (hosts == 0 && !is_http_1_0))
    return refuse(400, "Exactly one Host header is needed.");
  parsed_->keep_alive = parsed.getKeepAlive();
  choose_framing(lengths, coding, is_http_1_0);
}

void RequestReader::choose_framing(const std::vector<std::string>& lengths,
                                   const std::string& coding, bool is_http_1_0) {
  is_chunked_ = !coding.empty();
  if (is_chunked_ && (!lengths.empty() || is_http_1_0))
    return refuse(400, "Transfer-Encoding does not go with Content-Length or HTTP/1.0.");
  if (is_chunked_ && coding != "chunked")
    return refuse(501, "The only transfer coding understood is chunked.");
  if (lengths.size() > 1) return refuse(400, "There is more than one Content-Length.");

  body_left_ = 0;
  if (!lengths.empty()) {
    const auto& text = lengths[0];
    if (text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != text.npos)
      return refuse(400, "Content-Length must be a number.");
    body_left_ = std::stoull(text);
  }
  BodyPlan plan{max_body_bytes_, nullptr, std::nullopt};
  if (plan_) plan = plan_(parsed_->request);
  if (plan.refusal) {
    refuse(plan.refusal->status, {});
    refusal_.response = std::move(plan.refusal);
    return;
  }
  body_limit_ = plan.max_bytes;
  parsed_->request.body_file = std::move(plan.file);
  if (body_left_ > body_limit_)
    return refuse(413, cat("The body is larger than ", body_limit_, " bytes."));
  const auto& method = parsed_->request.method;
  const bool is_silent =
      !is_chunked_ && lengths.empty() && (method == "POST" || method == "PUT" || method == "PATCH");
  // A cut chunked body cannot be told from a whole one; and a peer that meant a body without
  // saying so must not have it read as a request.
  if (is_chunked_ || is_silent) parsed_->keep_alive = false;
  const auto expect = parsed_->request.headers.find("expect");
  expects_continue_ = expect != parsed_->request.headers.end() &&
                      lower_ascii(expect->second) == "100-continue" &&
                      (is_chunked_ || body_left_ > 0);
  chunk_ = Chunk::Size;
  trailer_bytes_ = 0;
  state_ = State::Body;
}

bool RequestReader::read_sized_body() {
  const auto n = std::min<std::uint64_t>(buffer_.size(), body_left_);
  if (!take_body(std::string_view(buffer_).substr(0, n))) return false;
  buffer_.erase(0, n);
  body_left_ -= n;
  if (body_left_ > 0) return false;
  state_ = State::Complete;
  return false;
}

/// One line without its CRLF; false when it is not here yet or was refused.
bool RequestReader::take_line(std::string* line) {
  const auto end = buffer_.find("\r\n");
  if (end == buffer_.npos) {
    if (buffer_.size() > 4096) refuse(400, "A chunk line is too long.");
    return false;
  }
  *line = buffer_.substr(0, end);
  buffer_.erase(0, end + 2);
  return true;
}

bool RequestReader::read_chunked_body() {
  std::string line;
  switch (chunk_) {
    case Chunk::Size: {
      if (!take_line(&line)) return false;
      const auto size = std::string(trim(line.substr(0, line.find(';'))));
      if (size.empty() || size.size() > 8 ||
          size.find_first_not_of("0123456789abcdefABCDEF") != size.npos) {
        refuse(400, "A chunk size is malformed.");
        return false;
      }
      body_left_ = std::stoul(size, nullptr, 16);
      if (body_received() + body_left_ > body_limit_) {
        refuse(413, cat("The body is larger than ", body_limit_, " bytes."));
        return false;
      }
      chunk_ = body_left_ == 0 ? Chunk::Trailer : Chunk::Data;
      return true;
    }
    case Chunk::Data: {
      const auto n = std::min<std::uint64_t>(buffer_.size(), body_left_);
      if (!take_body(std::string_view(buffer_).substr(0, n))) return false;
      buffer_.erase(0, n);
      body_left_ -= n;
      if (body_left_ == 0) chunk_ = Chunk::DataEnd;
      return body_left_ == 0;
    }
    case Chunk::DataEnd:
      if (buffer_.size() < 2) return false;
      if (!buffer_.starts_with("\r\n")) {
        refuse(400, "A chunk is longer than its size.");
        return false;
      }
      buffer_.erase(0, 2);
      chunk_ = Chunk::Size;
      return true;
    case Chunk::Trailer:
      if (!take_line(&line)) return false;
      trailer_bytes_ += line.size();
      if (trailer_bytes_ > kMaxHeadBytes) refuse(400, "The trailers are too long.");
      if (line.empty()) state_ = State::Complete;
      return state_ == State::Body;
  }
  return false;
}

bool RequestReader::take_continue() {
  return std::exchange(expects_continue_, false) && state_ == State::Body && body_received() == 0;
}

RequestReader::Parsed RequestReader::take() {
  INDX_ASSERT(state_ == State::Complete);
  Parsed parsed = std::move(*parsed_);
  parsed_.reset();
  state_ = State::Idle;
  scanned_ = 0;
  advance();
  return parsed;
}

}  // namespace indx
