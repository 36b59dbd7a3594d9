#pragma once
#include "base/cancel.hpp"
#include "base/config.hpp"
#include "base/result.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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
  /// The member of the asked JSON whose text is what people read: it is told as it grows where a
  /// call is streamed. Empty: none. No part of what the model gets.
  std::string prose_member = {};
};

struct AiUsage {
  std::int64_t input_tokens = 0, output_tokens = 0;
  std::optional<double> cost_usd;    ///< nullopt: the price is unknown
  std::string source = "estimated";  ///< reported | estimated

  AiUsage& operator+=(const AiUsage& other);
};
Json to_json(const AiUsage& usage);

/// What a failed call has used, when it was billed all the same (`usage` of the error's details).
std::optional<AiUsage> billed_usage(const Error& error);

struct GenerateReply {
  std::string text;  ///< with a schema: `structured` as JSON text
  Json structured;   ///< parsed and checked against json_schema when one was given
  AiUsage usage;
  FinishReason finish_reason = FinishReason::Stop;
  bool is_kept = false;     ///< an earlier answer to the same question: nobody was called
  bool came_whole = false;  ///< a stream was asked for, and all came at once; not in the JSON
};
Json to_json(const GenerateReply& reply);
Result<GenerateReply> generate_reply_from_json(const Json& json);

/// Text of an answer as it comes, in whole characters.
using OnDelta = std::function<void(std::string_view delta)>;

/// One model server. Its calls block; call them where blocking is fine. Safe from several threads
/// at once.
class Provider {
 public:
  virtual ~Provider() = default;
  virtual std::string name() const = 0;
  virtual std::string model() const = 0;
  virtual bool can_generate() const = 0;
  /// Errors: `ai_provider_error` {provider, upstream_status, upstream_message, retry_after_ms?,
  /// usage? (the call was billed), cause: timeout | connect | status | parse | schema | refused |
  /// too_large | replay, was_sent: false? (no connection came about), may_ask_again?},
  /// `ai_input_too_large`, `cancelled`. One call is one exchange: retries are
  /// generate_with_retry's business.
  virtual Result<GenerateReply> generate(const GenerateRequest& request,
                                         const CancelToken& cancel) = 0;

  /// Whether generate_stream hands over the text while the model still writes it.
  virtual bool can_stream() const { return false; }
  /// Like generate, with the same reply in the end; without a schema the deltas together are its
  /// text. With one they are pieces of the model's JSON, of use for showing progress only. The
  /// default makes one delta of the whole text.
  virtual Result<GenerateReply> generate_stream(const GenerateRequest& request,
                                                const CancelToken& cancel, const OnDelta& on_delta);

  /// The names that `model` may have, as the server lists them. Errors: as of generate. The
  /// default knows the configured one only.
  virtual Result<std::vector<std::string>> list_models(const CancelToken& cancel);
};

enum class Support : std::uint8_t { No, Partial, Yes };

/// What the API of a provider offers, whether or not indx makes use of it.
struct ProviderTraits {
  std::string_view id, display_name;
  bool is_local = false, needs_key = false;
  Support streaming, embeddings, tool_use, transcription, synthesis;
};
const std::vector<ProviderTraits>& provider_traits();

/// What keeps the configured provider from being used, and what to set: `the provider openai needs
/// a model; set …`. Empty: nothing, or AI is off because none is configured or `enabled` is false.
std::string lack_of_provider(const AiConfig& config);

/// nullptr when no provider is configured, or when it lacks its model or key: AI is off. Fails with
/// `validation_failed` for an unknown name.
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
  OnDelta on_delta;                               ///< set: the call is streamed
  int most_retries = 3;                           ///< after the first try
  /// Who reads the deltas can forget them: `on_attempt` tells that they begin anew.
  bool may_restart = false;
};

/// One call with transport retries (rule G8): a few after the first try, none begun later than
/// 60 s after the start, and none before Retry-After has passed. A model that was asked for JSON by
/// words alone is asked once more when its answer does not fit, with what was wrong. Nothing is
/// tried again after a first delta, unless it may restart: who reads them would read them twice.
Result<GenerateReply> generate_with_retry(Provider& provider, const GenerateRequest& request,
                                          const CancelToken& cancel, const RetryHooks& hooks);

/// About four characters a token for Latin text, one for CJK: an upper-biased estimate.
std::int64_t estimate_tokens(std::string_view text);

}  // namespace indx
