#include "vault/note_edit.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/line_ends.hpp"
#include "vault/markdown.hpp"
#include "vault/yaml_tree.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr std::string_view kMark = "\xEF\xBB\xBF";  // byte order mark

Error binary_note() {
  return make_error(Reason::NotUtf8, "The note is not valid UTF-8; it can be read but not edited.");
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

/// Without blank lines at both ends; every line end becomes `eol`.
std::string trimmed_markdown(std::string_view markdown, std::string_view eol) {
  std::string out;
  std::size_t written_to = 0;  // end of the last line that is not blank
  for (std::size_t at = 0; at < markdown.size();) {
    const std::size_t end = line_end_of(markdown, at);
    const std::string_view line = markdown.substr(at, end - at);
    at = next_line_of(markdown, end);
    if (out.empty() && is_blank(line)) continue;
    out.append(line);
    if (!is_blank(line)) written_to = out.size();
    out.append(eol);
  }
  out.resize(written_to);
  return out;
}

// --- JOIN (rule 6.4)
// -----------------------------------------------------------------------------------------------

/// The marker family of a list item line: the bullet, or the delimiter of a number; 0 for other
/// lines.
char item_family(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos) return 0;
  std::size_t at = first;
  while (at < line.size() && at - first < 10 && line[at] >= '0' && line[at] <= '9') ++at;
  const bool numbered = at > first;
  if (at >= line.size()) return 0;
  const char mark = line[at];
  if (numbered ? mark != '.' && mark != ')' : mark != '-' && mark != '*' && mark != '+') return 0;
  return at + 1 == line.size() || line[at + 1] == ' ' || line[at + 1] == '\t' ? mark : '\0';
}

std::string_view last_line_of(std::string_view text) {
  const std::size_t end = text.find_last_not_of("\r\n") + 1;
  const std::size_t begin = line_begin_of(text, end);
  return text.substr(begin, end - begin);
}

/// The family of the list that a text ends in; nested items and indented lines belong to the item
/// above them.
char family_at_end(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = last_line_of(text);
    if (is_blank(line)) return 0;
    const bool indented = line[0] == ' ' || line[0] == '\t';
    if (!indented) return item_family(line);
    text = text.substr(0, static_cast<std::size_t>(line.data() - text.data()));
    if (text.empty() || is_blank(last_line_of(text))) return item_family(line);
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) {
      const bool crlf = text.size() > 1 && text.back() == '\n' && text[text.size() - 2] == '\r';
      text.remove_suffix(crlf ? 2 : 1);
      break;
    }
    if (!text.empty() && (text.back() == '\n' || text.back() == '\r')) return 0;
  }
  return 0;
}

bool ends_in_heading(std::string_view text) {
  const ParsedNote note = parse_note(text);
  if (note.headings.empty()) return false;
  const Heading& last = note.headings.back();
  return !last.nested && is_blank(text.substr(last.content));
}

/// Whether the last line holds text, whether or not it has a line end.
bool ends_in_text_line(std::string_view text) {
  if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  return !is_blank(text.substr(line_begin_of(text, text.size())));
}

/// Whether a blank line goes between two pieces of Markdown that both end and begin with text.
bool needs_blank_line(std::string_view above, std::string_view below) {
  const char family = family_at_end(above);
  const std::string_view first = below.substr(0, line_end_of(below, 0));
  if (family != 0 && family == item_family(first)) return false;
  return !ends_in_heading(above);
}

// --- apply_change
// --------------------------------------------------------------------------------------------------

Error changed_since_read(std::string_view path, const std::string& expected,
                         const std::string& actual) {
  return make_error(Reason::EtagMismatch,
                    cat("`", path, "` is not what you read; read it again and repeat the change."),
                    Json{{"expected", expected}, {"actual", actual}});
}

Status check_guards(const NoteChange& change, const std::optional<std::string>& before) {
  if (change.if_not_exists && before)
    return make_error(Reason::Conflict, cat("`", change.path.str(), "` exists already."),
                      Json{{"path", change.path.str()}});
  if (!change.if_match.empty()) {
    const std::string actual = before ? etag_of(*before) : std::string();
    if (change.if_match != actual)
      return changed_since_read(change.path.str(), change.if_match, actual);
  }
  if (!change.expected_sha256.empty()) {
    const std::string actual = before ? sha256_hex(*before) : std::string();
    if (change.expected_sha256 != actual)
      return changed_since_read(change.path.str(), change.expected_sha256, actual);
  }
  return {};
}

/// `body` without a mark and without a property block of its own.
std::string_view bare_body(std::string_view body, bool drop_block) {
  const Frontmatter block = parse_frontmatter(body);
  return body.substr(drop_block && block.exists ? block.body_begin : block.begin);
}

Result<std::string> written_note(const NoteChange& change,
                                 const std::optional<std::string>& before) {
  if (!is_valid_utf8(change.body)) return invalid("The body is not valid UTF-8.");
  if (before && !is_valid_utf8(*before)) return binary_note();
  const std::string old = before.value_or("");
  const Frontmatter old_block = parse_frontmatter(old);
  const bool has_mark = old_block.begin > 0 || change.body.compare(0, kMark.size(), kMark) == 0;
  const std::string mark(has_mark ? kMark : std::string_view());
  const bool body_has_ends = change.body.find_first_of("\r\n") != std::string::npos;
  const std::string eol(
      dominant_line_end(body_has_ends ? std::string_view(change.body) : std::string_view(old)));

  switch (change.frontmatter_mode) {
    case FrontmatterMode::Remove:
      return mark + std::string(bare_body(change.body, true));
    case FrontmatterMode::Replace: {
      INDX_TRY(check_frontmatter(change.frontmatter));
      std::string text = mark;
      if (!change.frontmatter.empty())
        text += cat("---", eol, render_frontmatter(change.frontmatter, eol), "---", eol);
      text += bare_body(change.body, true);
      return text;
    }
    case FrontmatterMode::Keep:
      break;
  }
  if (!old_block.exists || parse_frontmatter(change.body).exists)
    return mark + std::string(bare_body(change.body, false));
  std::string text = old.substr(0, old_block.body_begin);
  if (text.back() != '\n' && text.back() != '\r') text += eol;
  text += bare_body(change.body, false);
  return text;
}

Result<std::string> apply_op(std::string_view bytes, const PatchOp& op) {
  switch (op.kind) {
    case PatchKind::SetFrontmatter:
      return set_frontmatter(bytes, op.key, op.value);
    case PatchKind::DeleteFrontmatter:
      return delete_frontmatter(bytes, op.key);
    case PatchKind::AppendBody:
      return append_body(bytes, op.markdown);
    case PatchKind::PrependBody:
      return prepend_body(bytes, op.markdown);
    case PatchKind::RenameTag:
      return rename_tag(bytes, op.from, op.to);
  }
  return internal_error("A patch has an operation of no known kind.");
}

// --- rename_tag
// ----------------------------------------------------------------------------------------------------

/// The new name of `tag` when it is `from` or below it; the part below keeps its spelling.
std::optional<std::string> renamed_tag(std::string_view tag, const std::string& folded_from,
                                       std::string_view to) {
  const auto depth =
      static_cast<std::size_t>(std::count(folded_from.begin(), folded_from.end(), '/')) + 1;
  std::size_t end = 0;
  for (std::size_t level = 0; level < depth && end != std::string_view::npos; ++level)
    end = tag.find('/', level == 0 ? 0 : end + 1);
  const std::string_view head = tag.substr(0, end);
  if (fold_case(head) != folded_from) return std::nullopt;
  return std::string(to).append(tag.substr(head.size()));
}

std::string_view without_mark(std::string_view tag) {
  return tag.substr(!tag.empty() && tag[0] == '#' ? 1 : 0);
}

}  // namespace

Result<std::string> append_body(std::string_view bytes, std::string_view markdown) {
  if (!is_valid_utf8(bytes)) return binary_note();
  if (!is_valid_utf8(markdown)) return invalid("The Markdown is not valid UTF-8.");
  const std::string eol(dominant_line_end(bytes));
  const std::string added = trimmed_markdown(markdown, eol);
  std::string out(bytes);
  if (added.empty()) return out;
  const std::string_view body = bytes.substr(parse_frontmatter(bytes).body_begin);
  const bool ends_line =
      bytes.empty() || bytes == kMark || bytes.back() == '\n' || bytes.back() == '\r';
  if (!ends_line) out += eol;
  if (ends_in_text_line(body) && needs_blank_line(body, added)) out += eol;
  return out + added + eol;
}

Result<std::string> prepend_body(std::string_view bytes, std::string_view markdown) {
  if (!is_valid_utf8(bytes)) return binary_note();
  if (!is_valid_utf8(markdown)) return invalid("The Markdown is not valid UTF-8.");
  const std::string eol(dominant_line_end(bytes));
  const std::string added = trimmed_markdown(markdown, eol);
  if (added.empty()) return std::string(bytes);
  const Frontmatter block = parse_frontmatter(bytes);
  const std::string_view body = bytes.substr(block.body_begin);
  std::string out(bytes.substr(0, block.body_begin));
  if (block.exists && out.back() != '\n' && out.back() != '\r') out += eol;
  out += added + eol;
  const bool text_below = !body.empty() && !is_blank(body.substr(0, line_end_of(body, 0)));
  if (text_below && needs_blank_line(added, body)) out += eol;
  out += body;
  const Frontmatter now = parse_frontmatter(out);
  if (now.exists != block.exists || now.content_end != block.content_end)
    return invalid(
        "The Markdown begins with `---` and would be read as properties; use set_frontmatter for "
        "those.");
  return out;
}

Result<std::string> rename_tag(std::string_view bytes, std::string_view from, std::string_view to) {
  from = without_mark(from);
  to = without_mark(to);
  if (!is_valid_utf8(from) || !is_valid_tag(from))
    return invalid(cat("`", replace_invalid_utf8(from), "` is no tag."));
  if (!is_valid_utf8(to) || !is_valid_tag(to))
    return invalid(cat("`", replace_invalid_utf8(to), "` is no tag."));
  if (!is_valid_utf8(bytes)) return binary_note();
  const std::string folded = fold_case(from);
  const auto rename = [&](std::string_view tag) { return renamed_tag(tag, folded, to); };

  std::string out;
  std::size_t copied_to = 0;
  for (const TagUse& use : parse_note(bytes).tags) {
    const std::optional<std::string> tag = use.line > 0 ? rename(use.tag) : std::nullopt;
    if (!tag) continue;
    out.append(bytes.substr(copied_to, use.begin - copied_to)).append(*tag);
    copied_to = use.end;
  }
  out.append(bytes.substr(copied_to));
  return rename_property_tags(out, rename);
}

Result<std::optional<std::string>> apply_change(const NoteChange& change,
                                                const std::optional<std::string>& before) {
  if (!change.may_create() && !before)
    return not_found(cat("`", change.path.str(), "` does not exist."),
                     Json{{"path", change.path.str()}});
  INDX_TRY(check_guards(change, before));
  switch (change.kind) {
    case NoteChange::Kind::Delete:
      return std::optional<std::string>();
    case NoteChange::Kind::Write: {
      if (!before) INDX_TRY(change.path.check_creatable());
      return std::optional<std::string>(INDX_TRY(written_note(change, before)));
    }
    case NoteChange::Kind::CanvasWrite: {
      if (!before) INDX_TRY(change.path.check_creatable());
      return std::optional<std::string>(INDX_TRY(write_canvas(change.canvas, before)));
    }
    case NoteChange::Kind::CanvasPatch:
      return std::optional<std::string>(INDX_TRY(apply_canvas_ops(*before, change.canvas_ops)));
    case NoteChange::Kind::Patch:
      break;
  }
  if (change.ops.empty())
    return invalid("A patch needs at least one operation.", Json{{"path", change.path.str()}});
  std::string bytes = *before;
  for (std::size_t i = 0; i < change.ops.size(); ++i) {
    Result<std::string> next = apply_op(bytes, change.ops[i]);
    if (!next) {
      next.error().details["op_index"] = i;
      return next.error();
    }
    bytes = std::move(*next);
  }
  return std::optional<std::string>(std::move(bytes));
}

Json to_json(const WriteOutcome& outcome) {
  return Json{
      {"path", outcome.path.str()},       {"old_etag", outcome.old_etag}, {"etag", outcome.etag},
      {"sha256", outcome.sha256},         {"old_size", outcome.old_size}, {"size", outcome.size},
      {"created", outcome.created},       {"changed", outcome.changed},   {"diff", outcome.diff},
      {"trash_path", outcome.trash_path}, {"warnings", outcome.warnings}};
}

Result<WriteOutcome> write_outcome_from_json(const Json& json) {
  if (!json.is_object()) return internal_error("A stored write outcome is no object.");
  const auto text = [&](const char* key) {
    const auto it = json.find(key);
    return it != json.end() && it->is_string() ? it->get<std::string>() : std::string();
  };
  const auto size = [&](const char* key) {
    const auto it = json.find(key);
    return it != json.end() && it->is_number() ? it->get<std::size_t>() : 0;
  };
  const auto flag = [&](const char* key) {
    const auto it = json.find(key);
    return it != json.end() && it->is_boolean() && it->get<bool>();
  };
  NotePath path = INDX_TRY(NotePath::parse(text("path")));
  WriteOutcome outcome{std::move(path),
                       text("old_etag"),
                       text("etag"),
                       text("sha256"),
                       size("old_size"),
                       size("size"),
                       flag("created"),
                       flag("changed"),
                       text("diff"),
                       text("trash_path"),
                       {}};
  if (const auto it = json.find("warnings"); it != json.end() && it->is_array())
    for (const Json& warning : *it)
      if (warning.is_string()) outcome.warnings.push_back(warning.get<std::string>());
  return outcome;
}

}  // namespace indx
