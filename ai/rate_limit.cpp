#include "ai/rate_limit.hpp"

#include "base/json_text.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr int kTooManyRequests = 429;

}  // namespace

std::string_view name(RateWait wait) {
  switch (wait) {
    case RateWait::None:
      return "";
    case RateWait::Requests:
      return "requests_per_minute";
    case RateWait::Tokens:
      return "tokens_per_minute";
    case RateWait::RetryAfter:
      return "retry_after";
  }
  return "";
}

RateLimiter::Place RateLimiter::take(Time now, std::int64_t tokens, Time longest) {
  while (!starts_.empty() && starts_.front().at + kWindow <= now) {
    tokens_ -= starts_.front().tokens;
    starts_.pop_front();
  }
  Place place{.id = 0, .at = now, .why = RateWait::None};
  const auto raise = [&](Time at, RateWait why) {
    if (at > place.at) place.at = at, place.why = why;
  };
  if (!starts_.empty()) raise(starts_.back().at, starts_.back().why);  // behind who came before
  raise(held_until_, RateWait::RetryAfter);
  if (const auto most = static_cast<std::size_t>(limits_.requests_per_minute);
      most > 0 && starts_.size() >= most)
    raise(starts_[starts_.size() - most].at + kWindow, RateWait::Requests);
  const auto limit = limits_.tokens_per_minute;
  const auto cost = limit > 0 ? std::clamp(tokens, std::int64_t{0}, limit) : std::int64_t{0};
  if (limit > 0) wait_for_tokens(place, cost);
  if (place.at > now + longest) return place;

  place.id = ++last_id_;
  if (limits_.requests_per_minute == 0 && limit == 0) return place;  // nothing to count
  starts_.push_back({place.id, place.at, cost, place.why});
  tokens_ += cost;
  return place;
}

/// Moves the start behind as many earlier ones as have to leave the window first.
void RateLimiter::wait_for_tokens(Place& place, std::int64_t tokens) const {
  auto used = tokens_;
  for (const auto& start : starts_) {
    const bool has_left = start.at + kWindow <= place.at;
    if (!has_left && used + tokens <= limits_.tokens_per_minute) return;
    used -= start.tokens;
    if (has_left) continue;
    place.at = start.at + kWindow;
    place.why = RateWait::Tokens;
  }
}

std::deque<RateLimiter::Start>::iterator RateLimiter::find(std::uint64_t id) {
  return std::lower_bound(
      starts_.begin(), starts_.end(), id,
      [](const Start& start, std::uint64_t wanted) { return start.id < wanted; });
}

void RateLimiter::settle(std::uint64_t id, std::int64_t tokens) {
  const auto start = find(id);
  if (start == starts_.end() || start->id != id || limits_.tokens_per_minute == 0) return;
  tokens_ += tokens - start->tokens;
  start->tokens = tokens;
}

void RateLimiter::give_back(std::uint64_t id) {
  const auto start = find(id);
  if (start == starts_.end() || start->id != id) return;
  tokens_ -= start->tokens;
  starts_.erase(start);
}

void RateLimiter::hold(Time until) { held_until_ = std::max(held_until_, until); }

std::int64_t estimate_call_tokens(const GenerateRequest& request) {
  std::int64_t tokens = request.max_output_tokens + estimate_tokens(request.system);
  for (const auto& message : request.messages) tokens += estimate_tokens(message.content);
  if (!request.json_schema.is_null()) tokens += estimate_tokens(json_text(request.json_schema));
  return tokens;
}

std::optional<std::int64_t> used_tokens(const Result<GenerateReply>& reply) {
  if (reply.has_value()) return reply->usage.input_tokens + reply->usage.output_tokens;
  const auto& details = reply.error().details;
  if (!details.is_object()) return std::nullopt;
  const auto usage = details.find("usage");
  if (usage == details.end() || !usage->is_object()) {
    const bool is_refused = details.value("cause", "") == "status";
    if (is_refused || !details.value("was_sent", true)) return 0;
    return std::nullopt;
  }
  const auto number = [&](const char* key) {
    const auto it = usage->find(key);
    return it != usage->end() && it->is_number_integer() ? it->get<std::int64_t>()
                                                         : std::int64_t{0};
  };
  return number("input_tokens") + number("output_tokens");
}

bool asks_to_wait(const Error& error) {
  if (!is_transient(error)) return false;
  return error.details.value("upstream_status", 0) == kTooManyRequests ||
         retry_after(error).has_value();
}

}  // namespace indx
