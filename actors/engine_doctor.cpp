#include "actors/engine_doctor.hpp"

#include "actors/index_files.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "jobs/job_check.hpp"
#include "store/index_check.hpp"
#include "store/state_check.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

namespace indx {
namespace {

namespace fs = std::filesystem;
using Severity = Finding::Severity;

constexpr const char *kScratchPrefix = "doctor-", *kCopyPrefix = "copy-";
/// What moves while it is looked at is looked at again, a little later.
constexpr int kMostRounds = 5;
constexpr milliseconds kBetweenRounds{300};
/// A write, a heartbeat or a start takes far less.
constexpr std::chrono::minutes kSettled{1};

void add(Checkup& checkup, Finding finding) {
  ++checkup.total;
  if (checkup.findings.size() < kMaxFindings) checkup.findings.push_back(std::move(finding));
}

std::string text_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Whether what a try left can be taken over: its writes are not synced, so they are whole while
/// the machine runs, and another program may read notes otherwise.
std::string scratch_mark(const ParseOptions& options) {
  return cat(kVersion, options.legacy_properties ? " legacy " : " ",
             text_of_file("/proc/sys/kernel/random/boot_id"));
}

/// A folder that is gone afterwards, unless the next try of its job goes on there; what an earlier
/// process left goes first.
class ScratchFolder {
 public:
  static Result<ScratchFolder> make(const std::string& dir, const std::string& name,
                                    const std::string& mark) {
    ScratchFolder folder(cat(dir, "/", kScratchPrefix, name));
    std::error_code error;
    for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
      const auto other = it->path().filename().string();
      std::error_code ignored;
      const auto age = fs::file_time_type::clock::now() - fs::last_write_time(it->path(), ignored);
      if (other.starts_with(kScratchPrefix) && it->path() != folder.path_ && !ignored &&
          age > std::chrono::hours(12))
        fs::remove_all(it->path(), ignored);
    }
    const auto mark_path = folder.path_ + "/mark";
    if (text_of_file(mark_path) == mark) return folder.without_copies();
    fs::remove_all(folder.path_, error);
    if (!fs::create_directories(folder.path_, error))
      return make_error(Reason::Unavailable,
                        cat("A scratch folder cannot be made: ", error.message()));
    std::ofstream(mark_path, std::ios::binary) << mark;
    return folder;
  }
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  /// For the next try.
  void leave() { path_.clear(); }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  /// A copy of the index is of its moment.
  Result<ScratchFolder> without_copies() {
    std::error_code error;
    std::vector<fs::path> copies;
    for (fs::directory_iterator it(path_, error), end; !error && it != end; it.increment(error))
      if (it->path().filename().string().starts_with(kCopyPrefix)) copies.push_back(it->path());
    for (const auto& copy : copies) fs::remove(copy, error);
    return std::move(*this);
  }
  std::string path_;
};

/// An index made from the files alone.
class FreshIndex {
 public:
  FreshIndex(const Vault& vault, NoteIndexWriter writer, ParseOptions options)
      : vault_(vault),
        options_(options),
        writer_(std::move(writer)),
        files_(vault, writer_, options) {}

  /// Takes over what an earlier try read.
  Status load() { return files_.load(); }
  /// Brings it up to date with the files; the first time all are read that no try read before.
  Status update(const CancelToken& cancel, const EngineDoctor::TellProgress& tell) {
    const auto listing = vault_.list();
    std::deque<FileInfo> to_read;
    std::set<std::string> gone;
    for (const auto& [path, file] : files_.known()) gone.insert(path);
    for (const auto& file : listing.files) {
      gone.erase(file.path.str());
      if (!files_.is_unchanged(file)) to_read.push_back(file);
    }
    const auto all = static_cast<std::int64_t>(listing.files.size());
    JobProgress progress{.done = all - static_cast<std::int64_t>(to_read.size()),
                         .total = all,
                         .unit = "files",
                         .phase = "read"};
    ReadAhead ahead(vault_, options_, std::move(to_read));
    constexpr int kBatch = 500;
    do {
      INDX_TRY(writer_.begin());
      for (const auto& path : gone) INDX_TRY(files_.remove_path(path));
      gone.clear();
      for (int i = 0; i < kBatch && !ahead.is_done(); ++i, ++progress.done) {
        if (cancel.is_cancelled()) return make_error(Reason::Cancelled, "The check was cancelled.");
        INDX_TRY(files_.index_ready(*ahead.next(), true));
      }
      INDX_TRY(writer_.commit());
      tell(progress);
    } while (!ahead.is_done());
    return {};
  }
  std::size_t size() const { return files_.known().size(); }

 private:
  const Vault& vault_;
  ParseOptions options_;
  NoteIndexWriter writer_;
  FileIndexer files_;
};

Result<Database> open_copy(const std::string& path) {
  return Database::open(path,
                        {.read_only = false, .durability = Durability::Off, .cache_kib = 16000});
}

constexpr const char* kReset = "Make the index anew: `indx vault index --reset-db`.";

Finding index_finding(IndexDifference difference) {
  using Kind = IndexDifference::Kind;
  auto& path = difference.path;
  Finding finding{.path = path};
  finding.advice = cat("Index it again: `indx vault index --rebuild --paths '", path, "'`.");
  switch (difference.kind) {
    case Kind::Missing:
      finding.kind = "index_missing";
      finding.message = cat("`", path, "` is a file of the vault, but the index does not know it.");
      break;
    case Kind::Extra:
      finding.kind = "index_extra";
      finding.message = cat("The index knows `", path, "`, which is no file of the vault.");
      break;
    case Kind::Changed:
      finding.kind = "index_stale";
      finding.message = cat("The index says something else about `", path,
                            "` than the file: ", difference.table, ": ", difference.detail, ".");
      break;
    case Kind::Loose:
      finding.kind = "index_loose_rows";
      finding.message = cat("Table ", difference.table, " of the index: ", difference.detail, ".");
      finding.advice = kReset;
      break;
  }
  return finding;
}

Finding damaged_index(const std::string& message) {
  return {.kind = "index_damaged",
          .severity = Severity::Warning,
          .path = {},
          .message = cat("index.db is damaged: ", message),
          .advice = kReset};
}

}  // namespace

Status EngineDoctor::check_index(Checkup& checkup) {
  auto& parts = core_.parts;
  const auto& dir = parts.config.index_dir;
  INDX_TRY(core_.ensure_scanned());
  {
    auto live = Database::open(dir + "/index.db", {.read_only = true, .cache_kib = 16000});
    auto problems = live.has_value() ? database_problems(*live)
                                     : Result<std::vector<std::string>>(live.error());
    if (!problems.has_value()) problems = std::vector<std::string>{problems.error().message};
    for (const auto& problem : *problems) add(checkup, damaged_index(problem));
    if (!problems->empty()) return {};  // what such a file says about notes means nothing
  }

  const ParseOptions options{parts.config.legacy_properties};
  auto scratch = INDX_TRY(ScratchFolder::make(
      dir, caller_.job.empty() ? parts.random.hex(8) : caller_.job, scratch_mark(options)));
  const Status compared = compare_index(checkup, scratch.path(), options);
  const auto why = caller_.cancel.reason();
  if (!caller_.job.empty() && (why == CancelReason::Shutdown || why == CancelReason::Pause))
    scratch.leave();
  return compared;
}

Status EngineDoctor::compare_index(Checkup& checkup, const std::string& scratch,
                                   const ParseOptions& options) {
  auto& parts = core_.parts;
  const auto& dir = parts.config.index_dir;
  FreshIndex fresh(parts.vault,
                   INDX_TRY(NoteIndexWriter::open(scratch, Durability::Off, parts.random)),
                   options);
  INDX_TRY(fresh.load());
  std::vector<IndexDifference> differences;
  for (int round = 0; round < kMostRounds; ++round) {
    INDX_TRY(fresh.update(caller_.cancel, caller_.tell));
    caller_.tell({.done = round, .unit = "rounds", .phase = "compare"});
    const auto path = cat(scratch, "/", kCopyPrefix, round, ".db");
    INDX_TRY(copy_index(dir, path));
    auto copy = INDX_TRY(open_copy(path));
    if (round == 0)
      for (const auto& problem : INDX_TRY(full_text_problems(copy)))
        add(checkup, damaged_index("full text: " + problem));
    auto expected = INDX_TRY(open_copy(scratch + "/index.db"));
    differences.clear();
    INDX_TRY(compare_indexes(copy, expected, caller_.cancel, [&](IndexDifference difference) {
      differences.push_back(std::move(difference));
    }));
    if (differences.empty()) break;
    std::this_thread::sleep_for(kBetweenRounds);
    if (caller_.cancel.is_cancelled())
      return make_error(Reason::Cancelled, "The check was cancelled.");
  }
  for (auto& difference : differences) add(checkup, index_finding(std::move(difference)));
  checkup.files = static_cast<std::int64_t>(fresh.size());
  return {};
}

Status EngineDoctor::check_state(Checkup& checkup) {
  const auto& dir = core_.parts.config.index_dir;
  auto db = INDX_TRY(open_state_db_reader(dir));
  for (const auto& problem : INDX_TRY(database_problems(db)))
    add(checkup,
        {.kind = "state_damaged",
         .severity = Severity::Error,
         .path = "state.db",
         .message = cat("state.db is damaged: ", problem),
         .advice = "Stop indx and put back a backup of state.db; notes are not concerned."});
  const auto settled = core_.parts.clock.now() - kSettled;
  const auto found = [&](auto problem, const char* lost, const char* left) {
    add(checkup, {.kind = std::move(problem.kind),
                  .severity = problem.is_lost ? Severity::Error : Severity::Notice,
                  .path = std::move(problem.path),
                  .message = std::move(problem.message),
                  .advice = problem.is_lost ? lost : left});
  };
  caller_.tell({.unit = "versions", .phase = "versions"});
  checkup.versions = INDX_TRY(check_versions(db, dir, caller_.cancel, [&](StateProblem problem) {
    found(std::move(problem),
          "That version cannot be restored; others and the note itself are not concerned.",
          "Nothing: it goes with the next clearing up.");
  }));
  INDX_TRY(check_intents(db, settled, [&](StateProblem problem) {
    found(std::move(problem), "", "Start indx anew: it settles open writes first.");
  }));
  checkup.jobs = INDX_TRY(check_jobs(db, dir + "/spill", settled, [&](JobProblem problem) {
    found(std::move(problem), "The job does that step again when it goes on.",
          "Nothing: the queue takes it back or clears it up by itself.");
  }));
  return {};
}

/// A temp file of a write in flight is there for moments only, or an open intent names it.
void EngineDoctor::check_temp_files(Checkup& checkup) {
  const auto names = [&] {
    std::set<std::string> all;
    core_.parts.vault.clean_temp_files([&](const std::string& name) {
      all.insert(name);
      return true;
    });
    return all;
  };
  auto left = names();
  for (int i = 0; i < 2 && !left.empty(); ++i) {
    std::this_thread::sleep_for(kBetweenRounds);
    const auto now = names();
    std::erase_if(left, [&](const std::string& name) { return !now.contains(name); });
  }
  for (const auto& name : left)
    add(checkup, {.kind = "temp_file_left",
                  .severity = Severity::Notice,
                  .path = name,
                  .message = cat("The temp file ", name, " of a write is still in the vault."),
                  .advice = "Start indx anew: it settles open writes and removes such files."});
}

Result<Checkup> EngineDoctor::examine() {
  Checkup checkup;
  INDX_TRY(check_index(checkup));
  INDX_TRY(check_state(checkup));
  check_temp_files(checkup);
  std::stable_sort(checkup.findings.begin(), checkup.findings.end(),
                   [](const Finding& a, const Finding& b) {
                     return std::tie(a.kind, a.path) < std::tie(b.kind, b.path);
                   });
  return checkup;
}

Result<Pruned> EngineDoctor::prune() {
  const auto pruned = std::make_shared<Pruned>();  // shared: the change may run after the caller
                                                   // gave up
  INDX_TRY(caller_.commit([pruned](State& state) -> Result<Json> {
    *pruned = INDX_TRY(state.prune());
    return to_json(*pruned);
  }));
  return *pruned;
}

}  // namespace indx
