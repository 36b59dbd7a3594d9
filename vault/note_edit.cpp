#include "vault/note_edit.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/following_text.hpp"
#include "vault/join.hpp"
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

// --- apply_change ---

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
    if (!is_wanted_version(change.if_match, actual))
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

Result<std::string> apply_op(std::string_view bytes, const PatchOp& op,
                             std::vector<AnchorChange>& anchors) {
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
    case PatchKind::InsertBeforeHeading:
      return insert_before_heading(bytes, op.heading, op.markdown);
    case PatchKind::InsertAfterHeading:
      return insert_after_heading(bytes, op.heading, op.markdown);
    case PatchKind::ReplaceSection:
      return replace_section(bytes, op.heading, op.markdown, op.keep_subsections);
    case PatchKind::AppendToSection:
      return append_to_section(bytes, op.heading, op.markdown, op.keep_subsections);
    case PatchKind::DeleteSection:
      return delete_section(bytes, op.heading, op.keep_subsections);
    case PatchKind::MoveSection:
      return move_section(bytes, op.heading, op.target, op.side);
    case PatchKind::RenameHeading: {
      HeadingRename rename = INDX_TRY(rename_heading(bytes, op.heading, op.to));
      anchors.insert(anchors.end(), rename.anchors.begin(), rename.anchors.end());
      return std::move(rename.bytes);
    }
    case PatchKind::ReplaceBlock:
      return replace_block(bytes, op.block_id, op.markdown);
    case PatchKind::AppendTableRow:
      return append_table_row(bytes, op.block_id, op.cells);
    case PatchKind::SetTask:
      return set_task(bytes, {op.line, op.block_id}, op.status);
    case PatchKind::RenameBlock: {
      auto out = INDX_TRY(rename_block(bytes, op.block_id, op.to));
      const auto changed = changed_anchors(parse_note(bytes), parse_note(out));
      anchors.insert(anchors.end(), changed.begin(), changed.end());
      return out;
    }
  }
  return internal_error("A patch has an operation of no known kind.");
}

// --- rename_tag ---

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

/// What is added to a body must not begin a property block, nor end one that a `---` on the first
/// line would open.
Result<std::string> with_same_properties(std::string_view before, std::string after) {
  const Frontmatter was = parse_frontmatter(before), now = parse_frontmatter(after);
  if (now.exists == was.exists && now.content_end == was.content_end) return after;
  return invalid(
      "With this Markdown a part of the note would be read as properties, because of its `---`; "
      "use set_frontmatter for those, or `***` for a line.");
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
  out.append(added).append(eol);
  return with_same_properties(bytes, std::move(out));
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
  const bool text_below = !body.empty() && !is_blank_line(body.substr(0, line_end_of(body, 0)));
  if (text_below && needs_blank_line(added, body)) out += eol;
  out += body;
  return with_following(bytes, block.body_begin, with_same_properties(bytes, std::move(out)));
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
                                                const std::optional<std::string>& before,
                                                std::vector<AnchorChange>* anchors) {
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
    case NoteChange::Kind::Restore:
      return std::optional<std::string>(change.body);
    case NoteChange::Kind::FileWrite: {
      std::string bytes = INDX_TRY(change.file->read_all());
      if (bytes.size() != change.file->size())
        return internal_error("The file that was sent became shorter.");
      return std::optional<std::string>(std::move(bytes));
    }
    case NoteChange::Kind::CanvasWrite: {
      if (!before) INDX_TRY(change.path.check_creatable());
      return std::optional<std::string>(INDX_TRY(write_canvas(change.canvas, before)));
    }
    case NoteChange::Kind::CanvasPatch:
      return std::optional<std::string>(INDX_TRY(apply_canvas_ops(*before, change.canvas_ops)));
    case NoteChange::Kind::Splice:
      if (!are_applicable(change.edits, before->size()))
        return internal_error("The edits do not fit the text they are for.");
      return std::optional(apply_edits(*before, change.edits));
    case NoteChange::Kind::Move:
      return before;
    case NoteChange::Kind::Patch:
      break;
  }
  if (change.ops.empty())
    return invalid("A patch needs at least one operation.", Json{{"path", change.path.str()}});
  std::string bytes = *before;
  std::vector<AnchorChange> changed;
  for (std::size_t i = 0; i < change.ops.size(); ++i) {
    Result<std::string> next = apply_op(bytes, change.ops[i], changed);
    if (!next) {
      next.error().details["op_index"] = i;
      return next.error();
    }
    bytes = std::move(*next);
  }
  if (anchors != nullptr) *anchors = std::move(changed);
  if (!are_applicable(change.edits, bytes.size()))
    return internal_error("The edits do not fit the text they are for.");
  return std::optional(apply_edits(bytes, change.edits));
}

Json to_json(const WriteOutcome& outcome) {
  Json anchors = Json::array();
  for (const AnchorChange& change : outcome.anchors)
    anchors.push_back(Json{{"from", change.from},
                           {"to", change.to},
                           {"from_slug", change.from_slug},
                           {"to_slug", change.to_slug},
                           {"line", change.line}});
  return Json{{"path", outcome.path.str()},
              {"old_etag", outcome.old_etag},
              {"etag", outcome.etag},
              {"sha256", outcome.sha256},
              {"old_size", outcome.old_size},
              {"size", outcome.size},
              {"created", outcome.created},
              {"changed", outcome.changed},
              {"diff", outcome.diff},
              {"trash_path", outcome.trash_path},
              {"warnings", outcome.warnings},
              {"anchors", std::move(anchors)},
              {"moved_from", outcome.moved_from},
              {"moved_files", outcome.moved_files}};
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
                       {},
                       {}};
  const auto texts = [&](const char* key) {
    std::vector<std::string> all;
    if (const auto it = json.find(key); it != json.end() && it->is_array())
      for (const Json& item : *it)
        if (item.is_string()) all.push_back(item.get<std::string>());
    return all;
  };
  outcome.warnings = texts("warnings");
  outcome.moved_from = text("moved_from");
  outcome.moved_files = texts("moved_files");
  if (const auto it = json.find("anchors"); it != json.end() && it->is_array())
    for (const Json& change : *it)
      outcome.anchors.push_back({change.value("from", ""), change.value("to", ""),
                                 change.value("from_slug", ""), change.value("to_slug", ""),
                                 change.value("line", 0)});
  return outcome;
}

}  // namespace indx
