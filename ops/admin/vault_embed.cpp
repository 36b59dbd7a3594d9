#include "ai/remote_embedder.hpp"
#include "base/text.hpp"
#include "ops/ai/ai_scope.hpp"
#include "ops/define.hpp"
#include "ops/operations.hpp"
#include "ops/retrieval.hpp"

#include <algorithm>

namespace indx {
namespace vault_embed_op {

constexpr int kBatch = static_cast<int>(kEmbedBatch);

struct Input {
  bool reset = false;
};
struct Output {
  std::string model;
  std::int64_t embedded = 0, left_out = 0, dropped = 0;
};

Fields<Output> output_fields() {
  return {field("model", &Output::model, "What made the vectors."),
          field("embedded", &Output::embedded, "Chunks that got a vector."),
          field("left_out", &Output::left_out,
                "Chunks without one: not to be read by AI, or too large for the model."),
          field("dropped", &Output::dropped, "Vectors of chunks that are long gone.")};
}

/// Empty vectors where the model takes no part of a text.
Result<std::vector<std::vector<float>>> embed_each(Retrieval& retrieval,
                                                   const std::vector<std::string>& texts) {
  auto all = retrieval.embed(texts);
  if (all.has_value() || all.error().reason != Reason::AiInputTooLarge) return all;
  std::vector<std::vector<float>> vectors;
  for (const auto& text : texts) {
    auto one = retrieval.embed({&text, 1});
    if (!one.has_value() && one.error().reason != Reason::AiInputTooLarge) return one.error();
    vectors.push_back(one.has_value() ? std::move(one->front()) : std::vector<float>());
  }
  return vectors;
}

Status embed_batch(Context& ctx, const std::vector<ChunkToEmbed>& chunks, Output& out) {
  std::vector<EmbeddedChunk> done, hidden;
  std::vector<std::string> texts;
  for (const auto& chunk : chunks) {
    const bool may_read =
        std::any_of(chunk.paths.begin(), chunk.paths.end(),
                    [&](const auto& path) { return ai_may_read(ctx.config().ai, path); });
    (may_read ? done : hidden).push_back({chunk.key, {}});
    if (may_read) texts.push_back(chunk.text);
  }
  if (!texts.empty()) {
    auto vectors = INDX_TRY(embed_each(ctx.retrieval(), texts));
    if (vectors.size() != texts.size())
      return make_error(Reason::AiProviderError, "The model gave another number of vectors.");
    for (std::size_t i = 0; i < vectors.size(); ++i) done[i].vector = std::move(vectors[i]);
  }
  done.insert(done.end(), hidden.begin(), hidden.end());
  INDX_TRY(ctx.retrieval().keep(done));
  const auto empty = std::count_if(done.begin(), done.end(),
                                   [](const auto& chunk) { return chunk.vector.empty(); });
  out.left_out += empty;
  out.embedded += static_cast<std::int64_t>(done.size()) - empty;
  return {};
}

/// What was done is in the index, not in steps: a resumed job finds only the rest without vectors.
Status embed_all(Context& ctx, Output& out) {
  auto& retrieval = ctx.retrieval();
  const auto counts = INDX_TRY(retrieval.counts());
  JobProgress progress{.total = counts.pending(), .unit = "chunks", .phase = "embed"};
  std::string after;
  for (std::int64_t before = out.embedded;;) {
    const auto chunks = INDX_TRY(retrieval.to_embed(after, kBatch));
    if (chunks.empty()) {
      if (out.embedded == before) return {};
      before = out.embedded;  // notes may have changed behind this pass
      after.clear();
      continue;
    }
    INDX_TRY(embed_batch(ctx, chunks, out));
    after = chunks.back().key;
    progress.done = out.embedded + out.left_out;
    progress.total = std::max(progress.total.value_or(0), progress.done);
    ctx.progress(progress);
    if (ctx.cancel().is_cancelled())
      return make_error(Reason::Cancelled, "Embedding was cancelled; what is done stays.",
                        encode_fields(output_fields(), out));
  }
}

Result<Output> run(Context& ctx, const Input& in) {
  auto& retrieval = ctx.retrieval();
  auto vectors = INDX_TRY(retrieval.vectors());
  if (vectors == Vectors::Off)
    return make_error(Reason::AiUnavailable, "There is no model for embeddings.",
                      Json{{"required_role", "embeddings"}});
  if (in.reset) {
    INDX_TRY(ctx.step("forget", Json{{"model", retrieval.model()}}, [&]() -> Result<Json> {
      INDX_TRY(retrieval.forget_all());
      return Json();
    }));
    vectors = INDX_TRY(retrieval.vectors());
  }
  if (vectors == Vectors::OtherModel) {
    const auto counts = INDX_TRY(retrieval.counts());
    return make_error(Reason::Conflict,
                      cat("The index holds vectors of another model than ", retrieval.model(),
                          ". Call again with `reset` to drop them and embed everything anew."),
                      Json{{"index_model", counts.model}, {"model", retrieval.model()}});
  }
  INDX_TRY(retrieval.forget_left_out());
  Output out{.model = retrieval.model()};
  INDX_TRY(embed_all(ctx, out));
  retrieval.end_pass();
  for (std::int64_t some = 1; some > 0 && !ctx.cancel().is_cancelled(); out.dropped += some)
    some = INDX_TRY(retrieval.tidy());
  return out;
}

}  // namespace vault_embed_op

Operation vault_embed() {
  using namespace vault_embed_op;
  return define<Input, Output>({
      .name = "vault_embed",
      .summary = "Give every chunk of the notes its vector, for search by meaning.",
      .guidance =
          "Seldom needed: a server does it by itself when notes change. Embeds only what changed, "
          "and goes on where it stopped. `reset` is for another model: it drops all vectors first, "
          "and search goes by words until they are made anew.",
      .scopes = {Scope::VaultAdmin},
      .route = {"POST", "/v1/vault/embed"},
      .cli = "vault embed",
      .execution = Execution::Job,
      .effect = Effect::Writes,
      .is_idempotent = true,
      .needs_provider = true,
      .role = AiRole::Embeddings,
      .tool_group = "vault_manage",
      .job = {.max_running = 1,
              .retry = {.base = std::chrono::seconds(5), .cap = std::chrono::minutes(5)},
              .unique_key =
                  [](const Json& input) {
                    return std::string(input.value("reset", false) ? "reset" : "catch_up");
                  }},
      .input = {field("reset", &Input::reset, "Drop all vectors first and embed everything anew.",
                      optional)},
      .output = output_fields(),
      .failures = {{Reason::Conflict, "The index holds vectors of another model."},
                   {Reason::AiUnavailable, "There is no model for embeddings."}},
      .handler = run,
  });
}

}  // namespace indx
