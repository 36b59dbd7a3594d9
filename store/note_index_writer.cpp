#include "base/log.hpp"
#include "base/text.hpp"
#include "generated/index_sql.hpp"
#include "store/note_index_impl.hpp"

#include <filesystem>
#include <malloc.h>
#include <tuple>

namespace indx {
namespace {

/// How much of the index is held in memory, and in the log before it is copied into the file.
struct IndexMemory {
  int cache_kib = 0, log_pages = 0;
};
/// The trees of many new files grow at random places: what is evicted or copied early is soon
/// wanted again.
constexpr IndexMemory kMemory{32000, 4000}, kBulkMemory{128000, 16000};
/// `content` in the schema's `meta`. Both are raised when the same file gives other rows than
/// before, so that older indexes are made anew.
constexpr std::string_view kContentVersion = "4";

Status give_memory(Database& db, const IndexMemory& memory) {
  return db.execute(cat("PRAGMA cache_size=-", memory.cache_kib, "; PRAGMA wal_autocheckpoint=",
                        memory.log_pages, "; PRAGMA shrink_memory"));
}

/// Opens the file and proves that it is an index of ours that can be read.
Result<Database> open_index(const std::string& path, Durability durability) {
  auto db = INDX_TRY(Database::open(
      path, {.read_only = false, .durability = durability, .cache_kib = kMemory.cache_kib}));
  INDX_TRY(migrate(db, path, {{1, index_sql::k_0001_initial}}));
  INDX_TRY(db.execute(
      "SELECT key, value FROM meta; SELECT id, path, ctime_ns, name_key, kind, chunk_count, "
      "task_count, "
      "unlinked FROM "
      "files "
      "LIMIT 1;"
      "SELECT id, body_begin, body FROM notes LIMIT 1; SELECT rowid FROM notes_fts LIMIT 1;"
      "SELECT term FROM notes_vocab LIMIT 1;"
      "SELECT file_id FROM tags LIMIT 1; SELECT source_id, target_id, target_key FROM links LIMIT "
      "1;"
      "SELECT heading FROM tasks LIMIT 1; SELECT value FROM properties LIMIT 1;"
      "SELECT alias_key FROM aliases LIMIT 1; SELECT embed_key FROM chunk_rows LIMIT 1;"
      "SELECT model, dim FROM embedding_models LIMIT 1; SELECT vector FROM embeddings LIMIT 1"));
  {
    auto content = db.prepare("SELECT value FROM meta WHERE key='content'");
    if (!INDX_TRY(content.step()) || content.text(0) != kContentVersion)
      return make_error(Reason::UnsupportedVersion, "index.db holds what another version read.");
  }
  INDX_TRY(db.execute("PRAGMA journal_size_limit=16777216"));
  INDX_TRY(give_memory(db, kMemory));
  return db;
}

/// Whether the file is no index of ours that can be read; busy, full or failing disks are no reason
/// to drop it.
bool is_damage(const Error& error) {
  if (error.reason == Reason::UnsupportedVersion) return true;
  constexpr int kSqlError = 1, kCorrupt = 11,
                kNoDatabase = 26;  // a foreign schema, or broken bytes
  const int code = error.details.value("sqlite_code", 0) & 0xff;
  return code == kSqlError || code == kCorrupt || code == kNoDatabase;
}

/// One damaged file is kept, the newest: enough to find out what happened, and never more than the
/// index itself.
Status move_aside(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const auto aside = path + ".damaged";
  for (const auto* suffix : {"", "-wal", "-shm"}) fs::remove(aside + suffix, error);
  fs::rename(path, aside, error);
  if (error && error != std::errc::no_such_file_or_directory)
    return make_error(Reason::Unavailable,
                      cat("The damaged index cannot be moved aside: ", error.message()));
  for (const auto* suffix : {"-wal", "-shm"}) fs::rename(path + suffix, aside + suffix, error);
  return {};
}

}  // namespace

NoteIndexWriter::NoteIndexWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
NoteIndexWriter::NoteIndexWriter(NoteIndexWriter&&) noexcept = default;
NoteIndexWriter& NoteIndexWriter::operator=(NoteIndexWriter&&) noexcept = default;
NoteIndexWriter::~NoteIndexWriter() = default;

Result<NoteIndexWriter> NoteIndexWriter::open(const std::string& dir, Durability durability,
                                              Random& random) {
  // A cache needs no more than NORMAL (architecture 8, Durability).
  if (durability == Durability::Full) durability = Durability::Normal;
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  const auto path = dir + "/index.db";
  auto db = open_index(path, durability);
  if (!db.has_value()) {
    if (!is_damage(db.error())) return db.error();
    log_warn("index.db cannot be used and is made anew", {{"error", db.error().message}});
    INDX_TRY(move_aside(path));
    db = open_index(path, durability);
    if (!db.has_value()) return db.error();
  }
  auto impl = std::make_unique<Impl>(std::move(db).value());
  INDX_TRY(impl->load_generation(random));
  return NoteIndexWriter(std::move(impl));
}

bool NoteIndexWriter::is_damaged(const Error& error) {
  constexpr int kCorrupt = 11, kNoDatabase = 26, kShortRead = 522;
  const int code = error.details.value("sqlite_code", 0);
  return (code & 0xff) == kCorrupt || (code & 0xff) == kNoDatabase || code == kShortRead;
}

Status NoteIndexWriter::discard(const std::string& dir, bool is_kept) {
  const auto path = dir + "/index.db";
  if (is_kept) return move_aside(path);
  for (const auto* suffix : {"", "-wal", "-shm"}) {
    std::error_code error;
    std::filesystem::remove(path + suffix, error);
    if (error)
      return make_error(Reason::Unavailable, cat("The index cannot be removed: ", error.message()));
  }
  return {};
}

Status NoteIndexWriter::Impl::load_generation(Random& random) {
  auto query = db.prepare(
      "SELECT (SELECT value FROM meta WHERE key='epoch'), (SELECT value FROM meta WHERE "
      "key='counter'), EXISTS(SELECT 1 FROM meta WHERE key='bulk')");
  INDX_TRY(query.step());
  is_bulk_open = query.integer(2) != 0;
  epoch = query.text(0);
  counter = query.integer(1);
  if (!epoch.empty()) return {};
  epoch = random.hex(8);
  counter = 0;
  auto insert =
      db.prepare("INSERT INTO meta VALUES ('epoch', ?1), ('counter', '0') ON CONFLICT DO NOTHING");
  INDX_TRY(insert.bind(epoch).run());
  return {};
}

Status NoteIndexWriter::Impl::roll_back() {
  in_transaction = changed = false;
  failed.reset();
  touched_keys.clear();
  pending_links.clear();
  relinked.clear();
  return db.execute("ROLLBACK");
}

Status NoteIndexWriter::begin() {
  if (impl_->in_transaction) INDX_TRY(impl_->roll_back());
  INDX_TRY(impl_->db.execute("BEGIN IMMEDIATE"));
  impl_->in_transaction = true;
  return {};
}

Status NoteIndexWriter::commit() {
  INDX_ASSERT(impl_->in_transaction);
  const auto finish = [&]() -> Status {
    if (impl_->failed) return *impl_->failed;
    Impl::CandidateCache cache;
    INDX_TRY(impl_->resolve_touched(cache));
    INDX_TRY(impl_->insert_pending(cache));
    if (!impl_->expected || impl_->relinked_up_to) INDX_TRY(impl_->update_unlinked());
    if (impl_->changed) {
      auto update = impl_->db.prepare("UPDATE meta SET value=?1 WHERE key='counter'");
      INDX_TRY(update.bind(std::to_string(impl_->counter + 1)).run());
    }
    return impl_->db.execute("COMMIT");
  };
  if (const auto done = finish(); !done.has_value()) {
    if (const auto undone = impl_->roll_back(); !undone.has_value())
      log_warn("rollback of the index failed", {{"error", undone.error().message}});
    return done.error();
  }
  if (impl_->changed) ++impl_->counter;
  impl_->in_transaction = impl_->changed = false;
  impl_->touched_keys.clear();
  impl_->pending_links.clear();
  impl_->relinked.clear();
  if (!impl_->has_bulk_memory || impl_->is_bulk_open) return {};
  impl_->has_bulk_memory = false;
  INDX_TRY(give_memory(impl_->db, kMemory));
  ::malloc_trim(0);
  return {};
}

Status NoteIndexWriter::put(const FileInfo& file, const std::string& etag,
                            const std::string& sha256, const std::string* bytes,
                            const ParsedNote* note, const std::vector<Chunk>* chunks) {
  return impl_->change([&] {
    if (chunks != nullptr) return impl_->put_file(file, etag, sha256, bytes, note, *chunks);
    std::vector<Chunk> made;
    if (bytes != nullptr && note != nullptr && file.path.is_note())
      made = chunk_note(file.path.str(), *bytes, *note);
    return impl_->put_file(file, etag, sha256, bytes, note, made);
  });
}

Status NoteIndexWriter::remove(const std::string& path) {
  return impl_->change([&] { return impl_->remove_file(path); });
}

Status NoteIndexWriter::touch(const FileInfo& file) {
  return impl_->change([&]() -> Status {
    auto update = impl_->db.prepare(
        "UPDATE files SET size=?2, mtime_ns=?3, ctime_ns=?4, inode=?5 "
        "WHERE path=?1");
    INDX_TRY(update
                 .bind(file.path.str(), file.size, file.mtime_ns, file.ctime_ns,
                       static_cast<std::int64_t>(file.inode))
                 .run());
    return {};
  });
}

bool NoteIndexWriter::is_bulk_open() const { return impl_->is_bulk_open; }

Status NoteIndexWriter::begin_bulk(const std::vector<std::string>& coming) {
  INDX_TRY(give_memory(impl_->db, kBulkMemory));
  impl_->has_bulk_memory = true;
  INDX_TRY(begin());
  // A failure is kept until the commit, which rolls back and tells it.
  std::ignore = impl_->change([&] { return impl_->expect(coming); });
  return commit();
}

Result<bool> NoteIndexWriter::end_bulk() {
  INDX_ASSERT(impl_->in_transaction);
  bool is_done = false;
  INDX_TRY(impl_->change([&]() -> Status {
    is_done = INDX_TRY(impl_->finish_some());
    return {};
  }));
  return is_done;
}

Status NoteIndexWriter::clear() {
  const bool alone = !impl_->in_transaction;
  if (alone) INDX_TRY(begin());
  impl_->touched_keys.clear();
  impl_->pending_links.clear();
  impl_->relinked.clear();
  impl_->expected.reset();
  impl_->is_bulk_open = false;
  const auto done = impl_->change([&] {
    return impl_->db.execute(cat(
        "DELETE FROM meta WHERE key='bulk'; INSERT INTO meta VALUES ('cleared', '",
        impl_->counter + 1,
        "') ON CONFLICT(key) DO UPDATE SET value=excluded.value;"
        "INSERT INTO notes_fts(notes_fts) VALUES ('delete-all'); DELETE FROM notes; DELETE FROM "
        "tags; DELETE FROM aliases; DELETE FROM tasks; DELETE FROM properties;"
        "DELETE FROM links; DELETE FROM chunk_rows; DELETE FROM files"));
  });
  return alone ? commit() : done;
}

Result<std::map<std::string, IndexedFile>> NoteIndexWriter::files() {
  std::map<std::string, IndexedFile> all;
  auto query = impl_->db.prepare(
      "SELECT path, etag, size, mtime_ns, ctime_ns, inode FROM files ORDER BY path");
  while (INDX_TRY(query.step()))
    all.emplace_hint(
        all.end(), query.text(0),
        IndexedFile{query.text(1), static_cast<std::size_t>(query.integer(2)), query.integer(3),
                    query.integer(4), static_cast<std::uint64_t>(query.integer(5))});
  return all;
}

Result<std::string> NoteIndexWriter::generation() { return cat(impl_->epoch, "-", impl_->counter); }

}  // namespace indx
