#pragma once
#include "ai/provider.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

namespace indx {

/// What a minute may hold; 0: any number.
struct RateLimits {
  std::int64_t requests_per_minute = 0;
  std::int64_t tokens_per_minute = 0;
};

/// What keeps a call from its start.
enum class RateWait : std::uint8_t { None, Requests, Tokens, RetryAfter };
/// `requests_per_minute`, `tokens_per_minute`, `retry_after`; empty for None.
std::string_view name(RateWait wait);

/// When calls of one provider may start: a sliding window log. No minute, wherever it begins, holds
/// the starts of more requests or more tokens than the limits say, and all that they allow can be
/// used at once. Who comes first starts first, so that a large call is not overtaken by small ones
/// for ever. A call of more tokens than a minute allows starts when the minute before it is empty.
///
/// Source: the sliding log in "An alternative approach to rate limiting" (Figma, 2017), the exact
/// one of the usual algorithms. A token bucket (GCRA, ITU-T I.371) needs no log, but lets through
/// up to twice its limit in some minute, or no more than a part of it at once.
///
/// A plain value without threads and clock: times are monotonic and must not go back. Costs one
/// entry for each call of the last minute.
class RateLimiter {
 public:
  using Time = std::chrono::nanoseconds;
  static constexpr Time kWindow = std::chrono::minutes(1);

  explicit RateLimiter(RateLimits limits) : limits_(limits) {}

  /// A place among the starts.
  struct Place {
    std::uint64_t id = 0;  ///< 0: none was taken, for `at` is too late
    Time at{};             ///< when the call may start; not before `now`
    RateWait why = RateWait::None;
  };
  /// The earliest start of a call of so many tokens; taken unless it is later than `now + longest`.
  /// `longest` is at most a minute.
  Place take(Time now, std::int64_t tokens, Time longest);
  /// What the call has really used; its request stays counted. Nothing after a minute.
  void settle(std::uint64_t id, std::int64_t tokens);
  /// The call is not made.
  void give_back(std::uint64_t id);

  /// Nobody starts before `until`: the provider said so. An earlier time changes nothing.
  void hold(Time until);
  Time held_until() const { return held_until_; }

 private:
  struct Start {
    std::uint64_t id = 0;
    Time at{};
    std::int64_t tokens = 0;
    RateWait why = RateWait::None;
  };
  std::deque<Start>::iterator find(std::uint64_t id);
  void wait_for_tokens(Place& place, std::int64_t tokens) const;

  const RateLimits limits_;
  std::deque<Start> starts_;  ///< of the last minute and to come, in order
  std::int64_t tokens_ = 0;   ///< of all `starts_`
  std::uint64_t last_id_ = 0;
  Time held_until_{};
};

/// An upper-biased estimate of what a call uses: its prompt and schema, and the longest answer.
std::int64_t estimate_call_tokens(const GenerateRequest& request);
/// What a call has used, by its reply or an error that was billed; none for one that the server
/// refused with a status, or that was never sent. nullopt: nobody knows, as after a timeout.
std::optional<std::int64_t> used_tokens(const Result<GenerateReply>& reply);

/// Whether the provider asks to be left alone for a while: a 429 that is no used-up budget, or
/// another passing failure with a Retry-After.
bool asks_to_wait(const Error& error);

}  // namespace indx
