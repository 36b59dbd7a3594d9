#pragma once
#include "base/config.hpp"

#include <memory>
#include <string>
#include <vector>

namespace indx {

enum class VendorFinish : std::uint8_t { Stop, Length, Filter };

/// What a model server is to say, in no vendor's words.
struct VendorReply {
  std::string text = "Hello.";
  bool is_tool_call = false;  ///< the text is JSON and comes as the arguments of a tool call
  bool has_usage = true;      ///< 11 tokens in, 7 out
  VendorFinish finish = VendorFinish::Stop;
  std::string refusal;
  std::string tool_name = "reply";
};

constexpr std::int64_t kVendorInputTokens = 11, kVendorOutputTokens = 7;

/// The server's side of one provider's wire format, after the vendor's public documentation.
class VendorDialect {
 public:
  virtual ~VendorDialect() = default;
  virtual std::string provider() const = 0;
  /// A model of the provider whose price is known, its key, and `root` (http://host:port) as its
  /// address.
  virtual void configure(AiConfig& config, const std::string& root) const = 0;
  virtual bool can_refuse() const { return true; }
  virtual bool has_embeddings() const { return true; }
  /// Whether an answer with vectors tells kVendorInputTokens.
  virtual bool tells_embedded_tokens() const { return true; }

  virtual bool is_streamed(const std::string& target, const Json& body) const = 0;
  virtual bool is_models(const std::string& target) const = 0;
  virtual bool is_embeddings(const std::string& target) const = 0;

  virtual Json whole(const VendorReply& reply) const = 0;
  /// The events of a stream with `deltas` for the text, each with all bytes that end it.
  virtual std::vector<std::string> stream(const VendorReply& reply,
                                          const std::vector<std::string>& deltas) const = 0;
  virtual std::string stream_type() const { return "text/event-stream"; }
  virtual Json failure(int status, const std::string& message) const = 0;
  /// An event that tells an overload in the middle of a stream.
  virtual std::string failure_event(const std::string& message) const = 0;
  virtual Json models(const std::vector<std::string>& names) const = 0;
  /// The texts that the request wants vectors of.
  virtual std::vector<std::string> texts(const Json& body) const = 0;
  virtual Json embeddings(const std::vector<std::vector<double>>& vectors) const = 0;
};

constexpr const char* kVendorKey = "canary-key-0123456789abcdef";

/// openai, ollama, anthropic, gemini, vercel-ai-gateway.
const std::vector<std::string>& vendor_names();
std::unique_ptr<VendorDialect> make_vendor_dialect(const std::string& provider);

}  // namespace indx
