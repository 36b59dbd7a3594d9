#pragma once
#include "ai/provider.hpp"
#include "base/clock.hpp"

#include <memory>

namespace indx {

/// Speaks the OpenAI-compatible `/chat/completions` format, which many local servers speak too.
std::unique_ptr<Provider> make_openai_provider(const AiConfig& config);

/// How long a Retry-After header asks to wait: seconds or an HTTP date; nullopt when it is neither.
std::optional<std::chrono::milliseconds> parse_retry_after(std::string_view value, Timestamp now);

}  // namespace indx
