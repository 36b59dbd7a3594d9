#include "base/unicode.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"
#include "vault/link_resolver.hpp"

namespace indx {
namespace document_map_op {

struct Input {
  std::string path;
};
struct HeadingRow {
  int level = 1;
  std::string text, slug;
  int line = 0, end_line = 0;
  std::size_t size = 0;
  std::optional<bool> nested;
  std::optional<std::vector<std::string>> heading_path;
  std::optional<int> occurrence;
  static Fields<HeadingRow> fields() {
    return {
        field("level", &HeadingRow::level, "1 to 6."),
        field("text", &HeadingRow::text, "Without marks and block id."),
        field("slug", &HeadingRow::slug, "Anchor, unique in the note."),
        field("line", &HeadingRow::line, "1-based line in the file."),
        field("end_line", &HeadingRow::end_line, "Last line of its section."),
        field("size", &HeadingRow::size, "Bytes of its section, without the heading."),
        field("nested", &HeadingRow::nested,
              "True inside a list or quote: it starts no section and has no address."),
        field("heading_path", &HeadingRow::heading_path,
              "Its address for note_read and note_patch, with `occurrence` where given."),
        field("occurrence", &HeadingRow::occurrence, "Set when the same path occurs repeatedly.")};
  }
};
struct BlockRow {
  std::string id;
  int line = 0, end_line = 0;
  std::size_t size = 0;
  static Fields<BlockRow> fields() {
    return {field("id", &BlockRow::id, "Without the `^`."),
            field("line", &BlockRow::line, "First line of the block."),
            field("end_line", &BlockRow::end_line, "Last line of the block."),
            field("size", &BlockRow::size, "Bytes of the block.")};
  }
};
struct Output {
  std::string path, etag, title, modified;
  std::size_t size = 0, body_size = 0;
  int lines = 0;
  std::vector<HeadingRow> headings;
  std::vector<BlockRow> blocks, duplicate_blocks;
  std::vector<PropertyView> properties;
  std::vector<std::string> warnings;
};

BlockRow view_block(const Block& block) {
  return {block.id, block.line, block.end_line, block.end - block.begin};
}

std::vector<HeadingRow> view_headings(const ParsedNote& note, std::string_view bytes) {
  std::vector<HeadingRow> rows;
  const auto addresses = heading_addresses(note);
  // Line numbers of section ends: a section ends above another heading, or with the file.
  const int last_line = last_line_before(bytes, 0, 1, bytes.size());
  for (std::size_t i = 0; i < note.headings.size(); ++i) {
    const Heading& heading = note.headings[i];
    HeadingRow row;
    row.level = heading.level;
    row.text = std::string(without_block_id(heading.text));
    row.slug = heading.slug;
    row.line = row.end_line = heading.line;
    if (heading.nested) {
      row.nested = true;
    } else {
      const NoteSection section = section_at(note, bytes.size(), i);
      row.size = section.end - section.content;
      row.end_line = section.next ? note.headings[*section.next].line - 1 : last_line;
      row.heading_path = addresses[i].heading_path;
      if (addresses[i].occurrence > 0) row.occurrence = addresses[i].occurrence;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<Output> run(Context& ctx, const Input& in) {
  const NotePath path = INDX_TRY(NotePath::parse(in.path));
  const NoteFile file = INDX_TRY(ctx.notes().read(path));
  if (!file.path.is_note() || !is_valid_utf8(file.bytes))
    return make_error(Reason::NotUtf8, "Only notes of UTF-8 text have a map.",
                      Json{{"path", file.path.str()}});
  const auto parsed = ctx.notes().parse(file);
  const ParsedNote& note = *parsed;
  NoteView view = view_note(ctx, file, {"properties"});
  Output out{.path = view.path, .etag = view.etag, .title = view.title, .modified = view.modified};
  out.size = file.size;
  out.body_size = file.bytes.size() - note.frontmatter.body_begin;
  out.lines = file.bytes.empty() ? 0 : last_line_before(file.bytes, 0, 1, file.bytes.size());
  out.headings = view_headings(note, file.bytes);
  for (const Block& block : note.blocks) out.blocks.push_back(view_block(block));
  for (const Block& block : note.duplicate_blocks)
    out.duplicate_blocks.push_back(view_block(block));
  out.properties = std::move(view.properties).value_or(std::vector<PropertyView>());
  out.warnings = note.warnings;
  return out;
}

}  // namespace document_map_op

Operation document_map() {
  using namespace document_map_op;
  return define<Input, Output>({
      .name = "document_map",
      .summary = "Show what a note is made of: headings with addresses, block ids, properties.",
      .guidance = "The cheapest look before note_read of one section or a note_patch: each heading "
                  "has an address that names it alone, and the etag guards the write.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/map/{path}"},
      .cli = "note map",
      .cli_positional = {"path"},
      .needs = Needs::Files,
      .is_idempotent = true,
      .tool_group = "note_explore",
      .input = {path_field(&Input::path)},
      .output = {field("path", &Output::path, "Vault-relative path."),
                 field("etag", &Output::etag, "Version of the note; give it as `if_match`."),
                 field("title", &Output::title, "Title of the note."),
                 field("modified", &Output::modified, "Time of the last change, ISO 8601."),
                 field("size", &Output::size, "Bytes on disk."),
                 field("body_size", &Output::body_size, "Bytes after the property block."),
                 field("lines", &Output::lines, "Lines of the file."),
                 field("headings", &Output::headings, "In order."),
                 field("blocks", &Output::blocks, "Blocks that have an id, in order."),
                 field("duplicate_blocks", &Output::duplicate_blocks,
                       "Blocks whose id an earlier block has; they cannot be addressed."),
                 field("properties", &Output::properties, "Properties with their types."),
                 field("warnings", &Output::warnings, "Codes of what was odd in the note.")},
      .failures = {{Reason::NotFound, "No note has that path."},
                   {Reason::NotUtf8, "The file is no note, or not UTF-8 text."},
                   {Reason::Forbidden, "The path is outside your globs."}},
      .handler = run,
  });
}

}  // namespace indx
