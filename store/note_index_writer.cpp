#include "base/hash.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "generated/index_sql.hpp"
#include "store/columns.hpp"
#include "store/note_index.hpp"
#include "vault/link_resolver.hpp"
#include "vault/list_query.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace indx {
namespace {

constexpr int kIndexCacheKib = 32000;
/// `content` in the schema's `meta`. Both are raised when the same file gives other rows than
/// before, so that older indexes are made anew.
constexpr std::string_view kContentVersion = "2";
constexpr int kNameOnly = 0, kNote = 1, kOtherText = 2;

/// JSON text written directly: the JSON library would cost more than the insert it is for.
void append_json_text(std::string& out, std::string_view text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (byte < 0x20)
      ((out += "\\u00") += kDigits[byte >> 4U]) += kDigits[byte & 15U];
    else
      out += c;
  }
  out += '"';
}

/// `[[…],[…]]` with one inner list for each item, filled by `append`.
template <typename Items, typename Append>
std::string json_rows(const Items& items, Append append) {
  std::string out = "[";
  for (const auto& item : items) {
    if (out.size() > 1) out += ',';
    out += '[';
    append(out, item);
    out += ']';
  }
  return out += ']';
}

std::string outline_json(const std::vector<Heading>& headings) {
  return json_rows(headings, [](std::string& out, const Heading& heading) {
    (out += std::to_string(heading.level)) += ',';
    append_json_text(out, heading.text);
    ((out += ',') += std::to_string(heading.line)) += ',';
    (out += std::to_string(heading.begin)) += heading.nested ? ",1" : ",0";
  });
}

std::string blocks_json(const std::vector<Block>& blocks) {
  return json_rows(blocks, [](std::string& out, const Block& block) {
    append_json_text(out, block.id);
    ((out += ',') += std::to_string(block.line)) += ',';
    ((out += std::to_string(block.begin)) += ',') += std::to_string(block.end);
  });
}

std::string tasks_json(const std::vector<Task>& tasks) {
  return json_rows(tasks, [](std::string& out, const Task& task) {
    append_json_text(out, std::string_view(&task.status, 1));
    append_json_text(out += ',', task.text);
    (out += ',') += std::to_string(task.line);
  });
}

std::string strings_json(const std::vector<std::string>& strings) {
  std::string out = "[";
  for (const auto& text : strings) {
    if (out.size() > 1) out += ',';
    append_json_text(out, text);
  }
  return out += ']';
}

std::string one_line_each(const std::vector<std::string>& lines) {
  std::string all;
  for (const auto& line : lines) {
    all += replace_all(line, "\n", " ");
    all += '\n';
  }
  return all;
}

std::string heading_lines(const std::vector<Heading>& headings) {
  std::string all;
  for (const auto& heading : headings) (all += heading.text) += '\n';
  return all;
}

std::string hex_bytes(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  return bytes;
}

/// What `put` writes into the row of a file.
struct FileRow {
  std::string title;
  int kind = kNameOnly;
  std::size_t headings = 0, chunks = 0, tasks = 0;
};

}  // namespace

struct NoteIndexWriter::Impl {
  Database db;
  bool in_transaction = false;
  bool changed = false;
  std::optional<Error> failed;  ///< of this transaction: commit rolls back and returns it
  std::string epoch;
  std::int64_t counter = 0;
  std::unordered_set<std::string> touched_keys;  ///< of files that came or went in this transaction
  std::map<std::int64_t, std::vector<Link>>
      pending_links;  ///< of the notes put in this transaction, by file
  std::unordered_set<std::int64_t>
      relinked;  ///< files whose links, or those to them, changed in this transaction

  explicit Impl(Database database) : db(std::move(database)) {}

  Status load_generation(Random& random);
  Status roll_back();
  template <typename Body>
  Status change(Body body);

  Result<std::optional<std::int64_t>> find_id(const std::string& path);
  Status put_file(const FileInfo& file, const std::string& etag, const std::string& sha256,
                  const std::string* bytes, const ParsedNote* note,
                  const std::vector<Chunk>& chunks);
  Result<std::int64_t> put_row(const FileInfo& file, const std::string& etag,
                               const std::string& sha256, const FileRow& row);
  Status put_text(std::int64_t id, const FileInfo& file, const std::string& title,
                  std::string_view bytes, const ParsedNote& note);
  Status put_tags(std::int64_t id, const ParsedNote& note);
  Status put_chunks(std::int64_t id, const std::vector<Chunk>& chunks);
  Status put_tasks(std::int64_t id, const ParsedNote& note);
  Status put_properties(std::int64_t id, const Json& values);
  Status remove_properties(std::int64_t id);
  Status remove_text(std::int64_t id);
  Status remove_file(const std::string& path);

  using CandidateCache = std::unordered_map<std::string, LinkCandidates>;
  Result<const LinkCandidates*> candidates(CandidateCache& cache, const std::string& key);
  Result<std::optional<std::int64_t>> target_of(CandidateCache& cache, const std::string& key,
                                                const std::string& source, std::string_view target,
                                                LinkSyntax syntax);
  Status resolve_touched(CandidateCache& cache);
  Status insert_pending(CandidateCache& cache);
  Status update_unlinked();
};

NoteIndexWriter::NoteIndexWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
NoteIndexWriter::NoteIndexWriter(NoteIndexWriter&&) noexcept = default;
NoteIndexWriter& NoteIndexWriter::operator=(NoteIndexWriter&&) noexcept = default;
NoteIndexWriter::~NoteIndexWriter() = default;

namespace {

/// Opens the file and proves that it is an index of ours that can be read.
Result<Database> open_index(const std::string& path, Durability durability) {
  auto db = INDX_TRY(Database::open(
      path, {.read_only = false, .durability = durability, .cache_kib = kIndexCacheKib}));
  INDX_TRY(migrate(db, path, {{1, index_sql::k_0001_initial}}));
  INDX_TRY(db.execute(
      "SELECT key, value FROM meta; SELECT id, path, name_key, kind, chunk_count, task_count, "
      "unlinked FROM "
      "files "
      "LIMIT 1;"
      "SELECT id, body_begin, body FROM notes LIMIT 1; SELECT rowid FROM notes_fts LIMIT 1;"
      "SELECT term FROM notes_vocab LIMIT 1;"
      "SELECT file_id FROM tags LIMIT 1; SELECT source_id, target_id, target_key FROM links LIMIT "
      "1;"
      "SELECT heading FROM tasks LIMIT 1; SELECT value FROM properties LIMIT 1;"
      "SELECT alias_key FROM aliases LIMIT 1; SELECT chunk_id FROM chunk_rows LIMIT 1"));
  {
    auto content = db.prepare("SELECT value FROM meta WHERE key='content'");
    if (!INDX_TRY(content.step()) || content.text(0) != kContentVersion)
      return make_error(Reason::UnsupportedVersion, "index.db holds what another version read.");
  }
  INDX_TRY(db.execute("PRAGMA wal_autocheckpoint=4000; PRAGMA journal_size_limit=16777216"));
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
      "key='counter')");
  INDX_TRY(query.step());
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
    INDX_TRY(impl_->update_unlinked());
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
  return {};
}

/// A change that failed half-way spoils the transaction: commit then undoes all of it.
template <typename Body>
Status NoteIndexWriter::Impl::change(Body body) {
  INDX_ASSERT(in_transaction);
  auto done = body();
  if (!done.has_value() && !failed) failed = done.error();
  changed = true;
  return done;
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
    auto update = impl_->db.prepare("UPDATE files SET size=?2, mtime_ns=?3 WHERE path=?1");
    INDX_TRY(update.bind(file.path.str(), file.size, file.mtime_ns).run());
    return {};
  });
}

Status NoteIndexWriter::clear() {
  const bool alone = !impl_->in_transaction;
  if (alone) INDX_TRY(begin());
  impl_->touched_keys.clear();
  impl_->pending_links.clear();
  impl_->relinked.clear();
  const auto done = impl_->change([&] {
    return impl_->db.execute(
        "INSERT INTO notes_fts(notes_fts) VALUES ('delete-all'); DELETE FROM notes; DELETE FROM "
        "tags; DELETE FROM aliases; DELETE FROM tasks; DELETE FROM properties;"
        "DELETE FROM links; DELETE FROM chunk_rows; DELETE FROM files");
  });
  return alone ? commit() : done;
}

Result<std::vector<IndexedFile>> NoteIndexWriter::files() {
  std::vector<IndexedFile> all;
  auto query =
      impl_->db.prepare("SELECT path, etag, sha256, size, mtime_ns FROM files ORDER BY path");
  while (INDX_TRY(query.step()))
    all.push_back({query.text(0), query.text(1), query.text(2),
                   static_cast<std::size_t>(query.integer(3)), query.integer(4)});
  return all;
}

Result<std::string> NoteIndexWriter::generation() { return cat(impl_->epoch, "-", impl_->counter); }

Result<std::optional<std::int64_t>> NoteIndexWriter::Impl::find_id(const std::string& path) {
  auto query = db.prepare("SELECT id FROM files WHERE path=?1");
  if (!INDX_TRY(query.bind(path).step())) return std::optional<std::int64_t>();
  return std::optional(query.integer(0));
}

Status NoteIndexWriter::Impl::put_file(const FileInfo& file, const std::string& etag,
                                       const std::string& sha256, const std::string* bytes,
                                       const ParsedNote* note, const std::vector<Chunk>& chunks) {
  static const ParsedNote kPlain;
  if (note == nullptr) note = &kPlain;
  FileRow row;
  row.title = note->title.empty() ? std::string(file.path.stem()) : note->title;
  row.kind = file.path.is_note() ? kNote : bytes != nullptr ? kOtherText : kNameOnly;
  row.headings = note->headings.size();
  row.tasks = row.kind == kNameOnly ? 0 : note->tasks.size();
  const std::string_view text = bytes == nullptr ? std::string_view() : std::string_view(*bytes);
  row.chunks = chunks.size();
  const auto id = INDX_TRY(put_row(file, etag, sha256, row));
  if (row.kind == kNameOnly) return {};
  INDX_TRY(put_text(id, file, row.title, text, *note));
  INDX_TRY(put_tags(id, *note));
  INDX_TRY(put_chunks(id, chunks));
  INDX_TRY(put_tasks(id, *note));
  INDX_TRY(put_properties(id, note->frontmatter.values));
  if (!note->links.empty()) pending_links[id] = note->links;
  return {};
}

Result<std::int64_t> NoteIndexWriter::Impl::put_row(const FileInfo& file, const std::string& etag,
                                                    const std::string& sha256, const FileRow& row) {
  if (const auto id = INDX_TRY(find_id(file.path.str()))) {
    relinked.insert(*id);
    INDX_TRY(remove_text(*id));
    auto update = db.prepare(
        "UPDATE files SET kind=?2, etag=?3, sha256=?4, size=?5, mtime_ns=?6, title=?7, "
        "heading_count=?8, chunk_count=?9, task_count=?10 "
        "WHERE id=?1");
    update.bind(*id, row.kind, etag, sha256, file.size, file.mtime_ns, row.title, row.headings,
                row.chunks, row.tasks);
    INDX_TRY(update.run());
    return *id;
  }
  const auto key = name_key_of_path(file.path.str());
  auto insert = db.prepare(
      "INSERT INTO files(path, name_key, kind, etag, sha256, size, mtime_ns, title, heading_count, "
      "chunk_count, task_count) "
      "VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11)");
  insert.bind(file.path.str(), key, row.kind, etag, sha256, file.size, file.mtime_ns, row.title,
              row.headings, row.chunks, row.tasks);
  INDX_TRY(insert.run());
  touched_keys.insert(key);
  const auto id = db.last_insert_id();
  relinked.insert(id);
  return id;
}

Status NoteIndexWriter::Impl::put_text(std::int64_t id, const FileInfo& file,
                                       const std::string& title, std::string_view bytes,
                                       const ParsedNote& note) {
  const auto stem = std::string(file.path.stem());
  const auto searched_title = title == stem ? title : cat(title, "\n", stem);
  const auto aliases = one_line_each(note.aliases);
  const auto headings = heading_lines(note.headings);
  const auto properties =
      note.frontmatter.values.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const auto body_begin = std::min(note.frontmatter.body_begin, bytes.size());
  auto insert = db.prepare("INSERT INTO notes VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11)");
  insert.bind(id, searched_title, aliases, headings, properties, outline_json(note.headings),
              blocks_json(note.blocks), tasks_json(note.tasks), strings_json(note.warnings),
              body_begin, bytes);
  INDX_TRY(insert.run());
  auto search = db.prepare(
      "INSERT INTO notes_fts(rowid, title, aliases, headings, body) VALUES (?1,?2,?3,?4,?5)");
  INDX_TRY(search.bind(id, searched_title, aliases, headings, bytes).run());
  for (const auto& alias : note.aliases) {
    auto row = db.prepare("INSERT INTO aliases VALUES (?1,?2,?3) ON CONFLICT DO NOTHING");
    INDX_TRY(row.bind(id, fold_case(alias), alias).run());
  }
  return {};
}

Status NoteIndexWriter::Impl::put_tags(std::int64_t id, const ParsedNote& note) {
  int position = 0;
  for (const auto& use : note.tags) {
    auto insert = db.prepare("INSERT INTO tags VALUES (?1,?2,?3,?4,?5) ON CONFLICT DO NOTHING");
    INDX_TRY(insert.bind(id, fold_case(use.tag), use.tag, position++, use.begin).run());
  }
  return {};
}

Status NoteIndexWriter::Impl::put_chunks(std::int64_t id, const std::vector<Chunk>& chunks) {
  int position = 0;
  for (const auto& chunk : chunks) {
    auto insert = db.prepare("INSERT INTO chunk_rows VALUES (?1,?2,?3,?4,?5,?6,?7)");
    insert.bind_one(1, id);
    insert.bind_one(2, position++);
    insert.bind_blob(3, hex_bytes(chunk.chunk_id));
    insert.bind_blob(4, hex_bytes(chunk.content_sha256));
    insert.bind_one(5, strings_json(chunk.heading_path));
    insert.bind_one(6, chunk.char_start);
    insert.bind_one(7, chunk.char_end);
    INDX_TRY(insert.run());
  }
  return {};
}

Status NoteIndexWriter::Impl::put_tasks(std::int64_t id, const ParsedNote& note) {
  int position = 0;
  auto next = note.headings.begin();
  const std::string* heading = nullptr;
  for (const auto& task : note.tasks) {
    for (; next != note.headings.end() && next->line < task.line; ++next)
      if (!next->nested) heading = &next->text;
    auto insert = db.prepare("INSERT INTO tasks VALUES (?1,?2,?3,?4,?5,?6)");
    insert.bind(id, position++, task.line, task.mark, task.text,
                heading == nullptr ? std::string() : *heading);
    INDX_TRY(insert.run());
  }
  return {};
}

/// Of two names that differ by case only, the first counts (rule 3.5).
Status NoteIndexWriter::Impl::put_properties(std::int64_t id, const Json& values) {
  for (const auto& [name, value] : values.items()) {
    auto insert =
        db.prepare("INSERT INTO properties VALUES (?1,?2,?3,?4,?5) ON CONFLICT DO NOTHING");
    insert.bind(fold_case(name), id, name, property_type(name, value), json_text(value));
    INDX_TRY(insert.run());
  }
  return {};
}

Status NoteIndexWriter::Impl::remove_properties(std::int64_t id) {
  Json values;
  {
    auto query = db.prepare("SELECT properties FROM notes WHERE id=?1");
    if (!INDX_TRY(query.bind(id).step())) return {};
    values = json_value(query.text(0));
  }
  for (const auto& [name, value] : values.items()) {
    auto statement = db.prepare("DELETE FROM properties WHERE name_key=?1 AND file_id=?2");
    INDX_TRY(statement.bind(fold_case(name), id).run());
  }
  return {};
}

/// All that hangs on a file's text; its row stays. The full-text index is told the exact old
/// values.
Status NoteIndexWriter::Impl::remove_text(std::int64_t id) {
  pending_links.erase(id);
  auto reached = db.prepare("SELECT DISTINCT target_id FROM links WHERE source_id=?1");
  reached.bind(id);
  while (INDX_TRY(reached.step()))
    if (const auto target = reached.optional_integer(0)) relinked.insert(*target);
  auto search = db.prepare(
      "INSERT INTO notes_fts(notes_fts, rowid, title, aliases, headings, body) "
      "SELECT 'delete', id, title, aliases, headings, body FROM notes WHERE id=?1");
  INDX_TRY(search.bind(id).run());
  INDX_TRY(remove_properties(id));
  for (const auto* sql :
       {"DELETE FROM notes WHERE id=?1", "DELETE FROM tasks WHERE file_id=?1",
        "DELETE FROM tags WHERE file_id=?1", "DELETE FROM aliases WHERE file_id=?1",
        "DELETE FROM links WHERE source_id=?1", "DELETE FROM chunk_rows WHERE file_id=?1"}) {
    auto statement = db.prepare(sql);
    INDX_TRY(statement.bind(id).run());
  }
  return {};
}

Status NoteIndexWriter::Impl::remove_file(const std::string& path) {
  const auto id = INDX_TRY(find_id(path));
  if (!id) return {};
  INDX_TRY(remove_text(*id));
  auto statement = db.prepare("DELETE FROM files WHERE id=?1");
  INDX_TRY(statement.bind(*id).run());
  touched_keys.insert(name_key_of_path(path));
  return {};
}

Result<const LinkCandidates*> NoteIndexWriter::Impl::candidates(CandidateCache& cache,
                                                                const std::string& key) {
  if (const auto found = cache.find(key); found != cache.end()) return &found->second;
  std::vector<LinkCandidates::File> files;
  auto query = db.prepare("SELECT id, path FROM files WHERE name_key=?1");
  query.bind(key);
  while (INDX_TRY(query.step())) files.push_back({query.integer(0), query.text(1)});
  return &cache.emplace(key, LinkCandidates(std::move(files))).first->second;
}

/// `key` is the name key of the target.
Result<std::optional<std::int64_t>> NoteIndexWriter::Impl::target_of(CandidateCache& cache,
                                                                     const std::string& key,
                                                                     const std::string& source,
                                                                     std::string_view target,
                                                                     LinkSyntax syntax) {
  using Id = std::optional<std::int64_t>;
  const auto* all = INDX_TRY(candidates(cache, key));
  const auto* file = all->resolve(source, target, syntax);
  return file == nullptr ? Id() : Id(file->id);
}

/// Links of notes indexed before that look for a file which came or went.
Status NoteIndexWriter::Impl::resolve_touched(CandidateCache& cache) {
  struct Row {
    std::int64_t source_id = 0, position = 0;
    std::optional<std::int64_t> target_id;
    std::optional<std::string> group;
  };
  for (const auto& key : touched_keys) {
    std::vector<Row> moved;
    auto query = db.prepare(
        "SELECT l.source_id, l.position, l.target_id, l.target, l.syntax, f.path FROM links l JOIN "
        "files f ON f.id=l.source_id "
        "WHERE l.name_key=?1");
    query.bind(key);
    while (INDX_TRY(query.step())) {
      const auto target = INDX_TRY(target_of(cache, key, query.text(5), query.text(3),
                                             static_cast<LinkSyntax>(query.integer(4))));
      const auto before = query.optional_integer(2);
      if (target == before) continue;
      moved.push_back({query.integer(0), query.integer(1), target,
                       target ? std::nullopt : std::optional(target_key(query.text(3)))});
      relinked.insert(query.integer(0));
      if (before) relinked.insert(*before);
      if (target) relinked.insert(*target);
    }
    for (const auto& row : moved) {
      auto update = db.prepare(
          "UPDATE links SET target_id=?3, target_key=?4 WHERE source_id=?1 AND position=?2");
      INDX_TRY(update.bind(row.source_id, row.position, row.target_id, row.group).run());
    }
  }
  return {};
}

Status NoteIndexWriter::Impl::insert_pending(CandidateCache& cache) {
  for (const auto& [source_id, links] : pending_links) {
    std::string source;
    {
      auto query = db.prepare("SELECT path FROM files WHERE id=?1");
      if (INDX_TRY(query.bind(source_id).step())) source = query.text(0);
    }
    int position = 0;
    for (const auto& link : links) {
      std::optional<std::string> key;
      std::optional<std::int64_t> target;
      if (!link.external) {
        key = name_key_of_target(link.target);
        target = key ? INDX_TRY(target_of(cache, *key, source, link.target, link.syntax))
                     : std::optional(source_id);
        if (target) relinked.insert(*target);
      }
      const auto group =
          link.external || target ? std::nullopt : std::optional(target_key(link.target));
      auto insert = db.prepare(
          "INSERT INTO links VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16)");
      insert.bind(source_id, position++, static_cast<int>(link.kind), static_cast<int>(link.syntax),
                  link.external, link.target, link.subpath, link.display, link.key, link.line,
                  link.column, link.begin, link.end, key, target, group);
      INDX_TRY(insert.run());
    }
  }
  return {};
}

/// Keeps what `link_orphans` asks for with each file, so that it reads rows of the answer only.
Status NoteIndexWriter::Impl::update_unlinked() {
  for (const auto id : relinked) {
    auto query = db.prepare(
        "SELECT kind=1, unlinked, EXISTS(SELECT 1 FROM links WHERE target_id=?1 AND "
        "source_id<>?1), "
        "EXISTS(SELECT 1 FROM links l JOIN files t ON t.id=l.target_id WHERE l.source_id=?1 AND "
        "l.target_id<>?1 AND t.kind=1) FROM files WHERE id=?1");
    if (!INDX_TRY(query.bind(id).step())) continue;
    const bool has_incoming = query.integer(2) != 0, has_outgoing = query.integer(3) != 0;
    std::optional<std::int64_t> unlinked;
    if (query.integer(0) != 0 && !(has_incoming && has_outgoing))
      unlinked = has_outgoing ? 1 : has_incoming ? 2 : 0;
    if (unlinked == query.optional_integer(1)) continue;
    auto update = db.prepare("UPDATE files SET unlinked=?2 WHERE id=?1");
    INDX_TRY(update.bind(id, unlinked).run());
  }
  return {};
}

}  // namespace indx
