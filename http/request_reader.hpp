#pragma once
#include "http/router.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace indx {

/// Cuts the bytes of one connection into whole requests, under rules that leave no room for
/// smuggling: what two readers could understand differently is refused, and a refusal ends the
/// connection. Knows no sockets and no clock.
class RequestReader {
 public:
  enum class State : std::uint8_t { Idle, Head, Body, Complete, Refused };
  struct Refusal {
    int status = 400;
    std::string message;
    std::optional<HttpResponse> response = {};  ///< the whole answer, where it is more than that
  };
  struct Parsed {
    HttpRequest request;
    bool keep_alive = false;
  };
  static constexpr std::size_t kMaxHeadBytes = 16U << 10U;

  /// `plan` is asked once a head; empty: every body of up to `max_body_bytes` goes into memory.
  explicit RequestReader(std::size_t max_body_bytes, PlanBody plan = {})
      : max_body_bytes_(max_body_bytes), plan_(std::move(plan)) {}

  /// Takes more bytes; those after a complete request wait until `take`.
  void feed(std::string_view bytes);
  State state() const { return state_; }
  const Refusal& refusal() const { return refusal_; }
  std::uint64_t body_received() const;
  /// In memory.
  std::size_t held_bytes() const {
    return buffer_.size() + (parsed_ ? parsed_->request.body.size() : 0);
  }
  /// True once per request whose sender waits for `100 Continue`.
  bool take_continue();
  /// The complete request; goes on with the bytes behind it.
  Parsed take();

 private:
  void advance();
  bool read_head();
  bool read_sized_body();
  bool read_chunked_body();
  bool take_line(std::string* line);
  void refuse(int status, std::string message);
  bool take_body(std::string_view bytes);
  void parse_head(std::string_view head);
  void choose_framing(const std::vector<std::string>& lengths, const std::string& coding,
                      bool is_http_1_0);

  enum class Chunk : std::uint8_t { Size, Data, DataEnd, Trailer };

  std::size_t max_body_bytes_;
  PlanBody plan_;
  std::uint64_t body_limit_ = 0;  // of this request
  State state_ = State::Idle;
  Refusal refusal_;
  std::string buffer_;
  std::size_t scanned_ = 0;         // no end of head before here
  std::unique_ptr<Parsed> parsed_;  // from the head on
  bool is_chunked_ = false, expects_continue_ = false;
  Chunk chunk_ = Chunk::Size;
  std::uint64_t body_left_ = 0;  // of the body, or of the current chunk
  std::size_t trailer_bytes_ = 0;
};

/// `a=1&b=%20` decoded, in order.
std::vector<std::pair<std::string, std::string>> parse_query(std::string_view text);

}  // namespace indx
