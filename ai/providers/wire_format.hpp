#pragma once
#include "ai/provider.hpp"
#include "ai/stream_reader.hpp"
#include "base/http_client.hpp"

#include <span>

namespace indx {

/// Where a provider lives. The key stays out of every message.
struct Upstream {
  std::string provider;
  std::string base_url;
  std::string model;
  std::string api_key;
  std::string key_variable;  ///< the variable that sets the key, for messages; empty: it has none
};

/// A failure in the words of the upstream.
struct UpstreamFailure {
  int status = 0;  ///< of a failure inside of an answer with status 200; 0: the answer's own
  std::string message, code;
  std::optional<std::chrono::milliseconds> retry_after;
};

/// What all providers say in an answer, filled from a whole body or from one event after another.
struct ModelAnswer {
  bool is_answer = false;    ///< the body has the form of an answer at all
  bool is_complete = false;  ///< of a stream: its end was announced
  std::string text;
  bool has_tool_call = false;
  std::string arguments;  ///< JSON text of the first tool call
  std::string refusal;    ///< why the model or its guard will not answer; empty: it does
  std::optional<FinishReason> finish;
  std::optional<std::int64_t> input_tokens, output_tokens;
  std::optional<UpstreamFailure> failure;
};

/// How one provider writes requests and replies; values in, values out.
class WireFormat {
 public:
  explicit WireFormat(Upstream upstream) : upstream_(std::move(upstream)) {}
  virtual ~WireFormat() = default;
  const Upstream& upstream() const { return upstream_; }

  virtual HttpClientRequest chat_call(const GenerateRequest& request, bool is_streamed) const = 0;
  virtual void read_answer(const Json& body, ModelAnswer& answer) const = 0;

  virtual StreamFraming framing() const { return StreamFraming::ServerSentEvents; }
  /// Whether the event says that the stream ends and is no JSON.
  virtual bool is_end(const StreamEvent& /*event*/) const { return false; }
  virtual void read_event(const Json& data, ModelAnswer& answer) const = 0;

  virtual UpstreamFailure read_failure(const Json& body) const = 0;
  /// Whether JSON is asked for by words alone, so that a second try may help.
  virtual bool asks_by_words() const { return false; }

  virtual HttpClientRequest models_call() const = 0;
  virtual std::vector<std::string> read_models(const Json& body) const = 0;

  virtual HttpClientRequest embed_call(std::span<const std::string> /*texts*/) const { return {}; }
  /// One JSON list of numbers for each text; empty when the body is something else.
  virtual std::vector<Json> read_embeddings(const Json& /*body*/) const { return {}; }
  /// Tokens of the texts, where the answer with their vectors tells them.
  virtual std::optional<std::int64_t> read_embedded_tokens(const Json& /*body*/) const {
    return std::nullopt;
  }

 protected:
  HttpClientRequest get(const std::string& path) const;
  HttpClientRequest post(const std::string& path, const Json& body) const;

 private:
  /// The header that carries the key.
  virtual std::pair<std::string, std::string> authorization() const {
    return {"Authorization", "Bearer " + upstream_.api_key};
  }
  HttpClientRequest call(const std::string& path) const;

  const Upstream upstream_;
};

/// The member, null when it is missing or `object` is none.
const Json& member(const Json& object, const char* name);
/// The member as text, empty when it is missing or of another type.
std::string text_member(const Json& object, const char* name);
/// The member as a count from 0 to 10^12; nullopt when it is no whole number.
std::optional<std::int64_t> count_member(const Json& object, const char* name);

/// A body or event from outside, also when it holds invalid UTF-8; nullopt: no JSON.
std::optional<Json> parse_body(std::string_view text);

/// The HTTP status that stands for a failure's type or code where no status is given.
int status_of_code(const std::string& code);

/// The name of the schema as tools and schemas may be named.
std::string schema_name_of(const GenerateRequest& request);

std::int64_t prompt_tokens(const GenerateRequest& request);

}  // namespace indx
