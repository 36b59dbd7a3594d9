#include "ops/notes/note_view.hpp"

#include "base/hash.hpp"
#include "base/json_depth.hpp"
#include "base/media_type.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/link_resolver.hpp"
#include "vault/list_query.hpp"

namespace indx {
namespace {

std::string_view link_kind_name(LinkKind kind) {
  switch (kind) {
    case LinkKind::Link:
      return "link";
    case LinkKind::Embed:
      return "embed";
    case LinkKind::Property:
      return "property";
    case LinkKind::Canvas:
      return "canvas";
  }
  return "";
}

std::string_view link_syntax_name(LinkSyntax syntax) {
  switch (syntax) {
    case LinkSyntax::Wiki:
      return "wiki";
    case LinkSyntax::Markdown:
      return "markdown";
    case LinkSyntax::Path:
      return "path";
  }
  return "";
}

bool is_text(std::string_view bytes) {
  return is_valid_utf8(bytes) && bytes.find('\0') == std::string_view::npos;
}

/// Each tag once, in the spelling of its first use.
std::vector<std::string> view_tags(const ParsedNote& note) {
  std::vector<std::string> tags;
  std::set<std::string> seen;
  for (const auto& use : note.tags)
    if (seen.insert(fold_case(use.tag)).second) tags.push_back(use.tag);
  return tags;
}

std::vector<TaskView> view_tasks(const ParsedNote& note) {
  std::vector<TaskView> tasks;
  for (const auto& task : note.tasks)
    tasks.push_back({std::string(1, task.status), task.text, task.status != ' ', task.line});
  return tasks;
}

void add_parsed_parts(NoteView& view, const NoteFile& file, const ParsedNote& note,
                      const std::set<std::string>& parts) {
  if (parts.contains("frontmatter")) view.frontmatter = JsonObject{note.frontmatter.values};
  if (const auto& error = note.frontmatter.error)
    view.frontmatter_error = FrontmatterErrorView{error->line, error->column, error->message};
  if (parts.contains("outline")) view.outline = view_outline(note);
  if (parts.contains("body")) view.body = file.bytes.substr(note.frontmatter.body_begin);
  if (parts.contains("tags")) view.tags = view_tags(note);
  if (parts.contains("links")) {
    view.links.emplace();
    for (const auto& link : note.links) view.links->push_back(view_link(link));
  }
  if (parts.contains("blocks")) {
    view.blocks.emplace();
    for (const auto& block : note.blocks)
      view.blocks->push_back({block.id, block.line, block.end_line});
  }
  if (parts.contains("tasks")) view.tasks = view_tasks(note);
  if (parts.contains("properties")) {
    view.properties.emplace();
    for (const auto& [name, value] : note.frontmatter.values.items())
      view.properties->push_back({name, std::string(property_type(name, value)), value});
  }
}

template <typename Row>
void keep_lines(std::optional<std::vector<Row>>& rows, int first, int last) {
  if (rows)
    std::erase_if(*rows, [&](const Row& row) { return row.line < first || row.line > last; });
}

/// A span of the file that a read is about.
struct PartSpan {
  PartView view;
  std::size_t text_begin = 0;  ///< where `body` begins: behind the heading
};

PartSpan span_of_heading(const ParsedNote& note, std::string_view bytes, std::size_t index) {
  const Heading& heading = note.headings[index];
  const NoteSection section = section_at(note, bytes.size(), index);
  PartView view;
  view.kind = "section";
  view.heading = std::string(without_block_id(heading.text));
  view.heading_path = heading_path_of(note, index);
  view.level = heading.level;
  view.slug = heading.slug;
  view.line = heading.line;
  view.begin = section.begin;
  view.end = heading.nested ? std::min(heading.content, bytes.size()) : section.end;
  view.end_line = last_line_before(bytes, view.begin, view.line, view.end);
  return {std::move(view), std::min(section.content, bytes.size())};
}

PartSpan span_of_block(const Block& block) {
  PartView view;
  view.kind = "block";
  view.block_id = block.id;
  view.line = block.line;
  view.end_line = block.end_line;
  view.begin = block.begin;
  view.end = block.end;
  return {std::move(view), block.begin};
}

Result<PartSpan> span_of(const ParsedNote& note, std::string_view bytes, const PartAddress& part) {
  if (!part.block_id.empty()) {
    const Block* block = INDX_TRY(find_block(note, part.block_id));
    return span_of_block(*block);
  }
  if (part.anchor.empty()) {
    const std::size_t index = INDX_TRY(find_heading(note, part.heading));
    return span_of_heading(note, bytes, index);
  }
  const Anchor anchor = INDX_TRY(find_anchor(note, bytes.size(), part.anchor));
  return anchor.kind == Anchor::Kind::Block ? span_of_block(note.blocks[anchor.index])
                                            : span_of_heading(note, bytes, anchor.index);
}

}  // namespace

Fields<HeadingView> HeadingView::fields() {
  return {field("level", &HeadingView::level, "1 to 6."),
          field("text", &HeadingView::text, "As written, without the `#` marks."),
          field("line", &HeadingView::line, "1-based line in the file."),
          field("slug", &HeadingView::slug, "Anchor, unique in the note."),
          field("nested", &HeadingView::nested,
                "True inside a list or quote, where it starts no section.")};
}
Fields<LinkView> LinkView::fields() {
  return {field("kind", &LinkView::kind, "How it is used.",
                one_of({"link", "embed", "property", "canvas"})),
          field("syntax", &LinkView::syntax,
                "How it is written; `path`: the vault path of a canvas node.",
                one_of({"wiki", "markdown", "path"})),
          field("target", &LinkView::target, "As written, without the subpath."),
          field("subpath", &LinkView::subpath, "Heading or ^block after the first `#`."),
          field("display", &LinkView::display, "Text shown instead of the target."),
          field("key", &LinkView::key, "Name of the property that holds it."),
          field("external", &LinkView::external, "Leads out of the vault."),
          field("line", &LinkView::line, "1-based line in the file."),
          field("column", &LinkView::column, "1-based byte column.")};
}
Fields<BlockView> BlockView::fields() {
  return {field("id", &BlockView::id, "Without the `^`."),
          field("line", &BlockView::line, "First line of the block."),
          field("end_line", &BlockView::end_line, "Last line of the block.")};
}
Fields<TaskView> TaskView::fields() {
  return {field("status", &TaskView::status, "The character between the brackets."),
          field("text", &TaskView::text, "Text of the task."),
          field("is_done", &TaskView::is_done, "Whether it is checked."),
          field("line", &TaskView::line, "1-based line.")};
}
Fields<PropertyView> PropertyView::fields() {
  return {field("name", &PropertyView::name, "As spelled in the note."),
          field("type", &PropertyView::type, "What its value looks like.",
                one_of({"text", "list", "number", "checkbox", "date", "datetime", "tags", "object",
                        "empty"})),
          field("value", &PropertyView::value, "Any JSON; dates stay text.", nullable)};
}
Fields<PartView> PartView::fields() {
  return {field("kind", &PartView::kind, "What was read.", one_of({"section", "block"})),
          field("heading", &PartView::heading, "Text of the section's heading."),
          field("heading_path", &PartView::heading_path, "Headings above it and itself."),
          field("level", &PartView::level, "1 to 6."),
          field("slug", &PartView::slug, "Anchor of the heading."),
          field("block_id", &PartView::block_id, "Id of the block, without `^`."),
          field("line", &PartView::line, "Line of the heading, or first line of the block."),
          field("end_line", &PartView::end_line, "Last line."),
          field("begin", &PartView::begin, "First byte in the file; of a section: its heading."),
          field("end", &PartView::end, "First byte behind it.")};
}
Fields<FrontmatterErrorView> FrontmatterErrorView::fields() {
  return {field("line", &FrontmatterErrorView::line, "1-based line in the file."),
          field("column", &FrontmatterErrorView::column, "1-based column."),
          field("message", &FrontmatterErrorView::message, "What the YAML reader says.")};
}
Fields<NoteView> NoteView::fields() {
  return {
      field("path", &NoteView::path, "Vault-relative path."),
      field("etag", &NoteView::etag, "Version of these bytes; give it as `if_match` when writing."),
      field("size", &NoteView::size, "Bytes on disk."),
      field("modified", &NoteView::modified, "Time of the last change, ISO 8601."),
      field("title", &NoteView::title,
            "Property `title`, else the first level-1 heading, else the file name."),
      field("encoding", &NoteView::encoding, "`binary`: the body is base64.",
            one_of({"utf-8", "binary"})),
      field("frontmatter", &NoteView::frontmatter, "Properties in file order; dates stay text.",
            usual),
      field("frontmatter_error", &NoteView::frontmatter_error,
            "Why the property block cannot be read."),
      field("outline", &NoteView::outline, "Headings in order.", usual),
      field("body", &NoteView::body, "Text after the property block.", usual),
      field("raw", &NoteView::raw, "The whole file, exactly; base64 when `encoding` is binary."),
      field("tags", &NoteView::tags, "Tags of properties and text, without `#`, each once."),
      field("links", &NoteView::links, "Links in order; `link_forward` says what they reach."),
      field("blocks", &NoteView::blocks, "Blocks that have an id."),
      field("tasks", &NoteView::tasks, "Checkbox items."),
      field("properties", &NoteView::properties, "Properties with their types, in file order."),
      field("section", &NoteView::section,
            "The section or block that was asked for; `body` is its text."),
      field("truncated", &NoteView::truncated,
            "True: `body` was cut to fit the budget; read the note for all of it."),
      field("warnings", &NoteView::warnings, "Codes of what was odd in the note.")};
}

Fields<AnchorChangeView> AnchorChangeView::fields() {
  return {field("from", &AnchorChangeView::from, "Text before."),
          field("to", &AnchorChangeView::to, "Text now."),
          field("from_slug", &AnchorChangeView::from_slug, "Slug before."),
          field("to_slug", &AnchorChangeView::to_slug, "Slug now."),
          field("line", &AnchorChangeView::line, "Line of the heading.")};
}
Fields<WriteView> WriteView::fields() {
  return {field("path", &WriteView::path, "Vault-relative path."),
          field("etag", &WriteView::etag,
                "Version after the change; for a deleted note there is none.", usual),
          field("old_etag", &WriteView::old_etag, "Version before, when the note existed."),
          field("sha256", &WriteView::sha256, "SHA-256 of the bytes after the change."),
          field("size", &WriteView::size, "Bytes after the change."),
          field("old_size", &WriteView::old_size, "Bytes before the change."),
          field("created", &WriteView::created, "Whether the note is new."),
          field("changed", &WriteView::changed, "False: the bytes were equal already."),
          field("dry_run", &WriteView::dry_run, "True: nothing was written."),
          field("diff", &WriteView::diff, "With `dry_run`: what would change, as a unified diff."),
          field("trash_path", &WriteView::trash_path, "Where the deleted note lies now."),
          field("anchors", &WriteView::anchors, "Headings whose anchors changed."),
          field("warnings", &WriteView::warnings, "Codes such as `index_pending`.")};
}

NoteChange change_of(NoteChange::Kind kind, NotePath path) {
  return {kind, std::move(path), {},    {},   FrontmatterMode::Keep, Json::object(), {},
          {},   false,           false, false};
}

WriteView view_write(const WriteOutcome& outcome, bool dry_run) {
  const auto given = [](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional<std::string>(text);
  };
  WriteView view;
  view.path = outcome.path.str();
  view.etag = given(outcome.etag);
  view.old_etag = given(outcome.old_etag);
  view.sha256 = given(outcome.sha256);
  view.size = outcome.size;
  view.old_size = outcome.old_size;
  view.created = outcome.created;
  view.changed = outcome.changed;
  view.dry_run = dry_run;
  if (dry_run) view.diff = outcome.diff;
  view.trash_path = given(outcome.trash_path);
  view.warnings = outcome.warnings;
  if (!outcome.anchors.empty()) {
    view.anchors.emplace();
    for (const AnchorChange& change : outcome.anchors)
      view.anchors->push_back(
          {change.from, change.to, change.from_slug, change.to_slug, change.line});
  }
  return view;
}

std::string title_of(const ParsedNote& note, const NotePath& path) {
  return note.title.empty() ? std::string(path.stem()) : note.title;
}

std::vector<HeadingView> view_outline(const ParsedNote& note) {
  std::vector<HeadingView> outline;
  for (const auto& heading : note.headings)
    outline.push_back({heading.level, heading.text, heading.line, heading.slug,
                       heading.nested ? std::optional<bool>(true) : std::nullopt});
  return outline;
}

LinkView view_link(const Link& link) {
  LinkView view;
  view.kind = link_kind_name(link.kind);
  view.syntax = link_syntax_name(link.syntax);
  view.target = link.target;
  if (!link.subpath.empty()) view.subpath = link.subpath;
  view.display = link.display;
  if (!link.key.empty()) view.key = link.key;
  view.external = link.external;
  view.line = link.line;
  view.column = link.column;
  return view;
}

NoteView view_note(Context& ctx, const NoteFile& file, const std::set<std::string>& parts) {
  NoteView view;
  view.path = file.path.str();
  view.etag = file.etag;
  view.size = file.size;
  view.modified = format_time(file.modified);
  view.title = file.path.stem();
  view.encoding = is_text(file.bytes) ? "utf-8" : "binary";
  const bool is_binary = view.encoding == "binary";
  if (parts.contains("raw")) view.raw = is_binary ? base64_encode(file.bytes) : file.bytes;
  if (!file.path.is_note()) {
    if (parts.contains("body")) view.body = is_binary ? base64_encode(file.bytes) : file.bytes;
    return view;
  }
  const auto note = ctx.notes().parse(file);
  view.title = title_of(*note, file.path);
  view.warnings = note->warnings;
  add_parsed_parts(view, file, *note, parts);
  if (is_binary && view.body)
    view.body = base64_encode(file.bytes);  // exact bytes: replaced ones must not be written back
  return view;
}

Result<NoteView> view_part(Context& ctx, const NoteFile& file, const PartAddress& part,
                           const std::set<std::string>& parts) {
  if (!file.path.is_note())
    return make_error(Reason::TargetNotFound, "Only notes have headings and blocks.",
                      Json{{"path", file.path.str()}});
  if (!is_text(file.bytes))
    return make_error(Reason::NotUtf8, "The note is not UTF-8 text; read it as a whole.",
                      Json{{"path", file.path.str()}});
  const auto note = ctx.notes().parse(file);
  PartSpan span = INDX_TRY(span_of(*note, file.bytes, part));
  NoteView view = view_note(ctx, file, parts);
  const std::size_t begin = std::min(span.text_begin, span.view.end);
  if (view.body) view.body = file.bytes.substr(begin, span.view.end - begin);
  if (view.raw) view.raw = file.bytes.substr(span.view.begin, span.view.end - span.view.begin);
  const int first = span.view.line, last = span.view.end_line;
  keep_lines(view.outline, first, last);
  keep_lines(view.links, first, last);
  keep_lines(view.blocks, first, last);
  keep_lines(view.tasks, first, last);
  if (view.tags) {
    ParsedNote inside;
    for (const TagUse& use : note->tags)
      if (use.line >= first && use.line <= last) inside.tags.push_back(use);
    view.tags = view_tags(inside);
  }
  view.section = std::move(span.view);
  return view;
}

Result<NotePath> writable_note_path(const std::string& text) {
  NotePath path = INDX_TRY(NotePath::parse(text));
  if (path.is_note() || path.is_ignored()) return path;  // the write refuses hidden paths
  const auto extension = to_lower(path.extension());
  const bool is_known = extension == "canvas" || extension == "base" ||
                        media_type_of(path.str()) != "application/octet-stream";
  std::string use = extension == "canvas" ? "canvas_write and canvas_patch write canvases."
                                          : "attachment_write writes other files.";
  if (extension.empty())
    use = cat("did you mean `", path.str(), ".md`?");
  else if (!is_known)
    use = cat("did you mean `", path.str(), ".md`? Else ", use);
  return invalid(cat("`", path.str(), "` is no note, notes end in `.md`: ", use),
                 Json{{"path", "path"}, {"expected", "a path in `.md`"}, {"actual", path.str()}});
}

std::string plain_etag(std::string_view if_match) {
  if_match = trim(if_match);
  if (if_match.starts_with("W/")) if_match.remove_prefix(2);
  if (if_match.size() >= 2 && if_match.front() == '"' && if_match.back() == '"')
    if_match = if_match.substr(1, if_match.size() - 2);
  return std::string(if_match);
}

std::string make_cursor(const Json& position) { return base64_encode(position.dump()); }

Result<Json> read_cursor(const std::string& cursor) {
  const auto decoded = base64_decode(cursor);
  Json position = decoded.ok ? parse_shallow_json(decoded.bytes) : Json(Json::value_t::discarded);
  if (position.is_discarded())
    return invalid(
        "`cursor` is not one of ours: use `next_cursor` of the answer before, unchanged.",
        Json{{"path", "cursor"},
             {"expected", "next_cursor of an earlier answer"},
             {"actual", "another text"}});
  return position;
}

std::string plain_tag(std::string_view tag) {
  tag = trim(tag);
  if (tag.starts_with('#')) tag.remove_prefix(1);
  return std::string(tag);
}

}  // namespace indx
