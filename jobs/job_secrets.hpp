#pragma once
#include "base/json.hpp"
#include "base/result.hpp"

#include <string>
#include <string_view>

namespace indx {

struct JobOutcome;

/// Secret arguments of a job, as its row keeps them: take_secrets' object, encrypted. `unavailable`
/// without a key.
Result<std::string> seal_secrets(const std::string& key, const Json& secrets);
/// `internal` when they were stored with another key.
Result<Json> open_secrets(const std::string& key, std::string_view sealed);

/// Masks the secrets of a job wherever its error or result repeats them, so that no record shows
/// what a handler or a model said. Texts of fewer than 4 bytes stay: they would match anything.
void hide_secrets(JobOutcome& outcome, const Json& secrets);

}  // namespace indx
