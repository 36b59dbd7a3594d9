#pragma once
#include "base/cancel.hpp"
#include "base/config.hpp"
#include "base/result.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace indx {

enum class FinishReason : std::uint8_t { Stop, Length, ContentFilter, Error };

struct ChatMessage {
  std::string role;  ///< user | assistant
  std::string content;
};

struct GenerateRequest {
  std::string system;
  std::vector<ChatMessage> messages;
  Json json_schema;  ///< null: free text
  std::string schema_name;
  int max_output_tokens = 2048;
  double temperature = 0;
  std::int64_t seed = 0;
};

struct AiUsage {
  std::int64_t input_tokens = 0, output_tokens = 0;
  std::optional<double> cost_usd;    ///< nullopt: the price is unknown
  std::string source = "estimated";  ///< reported | estimated

  AiUsage& operator+=(const AiUsage& other);
};
Json to_json(const AiUsage& usage);

struct GenerateReply {
  std::string text;
  Json structured;  ///< parsed and checked against json_schema when one was given
  AiUsage usage;
  FinishReason finish_reason = FinishReason::Stop;
};
Json to_json(const GenerateReply& reply);
Result<GenerateReply> generate_reply_from_json(const Json& json);

/// One model server. `generate` blocks; call it where blocking is fine. Safe from several threads
/// at once.
class Provider {
 public:
  virtual ~Provider() = default;
  virtual std::string name() const = 0;
  virtual std::string model() const = 0;
  virtual bool can_generate() const = 0;
  /// Errors: `ai_provider_error` {provider, upstream_status, upstream_message, retry_after_ms?,
  /// usage? (the call was billed), cause: timeout | connect | status | parse | schema | refused},
  /// `ai_input_too_large`, `cancelled`. One call is one exchange: retries are generate_with_retry's
  /// business.
  virtual Result<GenerateReply> generate(const GenerateRequest& request,
                                         const CancelToken& cancel) = 0;
};

/// nullptr when no provider is configured: AI is off. Fails with `validation_failed` for an unknown
/// name or a missing model.
Result<std::unique_ptr<Provider>> make_provider(const AiConfig& config);

/// Whether the error is worth another try now (429, 5xx, timeout, connection lost), and how long
/// the server asks to wait.
bool is_transient(const Error& error);
std::optional<std::chrono::milliseconds> retry_after(const Error& error);

/// What a retrying caller wants to be told, and where its time comes from; empty functions stand
/// for the real thing.
struct RetryHooks {
  std::function<Status(int attempt)>
      on_attempt;  ///< before each try, from 1; an error ends the call with it
  std::function<void(int attempt, const Result<GenerateReply>& result)> on_result;
  std::function<void(std::chrono::milliseconds time, const CancelToken& cancel)>
      wait;                                       ///< returns early on cancel
  std::function<std::chrono::nanoseconds()> now;  ///< monotonic
};

/// One call with transport retries (rule G8): at most 3 after the first try, none begun later than
/// 60 s after the start, and none before Retry-After has passed.
Result<GenerateReply> generate_with_retry(Provider& provider, const GenerateRequest& request,
                                          const CancelToken& cancel, const RetryHooks& hooks);

/// About four characters a token for Latin text, one for CJK: an upper-biased estimate.
std::int64_t estimate_tokens(std::string_view text);

}  // namespace indx
