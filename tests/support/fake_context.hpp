#pragma once
#include "base/assert.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "ops/context.hpp"
#include "ops/doctor.hpp"
#include "ops/files.hpp"
#include "ops/links.hpp"
#include "ops/lists.hpp"
#include "ops/retrieval.hpp"
#include "ops/versions.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/fake_jobs.hpp"

#include <algorithm>
#include <map>

namespace indx {

/// A vault in memory and a Context over it, for handlers. Shared by the Contexts of one test's
/// lanes.
struct FakeWorld {
  std::map<std::string, std::string> files;
  Config config;
  FakeClock clock;
  Principal principal{"local", Surface::Api, {Scope::VaultAdmin}, {}, "req1"};
  CancelToken cancel;

  bool has_whole_index = true;
  bool is_configured = true, can_generate = false;
  std::function<Result<GenerateReply>(const GenerateRequest&, const std::string& item)> generate;
  std::vector<GenerateRequest> requests;
  std::string model_name = "m1";  ///< of what can generate

  Files* files_seen = nullptr;     ///< what `files()` gives; tests that ask for files set it
  Lists* lists = nullptr;          ///< what `lists()` gives; tests that ask for lists set it
  Doctor* doctor = nullptr;        ///< what `doctor()` gives; tests that ask for it set it
  Links* links = nullptr;          ///< what `links()` gives; tests that ask for links set it
  Retrieval* retrieval = nullptr;  ///< what `retrieval()` gives; null: there are no embeddings

  std::vector<std::pair<std::string, KeptVersion>>
      versions;  ///< path and before-image, oldest first

  std::vector<Job> jobs;
  FakeQueue queue;
  std::vector<Json> tokens;
  std::map<std::string, Json> steps;           ///< stored ones; keep them to play a resumed job
  std::vector<std::string> steps_run, writes;  ///< keys and paths, in order
  std::vector<Json> events;
  std::vector<JobProgress> progress;
  int index_emptied = 0;             ///< how often the whole index was
  std::vector<std::string> indexed;  ///< paths, in order
  std::function<Status(const std::vector<std::string>& paths)> before_index;
  std::function<void(const std::string& path)> before_write;
  std::optional<Error> write_error;                     ///< what every write answers
  std::function<void(const Json& journal)> on_journal;  ///< gets those that changes bring

  bool is_visible(const std::string& path) const { return principal.path_scope().allows(path); }
  std::string etag(const std::string& path) const { return etag_of(files.at(path)); }
};

/// Versions in memory: the before-images that a FakeContext's writes leave.
class FakeVersions : public Versions {
 public:
  explicit FakeVersions(FakeWorld& world) : world_(world) {}
  Result<Page<VersionRow>> list(const NotePath& path, int limit,
                                const std::string& cursor) override {
    Page<VersionRow> page;
    for (auto it = world_.versions.rbegin(); it != world_.versions.rend(); ++it) {
      if (it->first != path.str() || (!cursor.empty() && it->second.row.id >= std::stoll(cursor)))
        continue;
      if (page.rows.size() == static_cast<std::size_t>(limit)) {
        page.next_cursor = std::to_string(page.rows.back().id);
        break;
      }
      page.rows.push_back(it->second.row);
    }
    return page;
  }
  Result<KeptVersion> read(const NotePath& path, std::int64_t id) override {
    for (const auto& [owner, kept] : world_.versions)
      if (owner == path.str() && kept.row.id == id) return kept;
    return not_found("no such version");
  }
  Result<std::string> before_image(const NotePath&, const JobId&,
                                   const std::string& sha256) override {
    for (const auto& [owner, kept] : world_.versions)
      if (kept.row.sha256 == sha256) return kept.bytes;
    return not_found("no such version");
  }
  Result<std::vector<std::string>> reverted_by(const JobId& job) override {
    std::vector<std::string> ids;
    for (const auto& other : world_.jobs)
      if (other.reverts == job.value) ids.push_back(other.id.value);
    return ids;
  }

 private:
  FakeWorld& world_;
};

/// No model for embeddings, and nothing found.
class NoRetrieval : public Retrieval {
 public:
  Result<Vectors> vectors() override { return Vectors::Off; }
  Result<EmbeddingCounts> counts() override { return EmbeddingCounts{}; }
  std::string model() override { return ""; }
  Result<std::unique_ptr<RetrievalSource>> ask(const RetrievalQuestion&, bool) override {
    return make_error(Reason::AiUnavailable, "no embeddings");
  }
  Result<std::vector<NearChunk>> near_note(const NotePath&, NoteFilter, std::size_t) override {
    return std::vector<NearChunk>();
  }
  Result<std::vector<std::vector<float>>> embed(std::span<const std::string>) override {
    return make_error(Reason::AiUnavailable, "no embeddings");
  }
  Result<std::vector<ChunkToEmbed>> to_embed(const std::string&, int) override {
    return std::vector<ChunkToEmbed>();
  }
  Status keep(const std::vector<EmbeddedChunk>&) override { return {}; }
  Status forget_all() override { return {}; }
  Status forget_left_out() override { return {}; }
  Result<std::int64_t> tidy() override { return std::int64_t{0}; }
  void end_pass() override {}
};

class FakeContext : public Context, Notes, Index, Models, Tokens {
 public:
  explicit FakeContext(FakeWorld& world, bool is_job = false) : world_(world), is_job_(is_job) {}

  const Principal& principal() const override { return world_.principal; }
  const Config& config() const override { return world_.config; }
  const Clock& clock() const override { return world_.clock; }
  const CancelToken& cancel() const override { return world_.cancel; }
  bool is_job() const override { return is_job_; }
  Notes& notes() override { return *this; }
  Index& index() override { return *this; }
  Links& links() override {
    INDX_ASSERT(world_.links != nullptr);
    return *world_.links;
  }
  Versions& versions() override { return versions_; }
  Lists& lists() override {
    INDX_ASSERT(world_.lists != nullptr);
    return *world_.lists;
  }
  Retrieval& retrieval() override {
    return world_.retrieval != nullptr ? *world_.retrieval : no_retrieval_;
  }
  Files& files() override {
    INDX_ASSERT(world_.files_seen != nullptr);
    return *world_.files_seen;
  }
  Doctor& doctor() override {
    INDX_ASSERT(world_.doctor != nullptr);
    return *world_.doctor;
  }
  Jobs& jobs() override { return jobs_; }
  Models& models() override { return *this; }
  Tokens& tokens() override { return *this; }

  Result<Json> step(std::string_view key, const Json& inputs,
                    const std::function<Result<Json>()>& fn) override {
    const std::string id = std::string(key) + "#" + canonical_hash(inputs);
    if (is_job_ && world_.steps.contains(id)) return world_.steps[id];
    world_.steps_run.emplace_back(key);
    auto result = fn();
    if (is_job_ && result) world_.steps[id] = *result;
    return result;
  }
  Result<std::vector<Result<Json>>> map(std::string_view phase, const std::vector<MapItem>& items,
                                        const MapFn& fn, const MapOptions& options) override {
    std::vector<Result<Json>> results;
    for (const auto& item : items) {
      if (world_.cancel.is_cancelled()) return make_error(Reason::Cancelled, "cancelled");
      const auto run = [&] { return fn(*this, item); };
      results.push_back(options.keeps_results
                            ? step(cat(phase, "/", item.id, "/item"), item.inputs, run)
                            : run());
      const bool is_over = options.on_failure == MapOptions::OnFailure::FailFast;
      if (is_over && !results.back()) return results.back().error();
    }
    return results;
  }
  /// No time goes by.
  Status sleep(std::string_view, milliseconds) override { return {}; }
  Result<std::vector<Result<Json>>> run_children(std::string_view, const std::vector<ChildJob>&,
                                                 MapOptions::OnFailure) override {
    return make_error(Reason::Unavailable, "Nothing runs here.");
  }
  Result<WriteOutcome> write_step(std::string_view key, const NoteChange& change) override {
    if (is_job_ && world_.steps.contains(std::string(key)))
      return write_outcome_from_json(world_.steps[std::string(key)]);
    auto outcome = write(change);
    if (is_job_ && outcome) world_.steps[std::string(key)] = to_json(*outcome);
    return outcome;
  }
  void progress(const JobProgress& progress) override { world_.progress.push_back(progress); }
  void emit(const std::string& kind, const Json& data) override {
    world_.events.push_back(Json{{"kind", kind}, {"data", data}});
  }

  // Notes
  std::shared_ptr<const ParsedNote> parse(const NoteFile& file) override {
    return std::make_shared<const ParsedNote>(
        parse_note(file.bytes, {world_.config.legacy_properties}));
  }
  Result<NoteFile> read(const NotePath& path) override {
    if (!world_.is_visible(path.str())) return make_error(Reason::Forbidden, "outside");
    const auto it = world_.files.find(path.str());
    if (it == world_.files.end()) return not_found("No note " + path.str());
    return NoteFile{path, it->second, etag_of(it->second), world_.clock.now(), it->second.size()};
  }
  bool exists(const NotePath& path) override { return world_.files.contains(path.str()); }
  Result<WriteOutcome> write(const NoteChange& change) override {
    const std::string& path = change.path.str();
    if (!world_.is_visible(path)) return make_error(Reason::Forbidden, "outside");
    if (world_.write_error) return *world_.write_error;
    if (world_.before_write) world_.before_write(path);
    if (world_.on_journal && !change.journal.is_null()) world_.on_journal(change.journal);
    const auto it = world_.files.find(path);
    const auto before = it == world_.files.end() ? std::nullopt : std::optional(it->second);
    std::vector<AnchorChange> anchors;
    const auto after = INDX_TRY(apply_change(change, before, &anchors));
    WriteOutcome outcome{change.path,
                         before ? etag_of(*before) : "",
                         after ? etag_of(*after) : "",
                         "",
                         0,
                         0,
                         !before,
                         before != after,
                         "",
                         "",
                         {},
                         anchors};
    if (before) outcome.old_size = before->size();
    if (after) outcome.size = after->size();
    if (change.dry_run) outcome.diff = unified_diff(path, before.value_or(""), after.value_or(""));
    if (change.dry_run || !outcome.changed) return outcome;
    world_.writes.push_back(path);
    if (before)
      world_.versions.emplace_back(
          path,
          KeptVersion{{static_cast<std::int64_t>(world_.versions.size()) + 1, etag_of(*before),
                       sha256_hex(*before), before->size(), world_.clock.now(), ""},
                      *before});
    if (after)
      world_.files[path] = *after;
    else
      world_.files.erase(path);
    return outcome;
  }
  Result<std::vector<Json>> check_etags(
      const std::vector<std::pair<NotePath, std::string>>& expected) override {
    std::vector<Json> failed;
    for (const auto& [path, etag] : expected)
      if (const auto actual = world_.etag(path.str()); actual != etag)
        failed.push_back(Json{{"path", path.str()}, {"expected", etag}, {"actual", actual}});
    return failed;
  }

  // Index
  Result<Page<NoteRow>> list(NoteFilter filter, int limit, const std::string& cursor) override {
    Page<NoteRow> page;
    for (const auto& [path, bytes] : world_.files) {
      if (!world_.is_visible(path) || path <= cursor) continue;
      if (!filter.path_glob.empty() && !glob_match(filter.path_glob, path)) continue;
      if (page.rows.size() == static_cast<std::size_t>(limit)) {
        page.next_cursor = page.rows.back().path;
        break;
      }
      page.rows.push_back(
          {path, path, etag_of(bytes), bytes.size(), world_.clock.now(), tags_of(bytes)});
    }
    return page;
  }
  Result<SearchPage> search(SearchRequest request) override {
    SearchPage page;
    for (const auto& [path, bytes] : world_.files)
      if (world_.is_visible(path) && bytes.find(request.q) != std::string::npos &&
          page.rows.size() < static_cast<std::size_t>(request.limit))
        page.rows.push_back({path, path, 1.5, "**" + request.q + "**", {}, {"body"}, "all"});
    return page;
  }
  Result<std::vector<TagCount>> tags() override {
    std::map<std::string, int> counts;
    for (const auto& [path, bytes] : world_.files)
      for (const auto& tag : tags_of(bytes)) ++counts[tag];
    std::vector<TagCount> rows;
    for (const auto& [tag, count] : counts) rows.push_back({tag, count, count});
    return rows;
  }
  Result<std::vector<ResolvedLink>> forward_links(const NotePath& path) override {
    const NoteFile file = INDX_TRY(read(path));
    std::vector<ResolvedLink> links;
    for (const auto& link : parse_note(file.bytes).links) {
      const bool found = world_.files.contains(link.target + ".md");
      links.push_back({link, found ? std::optional(link.target + ".md") : std::nullopt, true, {}});
    }
    return links;
  }
  Result<std::vector<std::string>> paths_with_tag(const std::string& tag) override {
    std::vector<std::string> paths;
    for (const auto& [path, bytes] : world_.files) {
      const auto tags = tags_of(bytes);
      const bool has = std::any_of(tags.begin(), tags.end(), [&](const auto& t) {
        return fold_case(t) == fold_case(tag) || fold_case(t).starts_with(fold_case(tag) + "/");
      });
      if (has && world_.is_visible(path)) paths.push_back(path);
    }
    return paths;
  }
  Result<IndexCounts> counts() override {
    IndexCounts counts;
    counts.notes = counts.files = static_cast<int>(world_.files.size());
    counts.generation = "e-1";
    return counts;
  }
  Status visit_files(const BaseRowNeeds& needs, const BaseRowVisitor& visit) override {
    for (const auto& [path, bytes] : world_.files) {
      if (!world_.is_visible(path)) continue;
      BaseFileRow row;
      row.path = path;
      row.size = bytes.size();
      row.modified_ms = to_millis(world_.clock.now());
      if (needs.created) row.created_ms = row.modified_ms;
      if (needs.properties) row.properties = parse_note(bytes).frontmatter.values.dump();
      if (needs.tags) row.tags = tags_of(bytes);
      visit(std::move(row));
    }
    return {};
  }
  Json indexing() override {
    return Json{{"state", world_.has_whole_index ? "idle" : "indexing"},
                {"done", 0},
                {"total", 0},
                {"is_complete", world_.has_whole_index}};
  }
  Result<std::shared_ptr<const Corpus>> corpus() override {
    const auto corpus = std::make_shared<Corpus>();
    for (const auto& [path, bytes] : world_.files) corpus->add(path, bytes, tags_of(bytes));
    corpus->finish();
    return std::shared_ptr<const Corpus>(corpus);
  }
  Result<Json> reindex(const Reindex& request) override {
    const auto empty = [this]() -> Result<Json> {
      ++world_.index_emptied;
      return Json();
    };
    if (request.rebuild || request.reset_db) INDX_TRY(request.once ? request.once(empty) : empty());
    return Json{{"rebuild", request.rebuild}, {"reset_db", request.reset_db}};
  }
  Result<NamedFiles> find_named(const std::vector<std::string>& patterns, bool) override {
    NamedFiles named;
    for (const auto& pattern : patterns) {
      const auto before = named.to_index.size();
      for (const auto& [path, bytes] : world_.files)
        if (pattern == path || glob_match(pattern, path)) named.to_index.push_back(path);
      if (named.to_index.size() == before) named.unmatched.push_back(pattern);
    }
    std::sort(named.to_index.begin(), named.to_index.end());
    return named;
  }
  Result<Json> index_files(const std::vector<std::string>& paths, bool) override {
    if (world_.before_index) INDX_TRY(world_.before_index(paths));
    world_.indexed.insert(world_.indexed.end(), paths.begin(), paths.end());
    return Json{{"updated", paths.size()}};
  }

  // Models
  bool is_configured() const override { return world_.is_configured; }
  std::string provider() const override { return world_.can_generate ? "openai" : "builtin"; }
  std::string model() const override { return world_.can_generate ? world_.model_name : "builtin"; }
  bool can_generate() const override { return world_.can_generate; }
  Result<GenerateReply> generate(const GenerateRequest& request, const std::string& item) override {
    world_.requests.push_back(request);
    return world_.generate(request, item);
  }
  Result<Json> usage_today() override {
    return Json{{"calls", 2}, {"input_tokens", 30}, {"output_tokens", 4}, {"cost_usd", 0.5}};
  }

  // Tokens
  Result<NewToken> create(const std::string& name, const std::vector<std::string>&,
                          const std::vector<std::string>&) override {
    return NewToken{"tok_" + name, "indx_secret"};
  }
  Result<std::vector<Json>> list() override { return world_.tokens; }
  Result<bool> revoke(const std::string& id) override { return id == "tok_live"; }

 private:
  static std::vector<std::string> tags_of(const std::string& bytes) {
    std::vector<std::string> tags;
    for (const auto& use : parse_note(bytes).tags)
      if (std::find(tags.begin(), tags.end(), use.tag) == tags.end()) tags.push_back(use.tag);
    return tags;
  }
  FakeWorld& world_;
  bool is_job_;
  FakeVersions versions_{world_};
  NoRetrieval no_retrieval_;
  FakeJobs jobs_{world_.jobs, world_.queue, world_.principal, world_.clock};
};

/// Validates the input and runs the operation, as dispatch does.
inline Result<Json> run_operation(FakeWorld& world, const Operation& operation, const Json& input,
                                  bool is_job = false) {
  const Json checked = INDX_TRY(validate(operation.input, input));
  FakeContext context(world, is_job);
  return operation.handler(context, checked);
}

}  // namespace indx
