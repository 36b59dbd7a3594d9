// The answers of models that are kept for who asks the same again. The cache is asked where a model
// would be, behind the stored steps of a job. A new answer goes into it only when the item of work
// that asked came to its end and the operation did not find it useless: a bad answer must not be
// the answer for a day.
#include "actors/engine_context.hpp"
#include "ai/answer_key.hpp"

#include <algorithm>
#include <cmath>

namespace indx {
namespace {

/// Of one run in memory; then they are written before its end.
constexpr std::size_t kMostAnswersWaiting = 256;
constexpr double kMillisPerHour = 3'600'000;

milliseconds usual_time(const AiConfig& config) {
  return milliseconds(std::llround(config.cache_ttl_hours * kMillisPerHour));
}

}  // namespace

/// nullopt: this call neither takes nor keeps answers.
std::optional<EngineContext::AnswerPlace> EngineContext::answer_place(
    const GenerateRequest& request) const {
  if (!core_.parts.answers) return std::nullopt;
  const Operation* operation = core_.parts.registry.find(run_->operation);
  if (operation == nullptr || !operation->is_ai || !input().value("cache", true))
    return std::nullopt;
  const auto& config = core_.parts.config.ai;
  AnswerKey key{.operation = run_->operation,
                .provider = provider(),
                .model = model(),
                .request = request,
                .input = input(),
                .content = {notes_read_.begin(), notes_read_.end()}};
  key.request.max_output_tokens = std::min(request.max_output_tokens, config.max_output_tokens);
  const auto seconds = input().find("cache_ttl_seconds");
  const bool is_said = seconds != input().end() && seconds->is_number_integer();
  return AnswerPlace{key.hash(),
                     is_said ? milliseconds(std::chrono::seconds(seconds->get<std::int64_t>()))
                             : usual_time(config)};
}

std::optional<GenerateReply> EngineContext::kept_answer(const AnswerPlace& place) {
  const auto found = core_.parts.answers->find(place.key, core_.parts.clock.now(), place.keep_for);
  auto reply = found ? generate_reply_from_json(*found) : Result<GenerateReply>(Error{});
  const bool is_hit = found && reply.has_value();
  core_.parts.metrics.ai_cache_lookups.of({is_hit ? "hit" : "miss"}).add();
  if (!is_hit) return std::nullopt;
  reply->is_kept = true;
  reply->usage = {.input_tokens = 0, .output_tokens = 0, .cost_usd = 0.0, .source = "reported"};
  return std::move(*reply);
}

/// To be kept when the item of work in hand comes to its end.
void EngineContext::remember_answer(const AnswerPlace& place, const GenerateReply& reply) {
  answers_.push_back({place.key, to_json(reply), place.keep_for});
}

/// An item of a map came to its end: what it asked waits with the others of the run.
void EngineContext::hand_answers_over() {
  if (answers_.empty()) return;
  std::vector<AiCache::Answer> full;
  {
    const std::scoped_lock lock(run_->mutex);
    auto& waiting = run_->answers;
    std::move(answers_.begin(), answers_.end(), std::back_inserter(waiting));
    if (waiting.size() >= kMostAnswersWaiting) full.swap(waiting);
  }
  answers_.clear();
  if (!full.empty()) core_.parts.answers->put(full, core_.parts.clock.now());
}

void EngineContext::keep_answers() {
  hand_answers_over();
  std::vector<AiCache::Answer> all;
  {
    const std::scoped_lock lock(run_->mutex);
    all.swap(run_->answers);
  }
  if (!all.empty()) core_.parts.answers->put(all, core_.parts.clock.now());
}

Models::KeptAnswers EngineContext::kept_answers() {
  KeptAnswers kept;
  auto* answers = core_.parts.answers.get();
  kept.is_enabled = answers != nullptr;
  if (answers == nullptr) return kept;
  kept.hits_24h = answers->lookups_since(core_.parts.clock.now() - std::chrono::hours(23)).hits;
  kept.size_bytes = answers->size_bytes();
  return kept;
}

}  // namespace indx
