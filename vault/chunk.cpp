#include "vault/chunk.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/block_scanner.hpp"
#include "vault/line_ends.hpp"

#include <algorithm>

namespace indx {
namespace {

/// A stretch of the body that should stay in one chunk: a block, with the blank lines behind it.
struct Unit {
  std::size_t begin = 0, end = 0;
  std::size_t chars = 0;
  bool by_line = false;  ///< code and tables are cut between lines, other text between sentences
};

/// Collects where blocks begin. Rows of one table make one unit.
class UnitSink : public BlockSink {
 public:
  void on_leaf(const Leaf& leaf) override {
    const bool verbatim = leaf.kind == LeafKind::Code || leaf.kind == LeafKind::Math ||
                          leaf.kind == LeafKind::Html || leaf.kind == LeafKind::RawHtml;
    if (leaf.kind == LeafKind::TableRow && !leaf.first_of_table && !units.empty()) return;
    const std::size_t begin = leaf.lines.front().line_begin;
    if (!units.empty() && begin <= units.back().begin)
      return;  // a second block on the line of a list mark
    units.push_back({begin, begin, 0, verbatim || leaf.kind == LeafKind::TableRow});
  }
  std::vector<Unit> units;
};

struct Section {
  std::size_t begin = 0, end = 0;
  const Heading* heading = nullptr;
  std::vector<std::string> path;
};

/// The stretches between the headings of the outline. A heading without text of its own opens the
/// section that follows.
std::vector<Section> sections_of(std::string_view bytes, const ParsedNote& note) {
  std::vector<Section> sections;
  std::vector<const Heading*> above;
  Section current{note.frontmatter.body_begin, 0, nullptr, {}};
  bool only_heading = false;
  const auto blank = [&](std::size_t begin, std::size_t end) {
    return trim(bytes.substr(begin, end - begin)).empty();
  };
  for (const Heading& heading : note.headings) {
    if (heading.nested) continue;
    only_heading = current.heading != nullptr && blank(current.heading->content, heading.begin);
    const bool joins =
        only_heading && count_code_points(bytes.substr(
                            current.begin, heading.begin - current.begin)) < kTargetChunkChars / 4;
    current.end = heading.begin;
    if (!joins && !blank(current.begin, current.end)) sections.push_back(current);
    while (!above.empty() && above.back()->level >= heading.level) above.pop_back();
    above.push_back(&heading);
    current.begin = joins ? current.begin : heading.begin;
    current.heading = &heading;
    current.path.clear();
    for (const Heading* one : above) current.path.push_back(one->text);
  }
  current.end = bytes.size();
  if (!blank(current.begin, current.end)) sections.push_back(current);
  return sections;
}

/// `# Title`, one to six marks; never inside of code, which does not begin a chunk with one.
bool is_heading_line(std::string_view line) {
  const std::size_t marks = std::min(line.find_first_not_of('#'), line.size());
  return marks >= 1 && marks <= 6 && (marks == line.size() || line[marks] == ' ');
}

bool ends_sentence(char32_t c) {
  return c == '.' || c == '!' || c == '?' || c == 0x3002 || c == 0xFF01 || c == 0xFF1F ||
         c == 0x2026;
}

/// Where to cut a stretch that is too long: the last good place within the target, else within the
/// hard limit, else the hard limit itself.
std::size_t cut_place(std::string_view bytes, std::size_t begin, std::size_t end, bool by_line) {
  std::size_t line_cut = 0, sentence_cut = 0, word_cut = 0, chars = 0, at = begin;
  bool after_sentence = false;
  for (; at < end && chars < kMaxChunkChars; ++chars) {
    const CodePoint point = decode_at(bytes, at);
    const bool white = is_space(point.value);
    if (chars > 0 && chars >= kTargetChunkChars && (by_line ? line_cut : sentence_cut) != 0) break;
    if (at > begin && after_sentence && (white || point.value > 0x2E80)) sentence_cut = at;
    if (at > begin && bytes[at - 1] == '\n') line_cut = at;
    if (white) word_cut = at + point.length;
    after_sentence = ends_sentence(point.value) ||
                     (after_sentence && (point.value == '"' || point.value == ')' ||
                                         point.value == 0x201D || point.value == 0x300D));
    at += point.length;
  }
  if (at >= end) return end;
  for (const std::size_t cut : {by_line ? line_cut : sentence_cut, line_cut, word_cut})
    if (cut > begin) return std::min(cut, at);
  return at;
}

class Chunker {
 public:
  Chunker(std::string_view path, std::string_view bytes, std::vector<Chunk>& chunks)
      : path_(path), bytes_(bytes), chunks_(chunks) {}

  void add_section(const Section& section, std::vector<Unit> units) {
    std::size_t begin = section.begin, chars = 0;
    std::size_t total = 0;
    for (Unit& unit : units)
      total += unit.chars = count_code_points(bytes_.substr(unit.begin, unit.end - unit.begin));
    if (total <= kTargetChunkChars) return add(section, section.begin, section.end);
    for (const Unit& unit : units) {
      if (chars > 0 && chars + unit.chars > kTargetChunkChars && !stays_with(chars, unit)) {
        add(section, begin, unit.begin);
        begin = unit.begin;
        chars = 0;
      }
      chars += unit.chars;
      if (chars <= kMaxChunkChars) continue;
      begin = add_long(section, begin, unit);
      chars = begin >= unit.end ? 0 : count_code_points(bytes_.substr(begin, unit.end - begin));
    }
    add(section, begin, section.end);
  }

 private:
  /// A heading, or a line or two, would say little alone: it goes on into a unit that fits beside
  /// it or has to be cut anyway.
  static bool stays_with(std::size_t chars, const Unit& unit) {
    return chars < kTargetChunkChars / 4 &&
           (chars + unit.chars <= kMaxChunkChars || unit.chars > kMaxChunkChars);
  }

  /// Cuts a stretch that ends with an overlong unit; gives where the rest, short enough, begins.
  std::size_t add_long(const Section& section, std::size_t begin, const Unit& unit) {
    while (begin < unit.end) {
      const std::size_t cut = cut_place(bytes_, begin, unit.end, unit.by_line);
      if (cut >= unit.end) break;
      add(section, begin, cut);
      begin = cut;
    }
    return begin;
  }

  void add(const Section& section, std::size_t begin, std::size_t end) {
    while (begin < end) {  // leading blank lines go, the indentation of the first line stays
      const std::size_t line_end = std::min(line_end_of(bytes_, begin), end);
      if (!trim(bytes_.substr(begin, line_end - begin)).empty()) break;
      begin = std::min(next_line_of(bytes_, line_end), end);
    }
    while (end > begin &&
           std::string_view(" \t\r\n").find(bytes_[end - 1]) != std::string_view::npos)
      --end;
    if (begin >= end) return;
    Chunk chunk;
    if (section.heading != nullptr) chunk.heading = section.heading->text;
    chunk.heading_path = section.path;
    chunk.content = replace_invalid_utf8(bytes_.substr(begin, end - begin));
    chunk.content_sha256 = sha256_hex(chunk.content);
    chunk.char_start = begin;
    chunk.char_end = end;
    chunk.chunk_id = sha256_hex(cat(path_, '\n', begin, '\n', chunk.content_sha256)).substr(0, 32);
    chunks_.push_back(std::move(chunk));
  }

  std::string_view path_, bytes_;
  std::vector<Chunk>& chunks_;
};

}  // namespace

std::vector<Chunk> chunk_note(std::string_view path, std::string_view bytes,
                              const ParsedNote& note) {
  UnitSink sink;
  scan_blocks(bytes, note.frontmatter.body_begin, 1, sink);
  const std::vector<Unit>& units = sink.units;
  std::vector<Chunk> chunks;
  Chunker chunker(path, bytes, chunks);
  std::size_t next = 0;
  for (const Section& section : sections_of(bytes, note)) {
    std::vector<Unit> inside;
    while (next < units.size() && units[next].begin < section.end) inside.push_back(units[next++]);
    if (inside.empty()) inside.push_back({section.begin, section.end, 0, false});
    inside.front().begin = section.begin;
    for (std::size_t i = 0; i < inside.size(); ++i)
      inside[i].end = i + 1 < inside.size() ? inside[i + 1].begin : section.end;
    chunker.add_section(section, std::move(inside));
  }
  return chunks;
}

std::string embedding_text(std::string_view title, const std::vector<std::string>& heading_path,
                           std::string_view content) {
  std::vector<std::string> headings = heading_path;
  if (!headings.empty() && headings.front() == title) headings.erase(headings.begin());
  std::string about = cat(title, headings.empty() ? "" : ": ", join(headings, " > "));
  std::replace_if(
      about.begin(), about.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  std::string_view text = content;
  while (!text.empty()) {
    const std::size_t line_end = line_end_of(text, 0);
    if (!is_heading_line(text.substr(0, line_end)) && !trim(text.substr(0, line_end)).empty())
      break;
    text.remove_prefix(std::min(next_line_of(text, line_end), text.size()));
  }
  return cat(about, '\n', text.empty() ? content : text);
}

std::string embedding_key(std::string_view title, const std::vector<std::string>& heading_path,
                          std::string_view content_sha256) {
  // Lengths keep parts apart, whatever characters they hold.
  std::string named = cat(title.size(), ':', title);
  for (const auto& heading : heading_path) named += cat(heading.size(), ':', heading);
  return sha256_hex(cat(named, '\n', content_sha256)).substr(0, 32);
}

}  // namespace indx
