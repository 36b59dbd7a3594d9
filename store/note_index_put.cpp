#include "base/text.hpp"
#include "base/unicode.hpp"
#include "store/columns.hpp"
#include "store/hex_bytes.hpp"
#include "store/note_index_impl.hpp"
#include "vault/list_query.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr int kNameOnly = 0, kNote = 1, kOtherText = 2;

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
    append_json_string(out, heading.text);
    ((out += ',') += std::to_string(heading.line)) += ',';
    (out += std::to_string(heading.begin)) += heading.nested ? ",1" : ",0";
  });
}

std::string blocks_json(const std::vector<Block>& blocks) {
  return json_rows(blocks, [](std::string& out, const Block& block) {
    append_json_string(out, block.id);
    ((out += ',') += std::to_string(block.line)) += ',';
    ((out += std::to_string(block.begin)) += ',') += std::to_string(block.end);
  });
}

std::string tasks_json(const std::vector<Task>& tasks) {
  return json_rows(tasks, [](std::string& out, const Task& task) {
    append_json_string(out, std::string_view(&task.status, 1));
    append_json_string(out += ',', task.text);
    (out += ',') += std::to_string(task.line);
  });
}

std::string strings_json(const std::vector<std::string>& strings) {
  std::string out = "[";
  for (const auto& text : strings) {
    if (out.size() > 1) out += ',';
    append_json_string(out, text);
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

}  // namespace

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
  INDX_TRY(put_chunks(id, row.title, chunks));
  INDX_TRY(put_tasks(id, *note));
  INDX_TRY(put_properties(id, note->frontmatter.values));
  if (!note->links.empty()) pending_links[id] = {file.path.str(), note->links};
  return {};
}

Result<std::int64_t> NoteIndexWriter::Impl::put_row(const FileInfo& file, const std::string& etag,
                                                    const std::string& sha256, const FileRow& row) {
  if (const auto id = INDX_TRY(find_id(file.path.str()))) {
    relinked.insert(*id);
    INDX_TRY(remove_text(*id));
    auto update = db.prepare(
        "UPDATE files SET kind=?2, etag=?3, sha256=?4, size=?5, mtime_ns=?6, ctime_ns=?7, "
        "inode=?8, title=?9, heading_count=?10, chunk_count=?11, task_count=?12 WHERE id=?1");
    update.bind(*id, row.kind, etag, sha256, file.size, file.mtime_ns, file.ctime_ns,
                static_cast<std::int64_t>(file.inode), row.title, row.headings, row.chunks,
                row.tasks);
    INDX_TRY(update.run());
    return *id;
  }
  const auto key = name_key_of_path(file.path.str());
  ExpectedFiles::Arrival arrival;
  if (expected) arrival = expected->arrive(file.path.str());
  auto insert = db.prepare(
      "INSERT INTO files(path, name_key, kind, etag, sha256, size, mtime_ns, ctime_ns, inode, "
      "title, heading_count, chunk_count, task_count, id) "
      "VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14)");
  insert.bind(file.path.str(), key, row.kind, etag, sha256, file.size, file.mtime_ns, file.ctime_ns,
              static_cast<std::int64_t>(file.inode), row.title, row.headings, row.chunks, row.tasks,
              expected ? std::optional(arrival.id) : std::nullopt);
  INDX_TRY(insert.run());
  if (!arrival.was_expected) touched_keys.insert(key);
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
  const auto properties = json_text(note.frontmatter.values);
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

Status NoteIndexWriter::Impl::put_chunks(std::int64_t id, const std::string& title,
                                         const std::vector<Chunk>& chunks) {
  int position = 0;
  for (const auto& chunk : chunks) {
    const auto key = hex_bytes(embedding_key(title, chunk.heading_path, chunk.content_sha256));
    if (!has_unembedded) has_unembedded = !INDX_TRY(is_embedded(key));
    auto insert = db.prepare("INSERT INTO chunk_rows VALUES (?1,?2,?3,?4,?5,?6,?7,?8)");
    insert.bind_one(1, id);
    insert.bind_one(2, position++);
    insert.bind_blob(3, hex_bytes(chunk.chunk_id));
    insert.bind_blob(4, hex_bytes(chunk.content_sha256));
    insert.bind_one(5, strings_json(chunk.heading_path));
    insert.bind_one(6, chunk.char_start);
    insert.bind_one(7, chunk.char_end);
    insert.bind_blob(8, key);
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
  if (expected) expected->forget(path);
  INDX_TRY(remove_text(*id));
  auto statement = db.prepare("DELETE FROM files WHERE id=?1");
  INDX_TRY(statement.bind(*id).run());
  touched_keys.insert(name_key_of_path(path));
  return {};
}

}  // namespace indx
