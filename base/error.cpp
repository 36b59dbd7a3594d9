#include "base/error.hpp"

#include <algorithm>
#include <array>

namespace indx {
namespace {

struct CodeRow {
  ErrorCode code;
  int http_status;
  int exit_code;
};

constexpr std::array kCodes = {
    CodeRow{ErrorCode::InvalidArgument, 400, 2}, CodeRow{ErrorCode::Unauthenticated, 401, 5},
    CodeRow{ErrorCode::Forbidden, 403, 5},       CodeRow{ErrorCode::NotFound, 404, 3},
    CodeRow{ErrorCode::Conflict, 409, 4},        CodeRow{ErrorCode::PreconditionFailed, 412, 4},
    CodeRow{ErrorCode::TooLarge, 413, 2},        CodeRow{ErrorCode::RateLimited, 429, 1},
    CodeRow{ErrorCode::Cancelled, 499, 1},       CodeRow{ErrorCode::Internal, 500, 1},
    CodeRow{ErrorCode::Unavailable, 503, 1},     CodeRow{ErrorCode::Timeout, 504, 1},
    CodeRow{ErrorCode::Unprocessable, 422, 2},   CodeRow{ErrorCode::AiUnavailable, 503, 6},
    CodeRow{ErrorCode::AiQuotaExceeded, 429, 7}, CodeRow{ErrorCode::AiProviderError, 502, 8},
};

constexpr std::array kReasons = {
    ReasonRow{Reason::ValidationFailed, "validation_failed", ErrorCode::InvalidArgument, false},
    ReasonRow{Reason::Unauthorized, "unauthorized", ErrorCode::Unauthenticated, false},
    ReasonRow{Reason::Forbidden, "forbidden", ErrorCode::Forbidden, false},
    ReasonRow{Reason::ConfirmationRequired, "confirmation_required", ErrorCode::PreconditionFailed,
              false},
    ReasonRow{Reason::VaultLocked, "vault_locked", ErrorCode::Conflict, true},
    ReasonRow{Reason::NotFound, "not_found", ErrorCode::NotFound, false},
    ReasonRow{Reason::MethodNotAllowed, "method_not_allowed", ErrorCode::InvalidArgument, false},
    ReasonRow{Reason::Conflict, "conflict", ErrorCode::Conflict, false},
    ReasonRow{Reason::Ambiguous, "ambiguous", ErrorCode::Conflict, false},
    ReasonRow{Reason::IdempotencyKeyReused, "idempotency_key_reused", ErrorCode::Conflict, false},
    ReasonRow{Reason::InProgress, "in_progress", ErrorCode::Conflict, true},
    ReasonRow{Reason::AiApplyConflict, "ai_apply_conflict", ErrorCode::Conflict, false},
    ReasonRow{Reason::StaleLease, "stale_lease", ErrorCode::Conflict, false},
    ReasonRow{Reason::StepKeyReused, "step_key_reused", ErrorCode::Internal, false},
    ReasonRow{Reason::UnsupportedVersion, "unsupported_version", ErrorCode::Conflict, false},
    ReasonRow{Reason::EtagMismatch, "etag_mismatch", ErrorCode::PreconditionFailed, false},
    ReasonRow{Reason::TooLarge, "too_large", ErrorCode::TooLarge, false},
    ReasonRow{Reason::TargetNotFound, "target_not_found", ErrorCode::Unprocessable, false},
    ReasonRow{Reason::ParseFailed, "parse_failed", ErrorCode::Unprocessable, false},
    ReasonRow{Reason::NotUtf8, "not_utf8", ErrorCode::Unprocessable, false},
    ReasonRow{Reason::RateLimited, "rate_limited", ErrorCode::RateLimited, true},
    ReasonRow{Reason::Unavailable, "unavailable", ErrorCode::Unavailable, true},
    ReasonRow{Reason::Draining, "draining", ErrorCode::Unavailable, true},
    ReasonRow{Reason::Timeout, "timeout", ErrorCode::Timeout, true},
    ReasonRow{Reason::Cancelled, "cancelled", ErrorCode::Cancelled, false},
    ReasonRow{Reason::Suspended, "suspended", ErrorCode::Internal, false},
    ReasonRow{Reason::Internal, "internal", ErrorCode::Internal, false},
    ReasonRow{Reason::AiUnavailable, "ai_unavailable", ErrorCode::AiUnavailable, false},
    ReasonRow{Reason::AiQuotaExceeded, "ai_quota_exceeded", ErrorCode::AiQuotaExceeded, true},
    ReasonRow{Reason::AiProviderError, "ai_provider_error", ErrorCode::AiProviderError, true},
    ReasonRow{Reason::AiGroundingFailed, "ai_grounding_failed", ErrorCode::Unprocessable, false},
    ReasonRow{Reason::AiInputTooLarge, "ai_input_too_large", ErrorCode::Unprocessable, false},
    ReasonRow{Reason::AiSchemaInvalid, "ai_schema_invalid", ErrorCode::Unprocessable, false},
};

/// Row i describes enumerator i, so every enumerator has exactly one row.
constexpr bool tables_are_complete() {
  if (kCodes.size() != static_cast<std::size_t>(ErrorCode::kCount)) return false;
  if (kReasons.size() != static_cast<std::size_t>(Reason::kCount)) return false;
  for (const auto& row : kReasons)
    if (&row != &kReasons[static_cast<std::size_t>(row.reason)] || row.name.empty()) return false;
  return true;
}
static_assert(tables_are_complete(),
              "every Reason and ErrorCode needs one row, in the order of the enum");

const CodeRow& code_row(ErrorCode code) {
  return *std::find_if(kCodes.begin(), kCodes.end(),
                       [&](const CodeRow& row) { return row.code == code; });
}

}  // namespace

const ReasonRow& reason_row(Reason reason) { return kReasons[static_cast<std::size_t>(reason)]; }

std::optional<Reason> parse_reason(std::string_view name) {
  for (const auto& row : kReasons)
    if (row.name == name) return row.reason;
  return std::nullopt;
}

ErrorCode Error::code() const { return reason_row(reason).code; }
std::string_view Error::name() const { return reason_row(reason).name; }
int Error::http_status() const {
  return reason == Reason::MethodNotAllowed ? 405 : code_row(code()).http_status;
}
int Error::exit_code() const { return code_row(code()).exit_code; }
bool Error::is_retryable() const { return reason_row(reason).is_retryable; }

Json Error::to_json() const {
  return Json{{"code", std::string(name())}, {"message", message}, {"details", details}};
}

Error error_from_json(const Json& body) {
  if (!body.is_object()) return internal_error("The answer holds no error object.");
  const auto text = [&](const char* key) {
    const auto it = body.find(key);
    return it != body.end() && it->is_string() ? it->get<std::string>() : std::string();
  };
  Error error{parse_reason(text("code")).value_or(Reason::Internal), text("message")};
  if (const auto it = body.find("details"); it != body.end() && it->is_object())
    error.details = *it;
  return error;
}

Error make_error(Reason reason, std::string message, Json details) {
  return Error{reason, std::move(message), std::move(details)};
}
Error invalid(std::string message, Json details) {
  return make_error(Reason::ValidationFailed, std::move(message), std::move(details));
}
Error not_found(std::string message, Json details) {
  return make_error(Reason::NotFound, std::move(message), std::move(details));
}
Error internal_error(std::string message, Json details) {
  return make_error(Reason::Internal, std::move(message), std::move(details));
}

}  // namespace indx
