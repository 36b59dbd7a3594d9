#include "ai/prices.hpp"
#include "ai/providers/http_provider.hpp"
#include "ai/providers/upstream_client.hpp"
#include "base/text.hpp"

#include <atomic>
#include <cmath>

namespace indx {
namespace {

/// To length 1; false when it is no list of numbers.
bool read_unit_vector(const Json& numbers, std::vector<float>& out) {
  if (!numbers.is_array() || numbers.empty()) return false;
  double sum = 0;
  for (const auto& number : numbers) {
    if (!number.is_number()) return false;
    const auto value = number.get<double>();
    sum += value * value;
    out.push_back(static_cast<float>(value));
  }
  const auto length = std::sqrt(sum);
  if (!std::isfinite(length)) return false;
  if (length > 0)
    for (auto& value : out) value = static_cast<float>(value / length);
  return true;
}

class HttpEmbedder : public RemoteEmbedder {
 public:
  HttpEmbedder(const AiConfig& config, std::unique_ptr<WireFormat> format)
      : format_(std::move(format)),
        client_(config, *format_),
        price_(price_of(config, format_->upstream().provider, format_->upstream().model)) {}

  std::string provider() const override { return format_->upstream().provider; }
  std::string model() const override { return format_->upstream().model; }
  std::string model_id() const override { return cat(provider(), '/', model()); }
  std::size_t dimension() const override { return dimension_; }

  Result<EmbedReply> embed_batch(std::span<const std::string> texts,
                                 const CancelToken& cancel) override {
    const auto body = INDX_TRY(client_.exchange(format_->embed_call(texts), cancel));
    EmbedReply reply;
    reply.usage = usage_of(texts, body);
    const auto bad = [&](const char* what) {
      auto error = client_.failure(what, "parse", 200, "");
      error.details["usage"] = to_json(reply.usage);  // it was billed all the same
      return error;
    };
    const auto lists = format_->read_embeddings(body);
    if (lists.size() != texts.size())
      return bad("The AI provider's answer does not hold one vector for each text.");
    reply.vectors.resize(lists.size());
    for (std::size_t i = 0; i < lists.size(); ++i) {
      if (!read_unit_vector(lists[i], reply.vectors[i]))
        return bad("The AI provider's answer holds what is no vector.");
      std::size_t known = 0;
      if (!dimension_.compare_exchange_strong(known, reply.vectors[i].size()) &&
          known != reply.vectors[i].size())
        return bad("The AI provider's vectors have changing dimensions.");
    }
    return reply;
  }

 private:
  AiUsage usage_of(std::span<const std::string> texts, const Json& body) const {
    const auto reported = format_->read_embedded_tokens(body);
    AiUsage usage;
    usage.source = reported ? "reported" : "estimated";
    usage.input_tokens = reported.value_or(0);
    if (!reported)
      for (const auto& text : texts) usage.input_tokens += estimate_tokens(text);
    usage.cost_usd = cost_at(price_, usage.input_tokens, 0);
    return usage;
  }

  const std::unique_ptr<WireFormat> format_;
  const UpstreamClient client_;
  const std::optional<ModelPrice> price_;
  std::atomic<std::size_t> dimension_ = 0;
};

}  // namespace

std::unique_ptr<RemoteEmbedder> make_http_embedder(const AiConfig& config,
                                                   std::unique_ptr<WireFormat> format) {
  return std::make_unique<HttpEmbedder>(config, std::move(format));
}

}  // namespace indx
