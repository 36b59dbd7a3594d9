#pragma once
#include "ai/extractive/corpus.hpp"
#include "ai/provider.hpp"
#include "base/cancel.hpp"
#include "base/config.hpp"
#include "base/event.hpp"
#include "base/file_bytes.hpp"
#include "jobs/job.hpp"
#include "ops/principal.hpp"
#include "vault/base_rows.hpp"
#include "vault/markdown.hpp"
#include "vault/note_edit.hpp"
#include "vault/note_query.hpp"
#include "vault/vault.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// The interfaces a handler may use. The engine implements them; tests fake them. Every call is
/// already bound to the caller: paths outside the caller's globs are `forbidden` to name and
/// invisible in lists.

class Notes {
 public:
  virtual ~Notes() = default;
  /// Exact bytes. `not_found` for missing and ignored paths, `forbidden` outside the caller's
  /// globs.
  virtual Result<NoteFile> read(const NotePath& path) = 0;
  virtual bool exists(const NotePath& path) = 0;
  /// What the note holds, by the configured rules; kept for the next who reads the same bytes.
  virtual std::shared_ptr<const ParsedNote> parse(const NoteFile& file) = 0;
  /// Guard, version, atomic replace, event, index (architecture section 4). Outside of jobs.
  virtual Result<WriteOutcome> write(const NoteChange& change) = 0;
  /// Checks every `path → etag` under the writer's lock before anything is written (R14).
  virtual Result<std::vector<Json>> check_etags(
      const std::vector<std::pair<NotePath, std::string>>& expected) = 0;
};

class Index {
 public:
  virtual ~Index() = default;
  virtual Result<Page<NoteRow>> list(NoteFilter filter, int limit, const std::string& cursor) = 0;
  virtual Result<SearchPage> search(SearchRequest request) = 0;
  virtual Result<std::vector<TagCount>> tags() = 0;
  virtual Result<std::vector<ResolvedLink>> forward_links(const NotePath& path) = 0;
  virtual Result<std::vector<std::string>> paths_with_tag(const std::string& tag) = 0;
  virtual Result<IndexCounts> counts() = 0;
  /// Every file that the caller may see, in order of paths, for bases.
  virtual Status visit_files(const BaseRowNeeds& needs, const BaseRowVisitor& visit) = 0;
  /// `{state: idle|indexing, done, total, is_complete}`; the last is false while the first
  /// comparison with the files since the start still fills the index.
  virtual Json indexing() = 0;
  /// Statistics over the notes that the caller may see; cached by vault generation.
  virtual Result<std::shared_ptr<const Corpus>> corpus() = 0;
  struct Reindex {
    bool rebuild = false;   ///< parse unchanged files too: empty the index first
    bool reset_db = false;  ///< the same with a new index.db
    /// Empties it through this, so that a job can make a step of that: what is indexed by then is
    /// not thrown away again by the next try. Empty function: at once.
    std::function<Result<Json>(const std::function<Result<Json>()>& empty)> once = {};
  };
  /// Compares all files with the index and brings it up to date. Blocks, and tells its progress.
  /// Gives counts: `{created, updated, deleted, unchanged, failed, took_ms}`. `conflict` while
  /// another one runs.
  virtual Result<Json> reindex(const Reindex& request) = 0;
  struct NamedFiles {
    std::vector<std::string> to_index;  ///< in order of paths; gone ones too
    std::int64_t unchanged = 0;
    std::vector<std::string> unmatched;  ///< patterns that name nothing
  };
  /// What has to be indexed of these files, folders and globs; with `rebuild` all that they name.
  /// `conflict` while `reindex` runs.
  virtual Result<NamedFiles> find_named(const std::vector<std::string>& patterns, bool rebuild) = 0;
  /// Brings the rows of these files up to date in one commit or a few; those of others stay as they
  /// are. Blocks. Gives the counts of `reindex`.
  virtual Result<Json> index_files(const std::vector<std::string>& paths, bool rebuild) = 0;
};

class AiStream;   // ops/ai_stream.hpp
class Files;      // ops/files.hpp
struct Upload;    // ops/files.hpp
class Doctor;     // ops/doctor.hpp
class Jobs;       // ops/jobs.hpp
class Links;      // ops/links.hpp
class Lists;      // ops/lists.hpp
class Retrieval;  // ops/retrieval.hpp
class Versions;   // ops/versions.hpp

class Models {
 public:
  virtual ~Models() = default;
  virtual bool is_configured() const = 0;
  virtual std::string provider() const = 0;  ///< empty: none
  virtual std::string model() const = 0;
  virtual bool can_generate() const = 0;  ///< false for `builtin`
  /// One logical call with transport retries, usage rows and limits (G8). `item` names what it is
  /// about (a path).
  virtual Result<GenerateReply> generate(const GenerateRequest& request,
                                         const std::string& item) = 0;
  /// The answers that this run got are kept for who asks the same (row D47); without it they are
  /// forgotten with the run.
  virtual void keep_answers() {}
  /// `{calls, input_tokens, output_tokens, cost_usd, invocations, cache_hits, cache_misses}` since
  /// midnight UTC.
  virtual Result<Json> usage_today() = 0;
  struct KeptAnswers {
    bool is_enabled = false;
    std::int64_t hits_24h = 0, size_bytes = 0;
  };
  virtual KeptAnswers kept_answers() { return {}; }
};

struct NewToken {
  std::string id, secret;
};
class Tokens {
 public:
  virtual ~Tokens() = default;
  virtual Result<NewToken> create(const std::string& name, const std::vector<std::string>& scopes,
                                  const std::vector<std::string>& path_globs) = 0;
  virtual Result<std::vector<Json>>
  list() = 0;  ///< `{id, name, scopes, path_globs, created_at, last_used_at, revoked_at}`
  virtual Result<bool> revoke(const std::string& id) = 0;
};

/// One item of a map: its id is part of the step key, its inputs are hashed (G4).
struct MapItem {
  std::string id;
  Json inputs;
};

struct MapOptions {
  enum class OnFailure : std::uint8_t {
    Collect,  ///< failed items are Errors among the results
    FailFast  ///< the first final failure ends the map with it; items in hand are finished
  };
  OnFailure on_failure = OnFailure::Collect;
  /// False: nothing is stored for an item itself, for its own steps tell a resumed job what was
  /// done. Saves a commit an item.
  bool keeps_results = true;
  /// Items at a time; 0: `jobs.lanes_per_job`, which bounds calls of models. What waits for the
  /// disk may take more, for one sync can serve several files.
  std::size_t lanes = 0;
};
/// For items that each write a note.
constexpr std::size_t kWriteLanes = 24;

/// A job that a job has made to do a part of its work.
struct ChildJob {
  std::string id;  ///< of the part, in this run
  std::string kind;
  Json input;
};

/// What one run of a handler sees. Inline, `step` and `map` just call `fn`; in a job their results
/// are committed, and a resumed job gets the stored ones. Not thread-safe: each lane gets a Context
/// of its own.
class Context {
 public:
  virtual ~Context() = default;

  virtual const Principal& principal() const = 0;
  virtual const Config& config() const = 0;
  virtual const Clock& clock() const = 0;
  virtual const CancelToken& cancel() const = 0;
  virtual bool is_job() const = 0;

  virtual Notes& notes() = 0;
  virtual Index& index() = 0;
  virtual Links& links() = 0;
  virtual Versions& versions() = 0;
  virtual Lists& lists() = 0;
  virtual Retrieval& retrieval() = 0;
  virtual Files& files() = 0;
  virtual Doctor& doctor() = 0;
  virtual Jobs& jobs() = 0;
  virtual Models& models() = 0;
  virtual Tokens& tokens() = 0;

  /// Runs `fn` once ever for this key and these inputs. A key may be used once in a run.
  virtual Result<Json> step(std::string_view key, const Json& inputs,
                            const std::function<Result<Json>()>& fn) = 0;
  /// One step `phase/<id>/item` an item, in parallel lanes; results in input order, failed items as
  /// Errors. Ends early with `cancelled` when the call is cancelled. `fn` must not share state.
  using MapFn = std::function<Result<Json>(Context& lane, const MapItem& item)>;
  virtual Result<std::vector<Result<Json>>> map(std::string_view phase,
                                                const std::vector<MapItem>& items, const MapFn& fn,
                                                const MapOptions& options) = 0;
  Result<std::vector<Result<Json>>> map(std::string_view phase, const std::vector<MapItem>& items,
                                        const MapFn& fn) {
    return map(phase, items, fn, {});
  }
  /// The next line of the handler runs `time` after the first try came here, over restarts; a job
  /// holds no runner meanwhile, for the handler is left with `suspended` and runs again from its
  /// start. Inline, it waits.
  virtual Status sleep(std::string_view key, milliseconds time) = 0;
  /// Results of child jobs in the order of `children`, failed ones as Errors. The first try makes
  /// them and leaves the handler with `suspended`; it runs again from its start when they have
  /// ended. With FailFast the first failure cancels the others and is the answer. Only in a job.
  virtual Result<std::vector<Result<Json>>> run_children(std::string_view key,
                                                         const std::vector<ChildJob>& children,
                                                         MapOptions::OnFailure on_failure) = 0;
  /// A note write that is also a step: done when its intent is done (G4).
  virtual Result<WriteOutcome> write_step(std::string_view key, const NoteChange& change) = 0;

  virtual void progress(const JobProgress& progress) = 0;
  /// A durable event of this call, told after it is committed. `kind` and `data` only; the rest is
  /// filled in.
  virtual void emit(const std::string& kind, const Json& data) = 0;

  /// What the call asks, as the handler got it; an empty object outside of a handler.
  const Json& input() const {
    static const Json kNothing = Json::object();
    return input_ != nullptr ? *input_ : kNothing;
  }
  /// It has to live as long as the handler runs.
  void give_input(const Json* input) { input_ = input; }
  /// The file that came with an inline call; null: none.
  const Upload* upload() const { return upload_.get(); }
  void give_upload(std::shared_ptr<const Upload> upload) { upload_ = std::move(upload); }
  /// A file that the answer of an inline call comes with, beside its output.
  void answer_with(FileBytes bytes) { file_ = std::make_shared<const FileBytes>(std::move(bytes)); }
  std::shared_ptr<const FileBytes> take_file() { return std::exchange(file_, nullptr); }

  /// Who listens to the answer while it is made; null: nobody.
  const std::shared_ptr<AiStream>& stream() const { return stream_; }
  void give_stream(std::shared_ptr<AiStream> stream) { stream_ = std::move(stream); }

 private:
  const Json* input_ = nullptr;            // of who calls the handler
  std::shared_ptr<AiStream> stream_;       // shared: with the call and its lanes
  std::shared_ptr<const Upload> upload_;   // shared: with the call
  std::shared_ptr<const FileBytes> file_;  // shared: with the answer
};

}  // namespace indx
