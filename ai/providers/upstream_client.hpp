#pragma once
#include "ai/providers/wire_format.hpp"
#include "base/clock.hpp"

namespace indx {

/// One exchange with a provider's server: its limits, its proxy, and what its failures become.
/// `format` must outlive it.
class UpstreamClient {
 public:
  UpstreamClient(const AiConfig& config, const WireFormat& format);

  /// The body of a successful answer as JSON. Errors: as of Provider::generate.
  Result<Json> exchange(HttpClientRequest http, const CancelToken& cancel) const;

  /// What came back of a streamed call.
  struct Streamed {
    int status = 0;
    bool was_stopped = false;  ///< by `on_event`
    std::optional<Json> body;  ///< the server answered with one whole body instead of events
  };
  /// Hands over each event; `on_event` returns false to stop.
  Result<Streamed> stream(HttpClientRequest http, const CancelToken& cancel,
                          const std::function<bool(const StreamEvent&)>& on_event) const;

  /// `ai_provider_error`; `upstream` are words from outside: cut short, and without the key.
  Error failure(const std::string& what, const char* cause, int status,
                std::string_view upstream) const;
  /// Of an answer that says that it failed.
  Error told_failure(const UpstreamFailure& told, int status) const;

 private:
  HttpClientRequest prepared(HttpClientRequest http) const;
  Error transport_failure(const Error& error) const;
  Error status_failure(const HttpClientResponse& response) const;
  std::string redacted(std::string_view text) const;
  std::string what_failed(int status) const;

  const WireFormat& format_;
  const ProxySettings proxies_;
  const std::chrono::milliseconds timeout_, connect_timeout_, first_byte_timeout_, idle_timeout_;
};

/// How long a Retry-After header asks to wait: seconds or an HTTP date; nullopt when it is neither.
std::optional<std::chrono::milliseconds> parse_retry_after(std::string_view value, Timestamp now);

}  // namespace indx
