#include "ai/providers/replay.hpp"

#include "ai/json_shape.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <unistd.h>

namespace indx {
namespace {

constexpr std::size_t kReplayedDelta = 16;  // bytes or a little less, at a grapheme border

Json chat_request_json(const std::string& model, const GenerateRequest& request) {
  Json messages = Json::array();
  for (const auto& message : request.messages)
    messages.push_back(
        {{"role", message.role}, {"content", replace_invalid_utf8(message.content)}});
  return {{"kind", "chat"},
          {"model", model},
          {"system", replace_invalid_utf8(request.system)},
          {"messages", std::move(messages)},
          {"json_schema", request.json_schema},
          {"schema_name", request.schema_name},
          {"max_output_tokens", request.max_output_tokens},
          {"temperature", request.temperature},
          {"seed", request.seed}};
}

Json vector_request_json(const std::string& model_id, const std::string& text) {
  return {{"kind", "embedding"}, {"model", model_id}, {"text", replace_invalid_utf8(text)}};
}

/// The files of one folder.
class Fixtures {
 public:
  Fixtures(std::string provider, std::string folder)
      : provider_(std::move(provider)), folder_(std::move(folder)) {}

  Status keep(const Json& request, const Json& reply) const {
    static std::atomic<unsigned> next = 0;
    std::error_code failure;
    std::filesystem::create_directories(folder_, failure);
    const auto path = path_of(request);
    const auto temporary = path + cat('.', ::getpid(), '.', next++);  // two may keep the same one
    std::ofstream out(temporary, std::ios::binary);
    out << Json{{"request", request}, {"reply", reply}}.dump(2, ' ', false,
                                                             Json::error_handler_t::replace)
        << '\n';
    out.close();
    if (out) std::filesystem::rename(temporary, path, failure);
    if (out && !failure) return {};
    return internal_error("A recorded reply could not be written to the folder of the fixtures.");
  }

  Result<Json> find(const Json& request) const {
    std::ifstream in(path_of(request), std::ios::binary);
    const auto key = canonical_hash(request);
    if (!in)
      return failure(
          cat("No reply is recorded for this call (", key, "); record it with AI_TEST_RECORD=1."),
          key);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    auto json = parse_untrusted_json(text);
    if (!json || !json->is_object() || !json->contains("reply"))
      return failure(cat("The recorded reply of this call (", key, ") cannot be read."), key);
    return std::move((*json)["reply"]);
  }

 private:
  std::string path_of(const Json& request) const {
    return cat(folder_, '/', canonical_hash(request), ".json");
  }
  Error failure(const std::string& what, const std::string& key) const {
    return make_error(Reason::AiProviderError, what,
                      {{"provider", provider_},
                       {"upstream_status", 0},
                       {"upstream_message", ""},
                       {"cause", "replay"},
                       {"fixture", key}});
  }

  const std::string provider_, folder_;
};

class RecordingProvider : public Provider {
 public:
  RecordingProvider(std::unique_ptr<Provider> inner, std::string folder)
      : inner_(std::move(inner)), fixtures_(inner_->name(), std::move(folder)) {}
  std::string name() const override { return inner_->name(); }
  std::string model() const override { return inner_->model(); }
  bool can_generate() const override { return inner_->can_generate(); }
  bool can_stream() const override { return inner_->can_stream(); }

  Result<GenerateReply> generate(const GenerateRequest& request,
                                 const CancelToken& cancel) override {
    return kept(request, inner_->generate(request, cancel));
  }
  Result<GenerateReply> generate_stream(const GenerateRequest& request, const CancelToken& cancel,
                                        const OnDelta& on_delta) override {
    return kept(request, inner_->generate_stream(request, cancel, on_delta));
  }
  Result<std::vector<std::string>> list_models(const CancelToken& cancel) override {
    return inner_->list_models(cancel);
  }

 private:
  Result<GenerateReply> kept(const GenerateRequest& request, Result<GenerateReply> reply) const {
    if (reply) INDX_TRY(fixtures_.keep(chat_request_json(model(), request), to_json(*reply)));
    return reply;
  }

  const std::unique_ptr<Provider> inner_;
  const Fixtures fixtures_;
};

class ReplayProvider : public Provider {
 public:
  ReplayProvider(std::string name, std::string model, std::string folder)
      : name_(std::move(name)), model_(std::move(model)), fixtures_(name_, std::move(folder)) {}
  std::string name() const override { return name_; }
  std::string model() const override { return model_; }
  bool can_generate() const override { return true; }
  bool can_stream() const override { return true; }

  Result<GenerateReply> generate(const GenerateRequest& request, const CancelToken&) override {
    return generate_reply_from_json(INDX_TRY(fixtures_.find(chat_request_json(model_, request))));
  }

  /// In pieces of a fixed size, so that every run streams alike.
  Result<GenerateReply> generate_stream(const GenerateRequest& request, const CancelToken& cancel,
                                        const OnDelta& on_delta) override {
    auto reply = INDX_TRY(generate(request, cancel));
    for (std::string_view rest = reply.text; !rest.empty();) {
      auto piece = prefix_at_grapheme(rest, kReplayedDelta);
      if (piece.empty()) piece = rest;  // one grapheme that is longer
      on_delta(piece);
      rest.remove_prefix(piece.size());
    }
    return reply;
  }

 private:
  const std::string name_, model_;
  const Fixtures fixtures_;
};

class RecordingEmbedder : public RemoteEmbedder {
 public:
  RecordingEmbedder(std::unique_ptr<RemoteEmbedder> inner, std::string folder)
      : inner_(std::move(inner)), fixtures_(inner_->model_id(), std::move(folder)) {}
  std::string provider() const override { return inner_->provider(); }
  std::string model() const override { return inner_->model(); }
  std::string model_id() const override { return inner_->model_id(); }
  std::size_t dimension() const override { return inner_->dimension(); }

  Result<EmbedReply> embed_batch(std::span<const std::string> texts,
                                 const CancelToken& cancel) override {
    auto reply = INDX_TRY(inner_->embed_batch(texts, cancel));
    for (std::size_t i = 0; i < texts.size(); ++i)
      INDX_TRY(fixtures_.keep(vector_request_json(model_id(), texts[i]), Json(reply.vectors[i])));
    return reply;
  }

 private:
  const std::unique_ptr<RemoteEmbedder> inner_;
  const Fixtures fixtures_;
};

class ReplayEmbedder : public Embedder {
 public:
  ReplayEmbedder(std::string model_id, std::string folder)
      : model_id_(std::move(model_id)), fixtures_(model_id_, std::move(folder)) {}
  std::string model_id() const override { return model_id_; }
  std::size_t dimension() const override { return dimension_; }

  Result<std::vector<std::vector<float>>> embed(std::span<const std::string> texts,
                                                const CancelToken&) override {
    std::vector<std::vector<float>> vectors;
    for (const auto& text : texts) {
      if (trim(text).empty()) {  // nobody was asked for it
        vectors.emplace_back();
        continue;
      }
      const auto reply = INDX_TRY(fixtures_.find(vector_request_json(model_id_, text)));
      std::vector<float> vector;
      for (const auto& number : reply)
        if (number.is_number()) vector.push_back(number.get<float>());
      if (vector.size() != reply.size()) return internal_error("A recorded vector cannot be read.");
      if (!vector.empty()) dimension_ = vector.size();
      vectors.push_back(std::move(vector));
    }
    for (auto& vector : vectors) vector.resize(dimension_);
    return vectors;
  }

 private:
  const std::string model_id_;
  const Fixtures fixtures_;
  std::atomic<std::size_t> dimension_ = 0;
};

}  // namespace

std::unique_ptr<Provider> make_recording_provider(std::unique_ptr<Provider> inner,
                                                  std::string folder) {
  return std::make_unique<RecordingProvider>(std::move(inner), std::move(folder));
}

std::unique_ptr<Provider> make_replay_provider(std::string name, std::string model,
                                               std::string folder) {
  return std::make_unique<ReplayProvider>(std::move(name), std::move(model), std::move(folder));
}

std::unique_ptr<Embedder> make_recording_embedder(std::unique_ptr<RemoteEmbedder> inner,
                                                  std::string folder) {
  return std::make_unique<RecordingEmbedder>(std::move(inner), std::move(folder));
}

std::unique_ptr<Embedder> make_replay_embedder(std::string model_id, std::string folder) {
  return std::make_unique<ReplayEmbedder>(std::move(model_id), std::move(folder));
}

}  // namespace indx
