#include "ai/provider.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace indx {
namespace {

constexpr auto kRetryWindow = std::chrono::seconds(60);
constexpr std::chrono::milliseconds kFirstWait{500};
constexpr const char* kFinishNames[] = {"stop", "length", "content_filter", "error"};

bool is_blank(const AiUsage& usage) {
  return usage.input_tokens == 0 && usage.output_tokens == 0 && !usage.cost_usd;
}

void wait_unless_cancelled(std::chrono::milliseconds time, const CancelToken& cancel) {
  std::mutex mutex;
  std::condition_variable wake;
  const auto registration = cancel.on_cancel([&] {
    const std::scoped_lock lock(mutex);
    wake.notify_all();
  });
  std::unique_lock lock(mutex);
  wake.wait_for(lock, time, [&] { return cancel.is_cancelled(); });
}

/// What a model is told whose answer was no JSON of the wanted shape.
ChatMessage second_question(const Error& error) {
  const auto problem = error.details.value("upstream_message", "");
  return {"user", cat("Your last answer cannot be used: ",
                      problem.empty() ? "it is not valid JSON" : problem,
                      ". Answer again with the JSON object alone.")};
}

constexpr std::size_t kShortestEcho = 12;

/// A provider that repeats the prompt in its complaint must not carry it into logs, events and the
/// records of jobs (row D70). What stands in the messages is taken out of what it said.
void hide_echo(Error& error, const GenerateRequest& request) {
  if (!error.details.is_object() || !error.details.contains("upstream_message")) return;
  auto& told = error.details["upstream_message"];
  if (!told.is_string()) return;
  const auto text = told.get<std::string>();
  std::vector<bool> is_echo(text.size());
  for (std::size_t i = 0; i + kShortestEcho <= text.size(); ++i) {
    const auto piece = std::string_view(text).substr(i, kShortestEcho);
    if (std::any_of(request.messages.begin(), request.messages.end(), [&](const auto& message) {
          return message.content.find(piece) != std::string::npos;
        }))
      std::fill_n(is_echo.begin() + static_cast<std::ptrdiff_t>(i), kShortestEcho, true);
  }
  std::string rest;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (!is_echo[i])
      rest += text[i];
    else if (i == 0 || !is_echo[i - 1])
      rest += "[prompt]";
  told = replace_invalid_utf8(rest);
}

Error call_cancelled() {
  return make_error(Reason::Cancelled, "The call to the AI provider was cancelled.");
}

}  // namespace

AiUsage& AiUsage::operator+=(const AiUsage& other) {
  if (is_blank(other)) return *this;
  if (is_blank(*this)) return *this = other;
  input_tokens += other.input_tokens;
  output_tokens += other.output_tokens;
  if (cost_usd && other.cost_usd)
    *cost_usd += *other.cost_usd;
  else
    cost_usd.reset();  // a sum with an unknown part is unknown
  if (other.source != "reported") source = other.source;
  return *this;
}

Json to_json(const AiUsage& usage) {
  return {{"input_tokens", usage.input_tokens},
          {"output_tokens", usage.output_tokens},
          {"cost_usd", usage.cost_usd ? Json(*usage.cost_usd) : Json()},
          {"source", usage.source}};
}

std::optional<AiUsage> billed_usage(const Error& error) {
  if (!error.details.is_object()) return std::nullopt;
  const auto billed = error.details.find("usage");
  if (billed == error.details.end() || !billed->is_object()) return std::nullopt;
  AiUsage usage;
  usage.input_tokens = billed->value("input_tokens", std::int64_t{0});
  usage.output_tokens = billed->value("output_tokens", std::int64_t{0});
  usage.source = billed->value("source", usage.source);
  if (const auto it = billed->find("cost_usd"); it != billed->end() && it->is_number())
    usage.cost_usd = it->get<double>();
  return usage;
}

Json to_json(const GenerateReply& reply) {
  return {{"text", reply.text},
          {"structured", reply.structured},
          {"usage", to_json(reply.usage)},
          {"finish_reason", kFinishNames[static_cast<std::size_t>(reply.finish_reason)]}};
}

Result<GenerateReply> generate_reply_from_json(const Json& json) {
  try {
    GenerateReply reply;
    reply.text = json.at("text").get<std::string>();
    reply.structured = json.at("structured");
    const auto& usage = json.at("usage");
    reply.usage.input_tokens = usage.at("input_tokens").get<std::int64_t>();
    reply.usage.output_tokens = usage.at("output_tokens").get<std::int64_t>();
    if (usage.at("cost_usd").is_number()) reply.usage.cost_usd = usage.at("cost_usd").get<double>();
    reply.usage.source = usage.at("source").get<std::string>();
    const auto* name = std::find(std::begin(kFinishNames), std::end(kFinishNames),
                                 json.at("finish_reason").get<std::string>());
    if (name == std::end(kFinishNames))
      return internal_error("A stored model reply has an unknown finish reason.");
    reply.finish_reason = static_cast<FinishReason>(name - std::begin(kFinishNames));
    return reply;
  } catch (const Json::exception&) {
    return internal_error("A stored model reply cannot be read.");
  }
}

Result<GenerateReply> Provider::generate_stream(const GenerateRequest& request,
                                                const CancelToken& cancel,
                                                const OnDelta& on_delta) {
  auto reply = generate(request, cancel);
  if (reply && !reply->text.empty()) on_delta(reply->text);
  if (reply) reply->came_whole = true;
  return reply;
}

Result<std::vector<std::string>> Provider::list_models(const CancelToken&) {
  return std::vector{model()};
}

bool is_transient(const Error& error) {
  if (error.reason != Reason::AiProviderError) return false;
  const auto cause = error.details.value("cause", "");
  if (cause == "timeout" || cause == "connect") return true;
  if (cause != "status" || error.details.value("upstream_code", "") == "insufficient_quota")
    return false;
  const auto status = error.details.value("upstream_status", 0);
  return status == 408 || status == 429 || status >= 500;
}

std::optional<std::chrono::milliseconds> retry_after(const Error& error) {
  const auto it = error.details.find("retry_after_ms");
  if (it == error.details.end() || !it->is_number_integer()) return std::nullopt;
  return std::chrono::milliseconds(it->get<std::int64_t>());
}

Result<GenerateReply> generate_with_retry(Provider& provider, const GenerateRequest& request,
                                          const CancelToken& cancel, const RetryHooks& hooks) {
  const auto now = [&] {
    return hooks.now ? hooks.now() : std::chrono::steady_clock::now().time_since_epoch();
  };
  const auto begin = now();
  auto asked = request;
  bool has_asked_again = false, has_begun = false;
  const OnDelta on_delta = [&](std::string_view delta) {
    has_begun = true;
    hooks.on_delta(delta);
  };
  for (int attempt = 1;; ++attempt) {
    if (cancel.is_cancelled()) return call_cancelled();
    if (hooks.on_attempt) INDX_TRY(hooks.on_attempt(attempt));
    auto result = hooks.on_delta ? provider.generate_stream(asked, cancel, on_delta)
                                 : provider.generate(asked, cancel);
    if (!result) hide_echo(result.error(), asked);
    if (hooks.on_result) hooks.on_result(attempt, result);
    const bool is_final = has_begun && !hooks.may_restart;
    if (result || is_final || attempt > hooks.most_retries) return result;
    if (!has_asked_again && result.error().details.value("may_ask_again", false)) {
      asked.messages.push_back(second_question(result.error()));
      has_asked_again = true;
      continue;
    }
    if (!is_transient(result.error())) return result;
    const auto pause = std::max(kFirstWait * (1 << (attempt - 1)),
                                retry_after(result.error()).value_or(kFirstWait));
    if (now() - begin + pause > kRetryWindow) return result;
    if (hooks.wait)
      hooks.wait(pause, cancel);
    else
      wait_unless_cancelled(pause, cancel);
  }
}

std::int64_t estimate_tokens(std::string_view text) {
  std::int64_t quarters = 0;
  for (std::size_t i = 0; i < text.size();) {
    const auto point = decode_at(text, i);
    i += point.length;
    const bool is_latin = point.value < 0x250;
    const bool is_alphabetic =
        point.value < 0x1100;  // Greek to Georgian: about two characters a token
    quarters += is_latin ? 1 : is_alphabetic ? 2 : 4;
  }
  return (quarters + 3) / 4;
}

}  // namespace indx
