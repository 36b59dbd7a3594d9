#include "vault/section_edit.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/following_text.hpp"
#include "vault/join.hpp"
#include "vault/line_ends.hpp"
#include "vault/link_resolver.hpp"

#include <algorithm>

namespace indx {
namespace {

Status check_editable(std::string_view bytes, std::string_view markdown) {
  if (!is_valid_utf8(bytes))
    return make_error(Reason::NotUtf8,
                      "The note is not valid UTF-8; it can be read but not edited.");
  if (!is_valid_utf8(markdown)) return invalid("The Markdown is not valid UTF-8.");
  return {};
}

/// An edit of the body must leave the property block what it is.
Result<std::string> with_same_block(const ParsedNote& note, std::string out) {
  const Frontmatter now = parse_frontmatter(out);
  const Frontmatter& block = note.frontmatter;
  if (now.exists == block.exists && now.content_end == block.content_end) return out;
  return invalid(
      "The note would begin with `---` and be read as properties; use set_frontmatter for those.");
}

bool is_under_heading(const ParsedNote& note, std::size_t at) {
  return std::any_of(note.headings.begin(), note.headings.end(),
                     [&](const Heading& h) { return !h.nested && h.content == at; });
}

bool has_heading_at(const ParsedNote& note, std::size_t begin) {
  return std::any_of(note.headings.begin(), note.headings.end(),
                     [&](const Heading& h) { return !h.nested && h.begin == begin; });
}

Result<std::string> inserted_at(std::string_view bytes, const ParsedNote& note, std::size_t at,
                                std::string_view markdown) {
  const std::string_view eol = dominant_line_end(bytes);
  const std::string added = trimmed_markdown(markdown, eol);
  if (added.empty()) return std::string(bytes);
  const JoinPlace place{note.frontmatter.body_begin, at, at, is_under_heading(note, at)};
  return with_following(bytes, at, with_same_block(note, joined(bytes, place, added, eol)));
}

/// Without [from, to), which begins and ends at headings or at the end of the file.
std::string without_range(std::string_view bytes, const ParsedNote& note, std::size_t from,
                          std::size_t to) {
  const std::size_t body = note.frontmatter.body_begin;
  if (to >= bytes.size()) {
    const std::size_t text_end = before_blank_lines(bytes, body, from);
    return std::string(bytes.substr(0, text_end > body ? text_end : from));
  }
  const auto next = std::find_if(note.headings.begin(), note.headings.end(),
                                 [&](const Heading& h) { return !h.nested && h.begin == to; });
  const bool next_is_setext = next != note.headings.end() && next->setext;
  const bool text_above =
      ends_in_text_line(bytes.substr(body, from - body)) && !is_under_heading(note, from);
  std::string out(bytes.substr(0, from));
  const bool blank_line = next_is_setext && text_above;
  if (blank_line) out += dominant_line_end(bytes);
  out += bytes.substr(to);
  const Frontmatter now = parse_frontmatter(out);
  if (now.exists != note.frontmatter.exists || now.content_end != note.frontmatter.content_end)
    out.insert(from, dominant_line_end(bytes));  // else what follows would be read as properties
  return out;
}

/// The blank lines around the text of a section, which a replacement keeps.
struct SectionText {
  std::string_view lead, text, last_line_end, tail;
};
SectionText split_section(std::string_view bytes, const NoteSection& section) {
  SectionText parts;
  const std::size_t begin = after_blank_lines(bytes, section.content, section.end);
  if (begin < section.end) {
    const std::size_t end = before_blank_lines(bytes, begin, section.end);
    std::size_t text_end = end;
    while (text_end > begin && (bytes[text_end - 1] == '\n' || bytes[text_end - 1] == '\r'))
      --text_end;
    parts.lead = bytes.substr(section.content, begin - section.content);
    parts.text = bytes.substr(begin, text_end - begin);
    parts.last_line_end = bytes.substr(text_end, end - text_end);
    parts.tail = bytes.substr(end, section.end - end);
    return parts;
  }
  // Nothing but blank lines: the first belongs to the heading, the others to the next heading; a
  // single one to both.
  const std::string_view blank = bytes.substr(section.content, section.end - section.content);
  parts.last_line_end = dominant_line_end(bytes);
  if (!section.next) {
    parts.lead = blank;
    return parts;
  }
  const std::size_t first = next_line_of(blank, line_end_of(blank, 0));
  parts.lead = blank.substr(0, first);
  parts.tail = first < blank.size() ? blank.substr(first) : parts.lead;
  return parts;
}

/// Where the text of a heading stands, without marks and block id.
struct HeadingTextRange {
  std::size_t begin = 0, end = 0;
  std::size_t id_end = 0;  ///< behind the block id; `end` when there is none
};
HeadingTextRange text_range_of(std::string_view bytes, const Heading& heading) {
  std::size_t begin = heading.begin, end = 0;
  if (heading.setext) {
    // All lines but the underline, which is the last one.
    std::size_t last = heading.begin, at = heading.begin;
    while (at < heading.content) {
      const std::size_t next = next_line_of(bytes, line_end_of(bytes, at));
      if (next >= heading.content) break;
      last = at;
      at = next;
    }
    end = line_end_of(bytes, last);
    begin = bytes.find_first_not_of(" \t", begin);
  } else {
    end = line_end_of(bytes, begin);
    begin = std::min(bytes.find_first_not_of(" \t", begin), end);
    begin = std::min(bytes.find_first_not_of('#', begin), end);
    begin = std::min(bytes.find_first_not_of(" \t", begin), end);
    while (end > begin && (bytes[end - 1] == ' ' || bytes[end - 1] == '\t')) --end;
    std::size_t marks = end;
    while (marks > begin && bytes[marks - 1] == '#') --marks;
    if (marks < end && (marks == begin || bytes[marks - 1] == ' ' || bytes[marks - 1] == '\t'))
      end = marks;
  }
  while (end > begin && (bytes[end - 1] == ' ' || bytes[end - 1] == '\t')) --end;
  const std::string_view text = bytes.substr(begin, end - begin);
  const std::string_view plain = without_block_id(text);
  HeadingTextRange range{begin, begin + trim(plain).size(), end};
  return range;
}

}  // namespace

Result<std::string> insert_before_heading(std::string_view bytes, const HeadingAddress& heading,
                                          std::string_view markdown) {
  INDX_TRY(check_editable(bytes, markdown));
  const ParsedNote note = parse_note(bytes);
  const std::size_t index = INDX_TRY(find_heading(note, heading));
  return inserted_at(bytes, note, note.headings[index].begin, markdown);
}

Result<std::string> insert_after_heading(std::string_view bytes, const HeadingAddress& heading,
                                         std::string_view markdown) {
  INDX_TRY(check_editable(bytes, markdown));
  const ParsedNote note = parse_note(bytes);
  const std::size_t index = INDX_TRY(find_heading(note, heading));
  return inserted_at(bytes, note, note.headings[index].content, markdown);
}

Result<std::string> append_to_section(std::string_view bytes, const HeadingAddress& heading,
                                      std::string_view markdown, bool keep_subsections) {
  INDX_TRY(check_editable(bytes, markdown));
  const ParsedNote note = parse_note(bytes);
  const std::size_t index = INDX_TRY(find_heading(note, heading));
  const NoteSection section = section_at(note, bytes.size(), index, keep_subsections);
  const std::size_t at =
      section.next ? before_blank_lines(bytes, section.content, section.end) : section.end;
  return inserted_at(bytes, note, at, markdown);
}

Result<std::string> replace_section(std::string_view bytes, const HeadingAddress& heading,
                                    std::string_view markdown, bool keep_subsections) {
  INDX_TRY(check_editable(bytes, markdown));
  const ParsedNote note = parse_note(bytes);
  const std::size_t index = INDX_TRY(find_heading(note, heading));
  const NoteSection section = section_at(note, bytes.size(), index, keep_subsections);
  const std::string_view eol = dominant_line_end(bytes);
  const SectionText parts = split_section(bytes, section);
  const std::string added = trimmed_markdown(markdown, eol);

  std::string out(bytes.substr(0, section.content));
  const bool ends_line = !out.empty() && (out.back() == '\n' || out.back() == '\r');
  if (added.empty()) {
    out += parts.tail.empty() ? parts.lead : parts.tail;
  } else {
    if (!ends_line) out += eol;
    out.append(parts.lead).append(added).append(parts.last_line_end).append(parts.tail);
  }
  const std::string_view rest = bytes.substr(section.end);
  const std::size_t next_begin = out.size();
  out += rest;
  // The next heading must stay one: a setext heading would take the text above in, and an HTML
  // block ends only at a blank line.
  const bool is_tight = section.next && !added.empty() && parts.tail.empty();
  if (is_tight &&
      (note.headings[*section.next].setext || !has_heading_at(parse_note(out), next_begin)))
    out.insert(next_begin, eol);
  return with_following(bytes, section.end, with_same_block(note, std::move(out)));
}

Result<std::string> delete_section(std::string_view bytes, const HeadingAddress& heading,
                                   bool keep_subsections) {
  INDX_TRY(check_editable(bytes, ""));
  const ParsedNote note = parse_note(bytes);
  const std::size_t index = INDX_TRY(find_heading(note, heading));
  const NoteSection section = section_at(note, bytes.size(), index, keep_subsections);
  return with_following(bytes, section.end, without_range(bytes, note, section.begin, section.end));
}

Result<std::string> move_section(std::string_view bytes, const HeadingAddress& heading,
                                 const HeadingAddress& target, SectionSide side) {
  INDX_TRY(check_editable(bytes, ""));
  const ParsedNote note = parse_note(bytes);
  const NoteSection moved = section_at(note, bytes.size(), INDX_TRY(find_heading(note, heading)));
  const std::size_t target_index = INDX_TRY(find_heading(note, target));
  const NoteSection other = section_at(note, bytes.size(), target_index);
  if (other.begin > moved.begin && other.begin < moved.end)
    return invalid("A section cannot be moved to a heading inside of itself.",
                   Json{{"line", note.headings[target_index].line}});
  const std::size_t point = side == SectionSide::Before ? other.begin : other.end;
  if (point >= moved.begin && point <= moved.end) return std::string(bytes);

  const std::size_t text_end = before_blank_lines(bytes, moved.begin, moved.end);
  std::string_view text = bytes.substr(moved.begin, text_end - moved.begin);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  const std::string_view eol = dominant_line_end(bytes);
  const auto place_in = [&](const ParsedNote& parsed) {
    return JoinPlace{parsed.frontmatter.body_begin, point, point, is_under_heading(parsed, point)};
  };
  // What follows it there, and what followed it here, must both be read as before.
  if (point > moved.end) {
    const std::string with_copy = joined(bytes, place_in(note), text, eol);
    INDX_TRY(check_following(bytes, point, with_copy));
    return with_following(with_copy, moved.end,
                          with_same_block(note, without_range(with_copy, parse_note(with_copy),
                                                              moved.begin, moved.end)));
  }
  const std::string rest = without_range(bytes, note, moved.begin, moved.end);
  INDX_TRY(check_following(bytes, moved.end, rest));
  return with_following(rest, point,
                        with_same_block(note, joined(rest, place_in(parse_note(rest)), text, eol)));
}

std::vector<AnchorChange> changed_anchors(const ParsedNote& before, const ParsedNote& after) {
  std::vector<AnchorChange> changes;
  for (std::size_t i = 0; i < before.headings.size() && i < after.headings.size(); ++i) {
    const Heading &a = before.headings[i], &b = after.headings[i];
    if (a.text == b.text && a.slug == b.slug) continue;
    changes.push_back({std::string(without_block_id(a.text)), std::string(without_block_id(b.text)),
                       a.slug, b.slug, b.line});
  }
  return changes;
}

Result<HeadingRename> rename_heading(std::string_view bytes, const HeadingAddress& heading,
                                     std::string_view to) {
  INDX_TRY(check_editable(bytes, to));
  const ParsedNote note = parse_note(bytes);
  const std::size_t index = INDX_TRY(find_heading(note, heading));
  const Heading& old = note.headings[index];
  std::string_view text = trim(to);
  const std::size_t marks = std::min(text.find_first_not_of('#'), text.size());
  if (marks >= 1 && marks <= 6 && marks < text.size() && text[marks] == ' ') {
    if (static_cast<int>(marks) != old.level)
      return invalid("A rename changes the text of a heading, not its level.",
                     Json{{"expected", old.level}, {"actual", marks}});
    text = trim(text.substr(marks));
  }
  const auto refused = [&] {
    return invalid(cat("`", text, "` cannot be the text of this heading."),
                   Json{{"path", "to"}, {"expected", "one line of text"}, {"actual", text}});
  };
  if (text.empty() || text.find_first_of("\r\n") != std::string_view::npos) return refused();

  const HeadingTextRange range = text_range_of(bytes, old);
  const bool brings_id = without_block_id(text).size() < text.size();
  const bool has_id = range.id_end > range.end;
  const std::size_t end = brings_id ? range.id_end : range.end;
  const std::string closing = " " + std::string(static_cast<std::size_t>(old.level), '#');
  for (const std::string& closed : {std::string(), closing}) {
    if (!closed.empty() && (old.setext || has_id)) break;
    HeadingRename rename;
    rename.bytes.append(bytes.substr(0, range.begin));
    if (range.begin > 0 && !old.setext && bytes[range.begin - 1] == '#') rename.bytes += ' ';
    rename.bytes.append(text).append(closed).append(bytes.substr(end));
    const ParsedNote after = parse_note(rename.bytes);
    if (after.headings.size() != note.headings.size()) continue;
    const Heading& now = after.headings[index];
    const std::string_view wanted = without_block_id(text);
    if (now.begin != old.begin || now.level != old.level ||
        trim(without_block_id(now.text)) != trim(wanted))
      continue;
    rename.before = old;
    rename.after = now;
    rename.anchors = changed_anchors(note, after);
    return rename;
  }
  return refused();
}

}  // namespace indx
