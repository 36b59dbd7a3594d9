#include "actors/indexer.hpp"

#include "actors/index_files.hpp"
#include "actors/path_patterns.hpp"
#include "actors/state.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <algorithm>
#include <deque>

namespace indx {
namespace {

/// A slice ends soon when somebody waits; else it goes on, for each commit writes a good part of
/// the trees of names and links, the larger they are the more: a tenth of the scan so far.
constexpr std::chrono::milliseconds kShortSlice{50}, kLongSlice{1000}, kLongestSlice{3000};
constexpr std::size_t kSliceNotes = 10'000;
/// Changes within so long get their vectors from one job.
constexpr std::chrono::seconds kEmbedAfter{2};
/// From so many new files on, and when they are the larger part, the index is told of them first.
constexpr std::size_t kBulkFiles = 1000;

std::string fs_event_kind(FileChange change, std::string_view path) {
  return cat(event_family(path), ".") + (change == FileChange::Created   ? "created"
                                         : change == FileChange::Deleted ? "deleted"
                                                                         : "updated");
}

struct IndexerState {
  struct Scan {
    std::unique_ptr<ReadAhead> files;  ///< those that may have changed
    std::deque<std::string> gone;
    bool is_bulk = false;  ///< the index has something left to do after the files
    bool files_are_done() const { return gone.empty() && (!files || files->is_done()); }
    bool is_done() const { return files_are_done() && !is_bulk; }
    bool is_whole = false;  ///< of all files, and nothing was left out
    bool is_named = false;  ///< of named files: one of many such slices of a job
    bool force = false;
    bool is_external = false;
    std::int64_t created = 0, updated = 0, deleted = 0, unchanged = 0, failed = 0;
    std::chrono::nanoseconds started{};
    std::vector<caf::typed_response_promise<Reply>> promises;
  };

  explicit IndexerState(IndexerActor::pointer self_pointer) : self(self_pointer) {}
  IndexerState(const IndexerState&) = delete;
  IndexerState& operator=(const IndexerState&) = delete;
  /// An owed answer keeps its actor alive, so the end of the actor has to settle them.
  ~IndexerState() {
    if (current)
      for (auto& promise : current->promises) promise.deliver(actor_is_gone());
    for (auto& [request, promise] : next_scans) promise.deliver(actor_is_gone());
  }

  ParseOptions options() const { return {parts->config.legacy_properties}; }
  Status open();
  Status make_anew(bool keeps_old);
  void heal(const Error& error);
  /// Paths that could not be indexed.
  Result<Json> index(const IndexRequest& request);
  void scan(ScanRequest request, caf::typed_response_promise<Reply> promise);
  /// Takes up what was asked for in the meantime, up to the next that works in slices.
  void start_next();
  /// Null for what answers at its end.
  Result<Json> act(const ScanRequest& request);
  Result<VaultListing> list_files();
  Result<Json> find(const ScanRequest& request);
  Status clear();
  Status begin_scan(const ScanRequest& request);
  Status start_scan(Scan scan, FileIndexer::Difference difference);
  void slice();
  Status work_on_slice();
  void tell(FileChange change, const std::string& path, const std::string& etag);
  void end_scan();
  Result<Json> change_vectors(const VectorChange& change);
  void work_on_vectors();
  void ask_for_vectors(bool looks);

  IndexerActor::pointer self;
  Parts* parts = nullptr;
  Directory* directory = nullptr;
  std::optional<NoteIndexWriter> writer;
  std::optional<FileIndexer> files;
  std::optional<Scan> current;
  std::deque<std::pair<ScanRequest, caf::typed_response_promise<Reply>>> next_scans;
  bool has_vector_work = false;  ///< a message for it is on its way
  std::chrono::nanoseconds asked_for_vectors{};
  bool has_told_of_model = false;
  inline static const char* name = "indexer";
};

Status IndexerState::open() {
  writer.emplace(INDX_TRY(
      NoteIndexWriter::open(parts->config.index_dir, parts->config.durability, parts->random)));
  files.emplace(parts->vault, *writer, options(), &parts->parsed);
  return files->load();
}

Status IndexerState::make_anew(bool keeps_old) {
  parts->indexing.is_complete = false;
  files.reset();
  writer.reset();
  INDX_TRY(NoteIndexWriter::discard(parts->config.index_dir, keeps_old));
  return open();
}

/// Broken bytes under a running index: it is a cache, so it is made anew at once, and the owed
/// answers wait for the scan.
void IndexerState::heal(const Error& error) {
  log_warn("index.db is damaged and is made anew", {{"error", error.message}});
  std::vector<caf::typed_response_promise<Reply>> promises;
  if (current) promises = std::move(current->promises);
  current.reset();
  if (const Status opened = make_anew(true); !opened.has_value()) {
    log_error("index.db cannot be made anew", {{"error", opened.error().message}});
    for (auto& promise : promises) promise.deliver(Reply{opened.error()});
    self->quit(caf::exit_reason::unhandled_exception);
    return;
  }
  if (const Status begun = begin_scan({}); !begun.has_value()) {
    for (auto& promise : promises) promise.deliver(Reply{begun.error()});
    return start_next();
  }
  current->promises = std::move(promises);
  self->send(self, atom::slice_atom::value);
}

// A file that cannot be indexed does not keep the others from it.
Result<Json> IndexerState::index(const IndexRequest& request) {
  INDX_TRY(writer->begin());
  Json failed = Json::array();
  std::vector<std::pair<std::string, FileIndexer::Indexed>> external;
  for (const auto& file : request.files) {
    auto indexed = files->index_path(file.path);
    if (!indexed.has_value()) {
      if (NoteIndexWriter::is_damaged(indexed.error())) return indexed.error();
      log_warn("cannot index", {{"path", file.path}, {"error", indexed.error().message}});
      failed.push_back(file.path);
    } else if (request.is_external && indexed->change != FileChange::None) {
      external.emplace_back(file.path, std::move(indexed).value());
    }
  }
  INDX_TRY(writer->commit());
  ask_for_vectors(false);
  // Told after the commit, so that whoever hears of a change finds it in the index.
  for (const auto& [path, indexed] : external) tell(indexed.change, path, indexed.etag);
  return failed;
}

void IndexerState::tell(FileChange change, const std::string& path, const std::string& etag) {
  if (parts->own_writes.are_ours(path, etag)) return;
  const Json data{{"path", path}, {"etag", etag}};
  StateChange event{[kind = fs_event_kind(change, path), data](State& state) -> Result<Json> {
    INDX_TRY(state.tell({.kind = kind, .actor = "fs", .subject = "local", .data = data}));
    return Json();
  }};
  caf::anon_send(directory->get<StateActor>(), atom::change_atom::value, std::move(event));
}

void IndexerState::scan(ScanRequest request, caf::typed_response_promise<Reply> promise) {
  next_scans.emplace_back(std::move(request), std::move(promise));
  start_next();
}

void IndexerState::start_next() {
  while (files && !current && !next_scans.empty()) {
    auto [request, promise] = std::move(next_scans.front());
    next_scans.pop_front();
    if (parts->indexing.is_stopping) {
      promise.deliver(actor_is_gone());
      continue;
    }
    auto answer = act(request);
    if (!current) {
      promise.deliver(Reply{std::move(answer)});
      continue;
    }
    current->promises.push_back(std::move(promise));
    self->send(self, atom::slice_atom::value);
  }
}

Result<Json> IndexerState::act(const ScanRequest& request) {
  switch (request.act) {
    case ScanRequest::Act::Find:
      return find(request);
    case ScanRequest::Act::Clear:
      INDX_TRY(list_files());  // what could not be filled again is not emptied
      INDX_TRY(clear());
      break;
    case ScanRequest::Act::MakeAnew:
      INDX_TRY(list_files());
      if (const Status made = make_anew(false); !made.has_value()) {
        log_error("index.db cannot be made anew", {{"error", made.error().message}});
        self->quit(caf::exit_reason::unhandled_exception);
        return made.error();
      }
      break;
    case ScanRequest::Act::Compare:
      INDX_TRY(begin_scan(request));
      break;
  }
  return Json();
}

Result<VaultListing> IndexerState::list_files() {
  auto listing = parts->vault.list();
  parts->set_warnings(listing.warnings);
  if (listing.is_root_readable) return listing;
  // A disk that is not there now, more likely than an empty vault.
  return make_error(Reason::Unavailable,
                    "The vault folder cannot be opened; the index stays as it was.",
                    {{"retry_after_s", 1}});
}

Result<Json> IndexerState::find(const ScanRequest& request) {
  auto listing = INDX_TRY(list_files());
  PathPatterns wanted(request.paths);
  const auto difference =
      files->compare(std::move(listing.files), request.rebuild,
                     [&](const std::string& path) { return wanted.matches(path); });
  std::vector<std::string> to_index(difference.gone.begin(), difference.gone.end());
  for (const auto& file : difference.to_read) to_index.push_back(file.path.str());
  std::sort(to_index.begin(), to_index.end());
  return Json{{"to_index", std::move(to_index)},
              {"unchanged", difference.unchanged},
              {"unmatched", wanted.unmatched()}};
}

Status IndexerState::clear() {
  parts->indexing.is_complete = false;
  INDX_TRY(writer->begin());
  INDX_TRY(files->clear());
  return writer->commit();
}

Status IndexerState::begin_scan(const ScanRequest& request) {
  Scan scan{.force = request.rebuild,
            .is_external = request.is_external,
            .started = parts->clock.monotonic()};
  scan.is_named = !request.paths.empty();
  scan.is_whole = !scan.is_named;
  if (scan.is_named) {
    auto named = INDX_TRY(files->look_at_named(request.paths));
    return start_scan(std::move(scan), std::move(named));
  }
  auto listing = INDX_TRY(list_files());
  return start_scan(std::move(scan), files->compare(std::move(listing.files), request.rebuild,
                                                    [](const std::string&) { return true; }));
}

Status IndexerState::start_scan(Scan scan, FileIndexer::Difference difference) {
  auto& [to_read, gone, coming, unchanged] = difference;
  scan.unchanged = unchanged;
  scan.is_bulk = writer->is_bulk_open() ||
                 (coming.size() >= kBulkFiles && coming.size() > files->known().size());
  if (scan.is_bulk) INDX_TRY(writer->begin_bulk(coming));
  parts->indexing.total = static_cast<std::int64_t>(to_read.size() + gone.size()) + unchanged;
  parts->indexing.done = unchanged;
  scan.gone = std::move(gone);
  if (!to_read.empty())
    scan.files = std::make_unique<ReadAhead>(parts->vault, options(), std::move(to_read));
  parts->indexing.is_running = true;
  current = std::move(scan);
  return {};
}

void IndexerState::slice() {
  if (!current) return;
  if (parts->indexing.is_stopping) {
    for (auto& promise : current->promises) promise.deliver(actor_is_gone());
    current.reset();
    return start_next();
  }
  if (const Status done = work_on_slice(); !done.has_value()) {
    if (NoteIndexWriter::is_damaged(done.error())) return heal(done.error());
    log_error("indexing stopped", {{"error", done.error().message}});
    for (auto& promise : current->promises) promise.deliver(Reply{done.error()});
    current->promises.clear();
    current->files.reset();
    current->gone.clear();
    current->is_bulk = false;
    current->is_whole = false;
  }
  if (current->is_done()) return end_scan();
  self->send(self, atom::slice_atom::value);
}

Status IndexerState::work_on_slice() {
  auto& scan = *current;
  const auto begin = parts->clock.monotonic();
  const auto longest =
      std::clamp<std::chrono::nanoseconds>((begin - scan.started) / 10, kLongSlice, kLongestSlice);
  struct Told {
    FileChange change = FileChange::None;
    std::string path, etag;
  };
  std::vector<Told> changed;
  std::int64_t worked = 0;
  INDX_TRY(writer->begin());
  for (std::size_t i = 0; i < kSliceNotes && !scan.files_are_done(); ++i) {
    if (!scan.gone.empty()) {
      // It may have come back since the folder was listed.
      const auto path = std::exchange(scan.gone.front(), {});
      scan.gone.pop_front();
      const auto indexed = INDX_TRY(files->index_path(path));
      if (scan.is_external && indexed.change != FileChange::None)
        changed.push_back({indexed.change, path, indexed.etag});
      scan.deleted += indexed.change == FileChange::Deleted ? 1 : 0;
    } else {
      auto ready = *scan.files->next();
      const auto path = ready.file.path.str();
      const auto indexed = files->index_ready(std::move(ready), scan.force);
      if (!indexed.has_value()) {
        if (NoteIndexWriter::is_damaged(indexed.error())) return indexed.error();
        log_warn("cannot index", {{"path", path}, {"error", indexed.error().message}});
        ++scan.failed;
      } else {
        if (scan.is_external && indexed->change != FileChange::None)
          changed.push_back({indexed->change, path, indexed->etag});
        ++(indexed->change == FileChange::Created   ? scan.created
           : indexed->change == FileChange::Updated ? scan.updated
                                                    : scan.unchanged);
      }
    }
    ++worked;
    const auto took = parts->clock.monotonic() - begin;
    if (took >= longest || (took >= kShortSlice && !self->mailbox().empty())) break;
  }
  const bool ends_bulk = scan.files_are_done() && scan.is_bulk && INDX_TRY(writer->end_bulk());
  INDX_TRY(writer->commit());
  if (ends_bulk) scan.is_bulk = false;
  parts->indexing.done.fetch_add(worked);
  for (const auto& [change, path, etag] : changed) tell(change, path, etag);
  return {};
}

void IndexerState::end_scan() {
  const auto& done = *current;
  const auto took =
      std::chrono::duration_cast<milliseconds>(parts->clock.monotonic() - done.started);
  const Json counts{{"created", done.created}, {"updated", done.updated},
                    {"deleted", done.deleted}, {"unchanged", done.unchanged},
                    {"failed", done.failed},   {"took_ms", took.count()}};
  if (done.created + done.updated + done.deleted > 0 && !done.is_named)
    log_info("vault indexed", counts);
  if (done.is_whole) parts->indexing.is_complete = true;
  for (auto& promise : current->promises) promise.deliver(Reply{counts});
  const bool is_whole = done.is_whole;
  current.reset();
  parts->indexing.is_running = false;
  ask_for_vectors(is_whole);
  work_on_vectors();
  start_next();
}

Result<Json> IndexerState::change_vectors(const VectorChange& change) {
  if (!writer) return actor_is_gone().result;
  auto changed = change.apply(*writer);
  work_on_vectors();
  return changed;
}

/// The graph grows while nothing else is to do: without it a search looks at the rows.
void IndexerState::work_on_vectors() {
  if (!parts->embeds_by_itself || current || std::exchange(has_vector_work, true)) return;
  self->send(self, atom::vectors_atom::value);
}

/// What was put may lack vectors; `looks`: so may what was there before.
void IndexerState::ask_for_vectors(bool looks) {
  if (!parts->embedder || !parts->embeds_by_itself) return;
  auto& embedding = parts->embedding;
  const std::int64_t known = embedding.changes;
  const auto lacks = writer->take_unembedded(looks);
  const auto model = writer->embedding_model();
  if (!lacks.has_value() || !model.has_value()) {
    log_warn("vectors are not looked after",
             {{"error", (lacks.has_value() ? model.error() : lacks.error()).message}});
    return;
  }
  embedding.is_of_other_model = *model && **model != parts->embedder->model_id();
  if (embedding.is_of_other_model && !std::exchange(has_told_of_model, true))
    log_warn("the vectors of the index are of another model; search goes by words",
             {{"index_model", **model}, {"model", parts->embedder->model_id()}});
  if (!*lacks) {
    if (looks) embedding.complete_at = known;
    return;
  }
  ++embedding.changes;
  if (embedding.is_of_other_model) return;
  const auto now = parts->clock.monotonic();
  if (asked_for_vectors.count() != 0 && now - asked_for_vectors < kEmbedAfter) return;
  // Behind a comparison of everything no burst of edits is waited for.
  if (!looks) asked_for_vectors = now;
  const auto after = looks ? milliseconds(0) : milliseconds(kEmbedAfter);
  caf::delayed_anon_send(directory->get<StateActor>(), after, atom::change_atom::value,
                         StateChange{[](State& state) -> Result<Json> {
                           INDX_TRY(state.enqueue_embedding());
                           return Json();
                         }});
}

IndexerActor::behavior_type indexer(IndexerActor::stateful_pointer<IndexerState> self, Parts* parts,
                                    Directory* directory) {
  self->state.parts = parts;
  self->state.directory = directory;
  parts->indexing.is_complete = false;  // a predecessor may have lost what it was told
  if (const Status opened = self->state.open(); !opened.has_value()) {
    log_error("index.db cannot be opened", {{"error", opened.error().message}});
    self->quit(caf::exit_reason::unhandled_exception);
  }
  return {
      [self](atom::index_atom, const IndexRequest& request) -> Reply {
        auto indexed = self->state.index(request);
        if (!indexed.has_value() && NoteIndexWriter::is_damaged(indexed.error()))
          self->state.heal(indexed.error());
        return {std::move(indexed)};
      },
      [self](atom::scan_atom, ScanRequest& request) -> caf::result<Reply> {
        auto promise = self->make_response_promise<Reply>();
        self->state.scan(std::move(request), promise);
        return promise;
      },
      [self](atom::vectors_atom, const VectorChange& change) -> Reply {
        return {self->state.change_vectors(change)};
      },
      [self](atom::slice_atom) { self->state.slice(); },
      [self](atom::vectors_atom) {
        self->state.has_vector_work = false;
        if (self->state.current || !self->state.writer) return;  // their end comes back to it
        const auto has_more = self->state.writer->work_on(self->state.parts->vectors);
        if (!has_more.has_value())
          log_warn("the graph of vectors is behind", {{"error", has_more.error().message}});
        else if (*has_more)
          self->state.work_on_vectors();
      },
  };
}

}  // namespace

IndexerActor spawn_indexer(caf::actor_system& system, Parts* parts, Directory* directory) {
  return system.spawn<caf::detached>(indexer, parts, directory);
}

}  // namespace indx
