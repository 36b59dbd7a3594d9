#pragma once
#include "base/json.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace indx {

/// The closed set of failure classes; each has one HTTP status and one CLI exit code.
enum class ErrorCode : std::uint8_t {
  InvalidArgument,
  Unauthenticated,
  Forbidden,
  NotFound,
  Conflict,
  PreconditionFailed,
  TooLarge,
  RateLimited,
  Cancelled,
  Internal,
  Unavailable,
  Timeout,
  Unprocessable,
  AiUnavailable,
  AiQuotaExceeded,
  AiProviderError,
  kCount
};

/// Why a call failed, for programs. The snake_case name of each is stable and public.
enum class Reason : std::uint8_t {
  ValidationFailed,
  Unauthorized,
  Forbidden,
  ConfirmationRequired,
  VaultLocked,
  NotFound,
  MethodNotAllowed,
  Conflict,
  Ambiguous,
  IdempotencyKeyReused,
  InProgress,
  AiApplyConflict,
  StaleLease,
  StepKeyReused,
  UnsupportedVersion,
  EtagMismatch,
  TooLarge,
  TargetNotFound,
  ParseFailed,
  NotUtf8,
  RateLimited,
  Unavailable,
  Draining,
  Timeout,
  Cancelled,
  Suspended,  ///< a job gives its runner back until a time or its children come
  Internal,
  AiUnavailable,
  AiQuotaExceeded,
  AiProviderError,
  AiGroundingFailed,
  AiInputTooLarge,
  AiSchemaInvalid,
  kCount
};

/// One row of the error registry.
struct ReasonRow {
  Reason reason;
  std::string_view name;  ///< `etag_mismatch`: the code of `/v1` bodies, MCP errors and logs
  ErrorCode code;
  bool is_retryable;  ///< the same call may succeed later, unchanged
};

/// A failed call: `message` says what happened, to what, and what to do next.
struct Error {
  Reason reason = Reason::Internal;
  std::string message;
  Json details = Json::object();

  ErrorCode code() const;
  std::string_view name() const;
  int http_status() const;
  int exit_code() const;
  bool is_retryable() const;
  /// `{code, message, details}`, the body of every surface.
  Json to_json() const;

  bool operator==(const Error&) const = default;
};

const ReasonRow& reason_row(Reason reason);
std::optional<Reason> parse_reason(std::string_view name);
/// Reads what `Error::to_json` wrote; an unknown code becomes `internal`.
Error error_from_json(const Json& body);

Error make_error(Reason reason, std::string message, Json details = Json::object());
Error invalid(std::string message, Json details = Json::object());
Error not_found(std::string message, Json details = Json::object());
Error internal_error(std::string message, Json details = Json::object());

}  // namespace indx
