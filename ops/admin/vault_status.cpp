#include "base/text.hpp"
#include "ops/define.hpp"
#include "ops/operations.hpp"
#include "ops/retrieval.hpp"

namespace indx {
namespace vault_status_op {

struct Input {};
struct Counts {
  int notes = 0, files = 0, headings = 0, tags = 0, links = 0, unresolved_links = 0, chunks = 0;
  std::int64_t bytes = 0;
  static Fields<Counts> fields() {
    return {field("notes", &Counts::notes, "Markdown notes."),
            field("files", &Counts::files, "All files, notes included."),
            field("headings", &Counts::headings, "Headings."),
            field("tags", &Counts::tags, "Different tags."),
            field("links", &Counts::links, "Links."),
            field("unresolved_links", &Counts::unresolved_links, "Links that reach no file."),
            field("chunks", &Counts::chunks, "Pieces for retrieval."),
            field("bytes", &Counts::bytes, "Bytes of all files.")};
  }
};
struct Indexing {
  std::string state = "idle";
  std::optional<std::int64_t> done, total;
  static Fields<Indexing> fields() {
    return {
        field("state", &Indexing::state, "What the indexer does.", one_of({"idle", "indexing"})),
        field("done", &Indexing::done,
              "Files done; left out for a token that may not see all of them."),
        field("total", &Indexing::total, "Files to do; left out likewise.")};
  }
};
struct Embeddings {
  std::string state = "off", model;
  std::optional<std::int64_t> dim, chunks, embedded, left_out;
  static Fields<Embeddings> fields() {
    return {field("state", &Embeddings::state,
                  "Whether notes are found by meaning: off: no model; none: no vectors yet; "
                  "incomplete: some are missing; other_model: they are of another one.",
                  one_of({"off", "none", "incomplete", "ready", "other_model"})),
            field("model", &Embeddings::model, "What makes vectors; empty: nothing."),
            field("dim", &Embeddings::dim,
                  "Numbers in a vector; this and what follows is left out while off, and for a "
                  "token that may not see all notes."),
            field("chunks", &Embeddings::chunks, "Different pieces of notes."),
            field("embedded", &Embeddings::embedded, "Those with a vector."),
            field("left_out", &Embeddings::left_out,
                  "Those that get none: not to be read by AI, or too large for the model.")};
  }
};
struct Ai {
  bool enabled = false;
  std::string provider, model;
  std::int64_t invocations_today = 0, model_calls_today = 0;
  std::int64_t cache_hits_today = 0, cache_misses_today = 0;
  double spend_today_usd = 0;
  static Fields<Ai> fields() {
    return {field("enabled", &Ai::enabled, "Whether a provider is configured."),
            field("provider", &Ai::provider, "Its name."),
            field("model", &Ai::model, "Its model."),
            field("invocations_today", &Ai::invocations_today,
                  "AI operations that ended since midnight UTC."),
            field("model_calls_today", &Ai::model_calls_today, "Calls of models since then."),
            field("cache_hits_today", &Ai::cache_hits_today,
                  "Questions since then that an earlier answer was kept for."),
            field("cache_misses_today", &Ai::cache_misses_today,
                  "Questions since then that were looked for in vain."),
            field("spend_today_usd", &Ai::spend_today_usd, "Known cost since then.")};
  }
};
struct Output {
  std::string vault_dir, generation;
  Counts counts;
  Indexing indexing;
  Embeddings embeddings;
  Ai ai;
  std::vector<std::string> warnings;
};

Result<Embeddings> embeddings_of(Context& ctx, std::vector<std::string>& warnings) {
  Embeddings out;
  auto& retrieval = ctx.retrieval();
  const auto vectors = INDX_TRY(retrieval.vectors());
  out.state = name(vectors);
  if (vectors == Vectors::Off) return out;
  out.model = retrieval.model();
  if (!ctx.principal().path_globs.empty()) return out;
  const auto counts = INDX_TRY(retrieval.counts());
  out.dim = static_cast<std::int64_t>(counts.dim);
  out.chunks = counts.chunks;
  out.embedded = counts.embedded;
  out.left_out = counts.left_out;
  if (vectors == Vectors::OtherModel)
    warnings.push_back(cat("embedding_model_changed: the vectors are of ", counts.model,
                           ", not of ", out.model, "; vault_embed with `reset` makes them anew"));
  return out;
}

Result<Ai> ai_of(Context& ctx) {
  Ai out;
  const Json usage = INDX_TRY(ctx.models().usage_today());
  const auto count = [&](const char* name) { return usage.value(name, std::int64_t{0}); };
  out.invocations_today = count("invocations");
  out.model_calls_today = count("calls");
  out.cache_hits_today = count("cache_hits");
  out.cache_misses_today = count("cache_misses");
  out.spend_today_usd = usage.value("cost_usd", 0.0);
  out.enabled = ctx.models().is_configured();
  if (!out.enabled) return out;
  out.provider = ctx.models().provider();
  out.model = ctx.models().model();
  return out;
}

Result<Output> run(Context& ctx, const Input&) {
  const IndexCounts counts = INDX_TRY(ctx.index().counts());
  Output out;
  out.vault_dir = ctx.config().vault_dir;
  out.generation = counts.generation;
  out.counts = {counts.notes,  counts.files, counts.headings,
                counts.tags,   counts.links, counts.unresolved_links,
                counts.chunks, counts.bytes};
  const Json indexing = ctx.index().indexing();
  out.indexing.state = indexing.value("state", "idle");
  if (ctx.principal().path_globs.empty()) {
    out.indexing.done = indexing.value("done", std::int64_t{0});
    out.indexing.total = indexing.value("total", std::int64_t{0});
  }
  out.ai = INDX_TRY(ai_of(ctx));
  out.warnings = counts.warnings;
  out.embeddings = INDX_TRY(embeddings_of(ctx, out.warnings));
  return out;
}

/// `Notes: 120, files: 150, tags: 30, links: 400 (unresolved: 12). The index is complete.`
std::string told(const Json&, const Json& output) {
  const Json counts = output.value("counts", Json::object());
  const Json indexing = output.value("indexing", Json::object());
  const auto number = [&](const char* key) { return counts.value(key, std::int64_t{0}); };
  const std::string counted =
      cat("Notes: ", number("notes"), ", files: ", number("files"), ", tags: ", number("tags"),
          ", links: ", number("links"), " (unresolved: ", number("unresolved_links"), "). ");
  if (indexing.value("state", "idle") == "idle") return counted + "The index is complete.";
  return cat(counted, "The index is still being built",
             indexing.contains("total")
                 ? cat(": ", indexing.value("done", std::int64_t{0}), " of ",
                       indexing.value("total", std::int64_t{0}), " files are done")
                 : "",
             "; ask again soon.");
}

}  // namespace vault_status_op

Operation vault_status() {
  using namespace vault_status_op;
  return define<Input, Output>({
      .name = "vault_status",
      .title = "Show the state of the vault",
      .summary = "Say how the vault is: counts, index state, AI, warnings.",
      .guidance = "A good first call. While `indexing.state` is `indexing`, searches may miss "
                  "recent changes.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/vault/status"},
      .is_idempotent = true,
      .output = {field("vault_dir", &Output::vault_dir, "Folder of the vault on the server."),
                 field("generation", &Output::generation, "Moves with every change of the index."),
                 field("counts", &Output::counts, "How much there is."),
                 field("indexing", &Output::indexing, "State of the indexer."),
                 field("embeddings", &Output::embeddings, "Vectors for search by meaning."),
                 field("ai", &Output::ai, "The AI provider."),
                 field("warnings", &Output::warnings, "What a person should look at.")},
      .told = told,
      .handler = run,
  });
}

}  // namespace indx
