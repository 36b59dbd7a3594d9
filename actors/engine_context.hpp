#pragma once
#include "actors/core.hpp"
#include "actors/engine_doctor.hpp"
#include "actors/engine_files.hpp"
#include "actors/engine_jobs.hpp"
#include "actors/engine_links.hpp"
#include "actors/engine_lists.hpp"
#include "actors/engine_retrieval.hpp"
#include "actors/engine_versions.hpp"
#include "actors/model_ledger.hpp"
#include "actors/visible_files.hpp"
#include "ai/remote_embedder.hpp"
#include "ops/context.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

namespace indx {

inline constexpr milliseconds kTellProgressEvery{250};

/// One run of a handler, shared by its lanes.
struct Run {
  Run(Core& the_core, Principal caller, CancelToken token, std::string the_operation)
      : core(the_core),
        principal(std::move(caller)),
        cancel(std::move(token)),
        operation(std::move(the_operation)) {}

  Core& core;
  const Principal principal;
  const CancelToken cancel;
  const std::string operation;
  std::optional<Lease> lease;                 ///< set: a job
  std::optional<IdempotencyKey> idempotency;  ///< of an inline call
  bool keep = false;                          ///< of the job, for its children
  int priority = 0;                           ///< likewise
  std::atomic<bool> has_lost_lease = false;
  std::atomic<int> emitted = 0;
  std::atomic<int> waiting_calls = 0;  ///< of a model, for their turn
  std::atomic<bool> is_held = false;   ///< `held` is set: nothing new begins

  std::mutex mutex;  ///< guards what follows
  std::set<std::string> used_keys;
  JobProgress progress;
  bool has_untold_progress = false;
  bool has_told_last = false;  ///< the phase's last unit is done, and was told
  std::string waits_for;       ///< as JobProgress says
  std::optional<Error> held;   ///< the suspension of a job that gives its runner back
  std::chrono::nanoseconds started{}, last_told{};
  std::int64_t model_calls = 0;
  double cost_usd = 0;
  std::vector<AiCache::Answer> answers;  ///< of items that came to their end, to be kept
};

/// The Context of inline calls, of jobs and of their lanes.
class EngineContext : public Context, private Notes, private Index, private Models, private Tokens {
 public:
  /// `prefix` is the lane's part of step keys, empty outside of lanes.
  explicit EngineContext(std::shared_ptr<Run> run, std::string prefix = "");
  ~EngineContext() override;

  const Principal& principal() const override { return run_->principal; }
  const Config& config() const override { return run_->core.parts.config; }
  const Clock& clock() const override { return run_->core.parts.clock; }
  const CancelToken& cancel() const override { return run_->cancel; }
  bool is_job() const override { return run_->lease.has_value(); }

  Notes& notes() override { return *this; }
  Index& index() override { return *this; }
  Links& links() override { return links_; }
  Versions& versions() override { return versions_; }
  Lists& lists() override { return lists_; }
  Retrieval& retrieval() override { return retrieval_; }
  Files& files() override { return files_; }
  Doctor& doctor() override { return doctor_; }
  Jobs& jobs() override { return jobs_; }
  Models& models() override { return *this; }
  Tokens& tokens() override { return *this; }

  Result<Json> step(std::string_view key, const Json& inputs,
                    const std::function<Result<Json>()>& fn) override;
  using Context::map;
  Result<std::vector<Result<Json>>> map(std::string_view phase, const std::vector<MapItem>& items,
                                        const MapFn& fn, const MapOptions& options) override;
  Status sleep(std::string_view key, milliseconds time) override;
  Result<std::vector<Result<Json>>> run_children(std::string_view key,
                                                 const std::vector<ChildJob>& children,
                                                 MapOptions::OnFailure on_failure) override;
  Result<WriteOutcome> write_step(std::string_view key, const NoteChange& change) override;
  void progress(const JobProgress& progress) override;
  void emit(const std::string& kind, const Json& data) override;

 private:
  // Notes
  Result<NoteFile> read(const NotePath& path) override;
  std::shared_ptr<const ParsedNote> parse(const NoteFile& file) override {
    return core_.parts.parsed.get(file);
  }
  bool exists(const NotePath& path) override;
  Result<WriteOutcome> write(const NoteChange& change) override;
  Result<std::vector<Json>> check_etags(
      const std::vector<std::pair<NotePath, std::string>>& expected) override;
  // Index
  Result<Page<NoteRow>> list(NoteFilter filter, int limit, const std::string& cursor) override;
  Result<SearchPage> search(SearchRequest request) override;
  Result<std::vector<TagCount>> tags() override;
  Result<std::vector<ResolvedLink>> forward_links(const NotePath& path) override;
  Result<std::vector<std::string>> paths_with_tag(const std::string& tag) override;
  Result<IndexCounts> counts() override;
  Status visit_files(const BaseRowNeeds& needs, const BaseRowVisitor& visit) override;
  Json indexing() override;
  Result<std::shared_ptr<const Corpus>> corpus() override;
  Result<Json> reindex(const Reindex& request) override;
  Result<NamedFiles> find_named(const std::vector<std::string>& patterns, bool rebuild) override;
  Result<Json> index_files(const std::vector<std::string>& paths, bool rebuild) override;
  // Models
  bool is_configured() const override;
  std::string provider() const override;
  std::string model() const override;
  bool can_generate() const override;
  Result<GenerateReply> generate(const GenerateRequest& request, const std::string& item) override;
  void keep_answers() override;
  Result<Json> usage_today() override;
  KeptAnswers kept_answers() override;
  // Tokens
  Result<NewToken> create(const std::string& name, const std::vector<std::string>& scopes,
                          const std::vector<std::string>& path_globs) override;
  Result<std::vector<Json>> list() override;
  Result<bool> revoke(const std::string& id) override;

  Result<std::string> take_key(std::string_view key);
  Result<std::optional<Json>> stored_step(const std::string& key, const std::string& inputs_hash);
  WriteRequest write_request(const NoteChange& change) const;
  Result<WriteOutcome> send(WriteRequest request);
  std::optional<Error> held() const;
  Error hold(Error suspension);
  void hold_for_long_pause(const Result<GenerateReply>& reply);
  Result<std::uint64_t> admit_model_call(std::int64_t tokens, bool can_do_without);
  /// What a call is recorded as.
  struct CallNames {
    std::string feature, item;
    bool can_do_without = false;  ///< its caller goes on without an answer, rather than wait long
  };
  /// One call within the limits, with retries and a record of each try.
  Result<GenerateReply> call_model(Provider& called, const GenerateRequest& request,
                                   const CallNames& names);
  /// Vectors of the model of this process.
  Result<std::vector<std::vector<float>>> embed_texts(std::span<const std::string> texts);
  Result<EmbedReply> embed_remotely(RemoteEmbedder& embedder, std::span<const std::string> texts);
  Error held_by_daily_limit(Error refused);
  struct AnswerPlace {
    std::string key;
    milliseconds keep_for{};
  };
  std::optional<AnswerPlace> answer_place(const GenerateRequest& request) const;
  std::optional<GenerateReply> kept_answer(const AnswerPlace& place);
  void remember_answer(const AnswerPlace& place, const GenerateReply& reply);
  void hand_answers_over();
  void tell_progress(const std::optional<JobProgress>& progress, bool at_once);
  void note_lost_lease(const Error& error);
  Result<Json> change_leased(std::function<Result<Json>(State&)> apply);
  /// A change that is all that the open step does: what it gives is stored with it as the result of
  /// the step, so the step's function has to give the same.
  Result<Json> change_in_step(std::function<Result<Json>(State&)> apply);
  struct Lanes;
  Result<Json> run_item(std::string_view phase, const MapItem& item, const MapFn& fn,
                        bool keeps_result);
  Result<Json> guarded_item(std::string_view phase, const MapItem& item, const MapFn& fn,
                            bool keeps_result);
  Result<JobRequest> child_request(const ChildJob& child);
  Result<std::vector<std::string>> child_jobs(const std::string& full_key,
                                              const std::vector<ChildJob>& children);

  std::shared_ptr<Run> run_;  // shared: with the lanes of a map
  Core& core_;
  const VisibleFiles visible_;
  EngineLinks links_;
  EngineVersions versions_;
  EngineLists lists_;
  EngineRetrieval retrieval_;
  EngineFiles files_;
  EngineDoctor doctor_;
  EngineJobs jobs_;
  std::string prefix_;
  std::vector<UsageRecord>
      unsettled_;  ///< calls that ended inside the current step, committed with it
  std::map<std::string, std::string> notes_read_;  ///< path → etag
  std::vector<AiCache::Answer> answers_;           ///< to the questions of the item in hand
  /// The step whose function runs.
  struct OpenStep {
    std::string key, inputs_hash;
    bool is_stored = false;
  };
  OpenStep* open_step_ = nullptr;
};

}  // namespace indx
