// Vectors from a model elsewhere: each batch is a call like any other, so it passes the same gate,
// is tried again by the same rules and leaves the same records. A question is different from the
// chunks of a job: whoever asks it can go on by words, so it is not waited for long, and not even
// asked for a while after the server has failed.
#include "actors/engine_context.hpp"
#include "actors/engine_metrics.hpp"

namespace indx {
namespace {

constexpr std::chrono::seconds kRestAfterFailure{30};

/// One batch as a call of a provider.
class EmbeddingCall : public Provider {
 public:
  EmbeddingCall(Metrics& metrics, RemoteEmbedder& embedder, std::span<const std::string> texts)
      : metrics_(metrics), embedder_(embedder), texts_(texts) {}
  std::string name() const override { return embedder_.provider(); }
  std::string model() const override { return embedder_.model(); }
  bool can_generate() const override { return false; }
  Result<GenerateReply> generate(const GenerateRequest&, const CancelToken& cancel) override {
    auto reply = made(cancel);
    count_model_call(metrics_, name(), reply);
    return reply;
  }

  std::vector<std::vector<float>> vectors;

 private:
  Result<GenerateReply> made(const CancelToken& cancel) {
    auto embedded = INDX_TRY(embedder_.embed_batch(texts_, cancel));
    vectors = std::move(embedded.vectors);
    GenerateReply reply;
    reply.usage = embedded.usage;
    return reply;
  }

  Metrics& metrics_;
  RemoteEmbedder& embedder_;
  const std::span<const std::string> texts_;
};

/// What the limits are asked for: the texts, and no answer in tokens.
GenerateRequest embedding_request(std::span<const std::string> texts) {
  GenerateRequest request;
  request.max_output_tokens = 0;
  for (const auto& text : texts) request.messages.push_back({"user", text});
  return request;
}

}  // namespace

Result<std::vector<std::vector<float>>> EngineContext::embed_texts(
    std::span<const std::string> texts) {
  auto& embedder = *core_.parts.embedder;
  RemoteEmbedder* const remote = embedder.remote();
  if (remote == nullptr) return embedder.embed(texts, run_->cancel);
  return remote->embed_by(
      texts, [&](std::span<const std::string> batch) { return embed_remotely(*remote, batch); });
}

Result<EmbedReply> EngineContext::embed_remotely(RemoteEmbedder& embedder,
                                                 std::span<const std::string> texts) {
  auto& rests_until = core_.parts.embedding.rests_until;
  if (!is_job() && core_.parts.clock.monotonic() < rests_until.load())
    return make_error(Reason::AiProviderError,
                      "The embedding model failed a moment ago and is left alone for a while.",
                      {{"provider", embedder.provider()},
                       {"upstream_status", 0},
                       {"upstream_message", ""},
                       {"cause", "connect"}});
  EmbeddingCall call(core_.parts.metrics, embedder, texts);
  const auto reply = call_model(call, embedding_request(texts),
                                {.feature = "embed", .item = "", .can_do_without = !is_job()});
  if (!reply.has_value()) {
    if (is_transient(reply.error()))
      rests_until = core_.parts.clock.monotonic() + kRestAfterFailure;
    return reply.error();
  }
  rests_until = std::chrono::nanoseconds(0);
  return EmbedReply{std::move(call.vectors), reply->usage};
}

}  // namespace indx
