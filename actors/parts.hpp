#pragma once
#include "actors/answer_streams.hpp"
#include "actors/lane_pool.hpp"
#include "actors/link_changes.hpp"
#include "actors/model_gate.hpp"
#include "actors/own_writes.hpp"
#include "actors/parsed_notes.hpp"
#include "actors/permits.hpp"
#include "actors/question_vectors.hpp"
#include "actors/running_jobs.hpp"
#include "ai/embedder.hpp"
#include "ai/provider.hpp"
#include "base/config.hpp"
#include "base/metrics.hpp"
#include "base/random.hpp"
#include "ops/operation.hpp"
#include "store/ai_cache.hpp"
#include "store/note_index.hpp"
#include "store/vector_cache.hpp"
#include "vault/vault.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>

namespace indx {

/// What a scan is at, for `vault_status`.
struct IndexProgress {
  std::atomic<bool> is_running = false;
  std::atomic<bool> is_reindexing = false;  ///< somebody asked for it and waits: one at a time
  std::atomic<std::int64_t> done = 0, total = 0;
  std::atomic<bool> is_stopping = false;  ///< the engine stops: the next start compares again
  /// All files were compared with the index since this start, and since it was last emptied.
  std::atomic<bool> is_complete = false;
};

/// How far vectors are behind the notes. Safe from any thread.
struct EmbeddingProgress {
  /// Raised when chunks without a vector may have come; a pass over all that began at the same
  /// number and found nothing to do proves that none is missing.
  std::atomic<std::int64_t> changes = 1;
  std::atomic<std::int64_t> complete_at = 0;
  bool is_complete() const { return complete_at == changes; }
  /// Only another call can mend it, so nothing is embedded unasked.
  std::atomic<bool> is_of_other_model = false;
  /// Monotonic. A server that has just failed is not asked for the vector of a question before.
  std::atomic<std::chrono::nanoseconds> rests_until{};

  /// Counted once for each state of the rows.
  std::mutex mutex;
  std::string counted_at;
  EmbeddingCounts counts;
};

/// What all parts of the engine use and nobody changes, and the thread-safe counters beside it.
/// Outlives every actor.
struct Parts {
  static constexpr std::size_t kMostParsedBytes = 4U << 20U;

  Parts(Config the_config, const Registry& the_registry, Vault the_vault)
      : config(std::move(the_config)),
        registry(the_registry),
        vault(std::move(the_vault)),
        lanes(static_cast<std::size_t>(config.jobs.lanes),
              static_cast<std::size_t>(config.jobs.lanes) * 64) {}

  const Config config;
  const Registry& registry;
  const Vault vault;
  SystemClock clock;
  SystemRandom random;
  std::string instance;                ///< fresh per start
  std::string owner_token_id;          ///< of the token in the index folder
  std::unique_ptr<Provider> provider;  ///< null: AI is off
  /// Null: search by meaning is off. Shared: with who gave it (EngineOptions).
  std::shared_ptr<Embedder> embedder;
  std::unique_ptr<AiCache> answers;  ///< null: answers of models are not kept
  bool embeds_by_itself = false;     ///< changed chunks get their vectors without being asked
  std::unique_ptr<NoteIndexReader> index;
  std::string event_epoch;

  Metrics metrics;  // outlives the lanes
  ModelGate model_gate{
      {config.ai.requests_per_minute, config.ai.tokens_per_minute}, clock, metrics};
  LanePool lanes;
  RunningJobs running;
  AnswerStreams answer_streams;
  IndexProgress indexing;
  EmbeddingProgress embedding;
  VectorCache vectors{config.index_dir};
  QuestionVectors question_vectors;
  OwnWrites own_writes;
  ParsedNotes parsed{{config.legacy_properties}, kMostParsedBytes};
  LinkChanges link_changes;
  Permits inline_waits{std::max(1, config.jobs.lanes - config.jobs.lanes / 4)};  ///< on lanes
  Permits state_permits{4096}, writer_permits{256}, indexer_permits{1024};
  std::atomic<bool> is_draining = false;
  /// Set before a subscriber's first look at the events, so that what it missed was committed
  /// before.
  std::atomic<bool> has_subscribers = false;
  std::atomic<bool> is_audit_asked = false;  ///< a message about new events is on its way
  std::atomic<int> stuck_handlers = 0;       ///< tries that ignore their time limit and still run
  std::atomic<std::int64_t> told_event = 0;  ///< id of the last one that subscribers were given

  /// What the last look at the folder complained about, for `vault_status`.
  std::vector<std::string> warnings() const {
    const std::scoped_lock lock(warnings_mutex_);
    return warnings_;
  }
  void set_warnings(std::vector<std::string> warnings) {
    const std::scoped_lock lock(warnings_mutex_);
    warnings_ = std::move(warnings);
  }

 private:
  mutable std::mutex warnings_mutex_;
  std::vector<std::string> warnings_;
};

}  // namespace indx
