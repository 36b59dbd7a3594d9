#include "vault/markdown.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/inline_scanner.hpp"

#include <algorithm>
#include <unordered_set>

namespace indx {
namespace {

int line_number_at(std::string_view bytes, std::size_t offset) {
  int line = 1;
  for (std::size_t i = 0; i < offset; ++i)
    if (bytes[i] == '\n' || (bytes[i] == '\r' && bytes.substr(i + 1, 1) != "\n")) ++line;
  return line;
}

/// Lower-case, white space to `-`.
std::string slug_of(std::string_view text) {
  std::string slug;
  for (const char c : to_lower(text)) {
    const bool space = c == ' ' || c == '\t';
    if (!space)
      slug += c;
    else if (!slug.empty() && slug.back() != '-')
      slug += '-';
  }
  return slug;
}

class NoteSink : public BlockSink {
 public:
  NoteSink(std::string_view bytes, ParsedNote& note) : bytes_(bytes), note_(note) {}

  void on_leaf(const Leaf& leaf) override {
    switch (leaf.kind) {
      case LeafKind::Heading:
        add_heading(leaf);
        [[fallthrough]];
      case LeafKind::Paragraph:
      case LeafKind::TableRow:
        if (leaf.is_definition)
          scan_definition(bytes_, leaf.lines, inlines_);
        else
          scan_inline(bytes_, leaf.lines, InlineMode::Markdown, inlines_);
        return;
      case LeafKind::Html:
      case LeafKind::HtmlComment:
        scan_inline(bytes_, leaf.lines, InlineMode::Html, inlines_);
        return;
      case LeafKind::Code:
      case LeafKind::Math:
      case LeafKind::RawHtml:
        inlines_.masked.emplace_back(leaf.lines.front().begin, leaf.lines.back().end);
        return;
      case LeafKind::ThematicBreak:
        return;
    }
  }

  void on_item(const BlockLine& content, bool in_comment) override {
    const std::string_view text = bytes_.substr(content.begin, content.end - content.begin);
    if (in_comment || text.size() < 3 || text[0] != '[') return;
    const std::size_t length = decode_at(text, 1).length;
    const std::size_t close = 1 + length;
    if (text.substr(close, 1) != "]" || text[1] == ']') return;
    if (close + 1 < text.size() && text[close + 1] != ' ' && text[close + 1] != '\t') return;
    Task task;
    task.status = length == 1 && static_cast<unsigned char>(text[1]) < 0x80 ? text[1] : '?';
    task.mark = replace_invalid_utf8(text.substr(1, length));
    task.text = replace_invalid_utf8(trim(text.substr(close + 1)));
    task.line = content.number;
    task.begin = content.begin + 1;
    note_.tasks.push_back(std::move(task));
  }

  void on_named_block(const NamedBlock& named) override {
    const auto mark = static_cast<std::size_t>(named.id.data() - bytes_.data()) - 1;
    note_.blocks.push_back({std::string(named.id), named.line, named.end_line, named.begin,
                            named.end, named.kind, named.text, mark});
  }

  InlineResult& inlines() { return inlines_; }

 private:
  void add_heading(const Leaf& leaf) {
    Heading heading;
    heading.level = leaf.level;
    for (const BlockLine& line : leaf.lines) {
      if (!heading.text.empty()) heading.text += ' ';
      heading.text += replace_invalid_utf8(trim(bytes_.substr(line.begin, line.end - line.begin)));
    }
    heading.slug = unique_slug(slug_of(heading.text));
    heading.line = leaf.lines.front().number;
    heading.begin = leaf.lines.front().line_begin;
    heading.content = leaf.after;
    heading.nested = leaf.nested;
    heading.setext = leaf.setext;
    note_.headings.push_back(std::move(heading));
  }

  std::string unique_slug(const std::string& base) {
    int& count = slug_counts_[base];
    std::string slug = count == 0 ? base : base + "-" + std::to_string(count);
    while (!slugs_.insert(slug).second) slug = base + "-" + std::to_string(++count);
    ++count;
    return slug;
  }

  std::string_view bytes_;
  ParsedNote& note_;
  InlineResult inlines_;
  std::unordered_map<std::string, int> slug_counts_;
  std::unordered_set<std::string> slugs_;
};

class MaskSink : public BlockSink {
 public:
  explicit MaskSink(std::string_view bytes) : bytes_(bytes) {}
  void on_leaf(const Leaf& leaf) override {
    const bool verbatim = leaf.kind == LeafKind::Code || leaf.kind == LeafKind::Math ||
                          leaf.kind == LeafKind::RawHtml;
    if (verbatim) {
      result.masked.emplace_back(leaf.lines.front().begin, leaf.lines.back().end);
    } else if (leaf.kind != LeafKind::ThematicBreak) {
      const bool html = leaf.kind == LeafKind::Html || leaf.kind == LeafKind::HtmlComment;
      scan_inline(bytes_, leaf.lines, html ? InlineMode::Html : InlineMode::Markdown, result);
    }
  }
  InlineResult result;

 private:
  std::string_view bytes_;
};

template <typename Items>
void sort_by_place(Items& items) {
  const auto by_place = [](const auto& a, const auto& b) { return a.begin < b.begin; };
  if (!std::is_sorted(items.begin(), items.end(), by_place))
    std::stable_sort(items.begin(), items.end(), by_place);
}

/// Finds the links in the texts of the properties, and where they stand in the source of the block.
class PropertyLinks {
 public:
  PropertyLinks(std::string_view bytes, const Frontmatter& block, std::vector<Link>& links)
      : bytes_(bytes), links_(links), whole_{"", block.content_begin, block.content_end} {
    for (const PropertyText& text : block.link_texts) places_[text.text].texts.push_back(&text);
  }

  void add(const std::string& key, const Json& value) {
    if (value.is_object()) {
      for (const auto& [name, item] : value.items()) add(key + "." + name, item);
    } else if (value.is_array()) {
      for (const Json& item : value) add(key, item);
    } else if (value.is_string()) {
      add_text(key, value.get_ref<const std::string&>());
    }
  }

 private:
  /// The places of one text in their order; what an alias of a collection repeats has the last one.
  struct Places {
    std::vector<const PropertyText*> texts;
    std::size_t used = 0;
    const PropertyText& next() { return *texts[std::min(used++, texts.size() - 1)]; }
  };
  /// A text spelled with escapes or folded lines is looked through only so often.
  static constexpr int kMostMisses = 8;

  void add_text(const std::string& key, const std::string& text) {
    if (!is_link_text(text)) return;
    const auto known = places_.find(text);
    const PropertyText& place = known != places_.end() ? known->second.next() : whole_;
    const std::string_view source = bytes_.substr(0, place.end);
    std::size_t from = place.begin;
    int misses = 0;
    std::vector<Link> links = links_in_text(text);
    sort_by_place(links);
    for (Link& link : links) {
      const std::string_view construct =
          std::string_view(text).substr(link.begin, link.end - link.begin);
      const std::size_t found =
          misses < kMostMisses ? source.find(construct, from) : std::string_view::npos;
      link.kind = LinkKind::Property;
      link.key = key;
      if (found != std::string_view::npos) {
        link.begin = found;
        link.end = found + construct.size();
        from = found + 1;  // an image may stand in the text of a link
      } else {
        ++misses;
        link.begin = link.end = place.begin;
      }
      put_at_place(link);
      links_.push_back(std::move(link));
    }
  }

  void put_at_place(Link& link) {
    if (line_begins_.empty())
      for (std::size_t at = 0; at < whole_.end; ++at)
        if (bytes_[at] == '\n' || (bytes_[at] == '\r' && bytes_.substr(at + 1, 1) != "\n"))
          line_begins_.push_back(at + 1);
    const auto after = std::upper_bound(line_begins_.begin(), line_begins_.end(), link.begin);
    link.line = static_cast<int>(after - line_begins_.begin()) + 1;
    link.column =
        static_cast<int>(link.begin - (after == line_begins_.begin() ? 0 : *(after - 1))) + 1;
  }

  std::string_view bytes_;
  std::vector<Link>& links_;
  std::unordered_map<std::string_view, Places> places_;
  PropertyText whole_;                    ///< for a text that no scalar has as it reads
  std::vector<std::size_t> line_begins_;  ///< of the lines after the first; made for the first link
};

void add_properties(std::string_view bytes, const ParseOptions& options, ParsedNote& note) {
  const Frontmatter& block = note.frontmatter;
  if (block.error) note.warnings.emplace_back("frontmatter_invalid");
  if (block.values.empty()) return;
  std::vector<std::string> invalid;
  for (std::string& tag : property_tags(block.values, options.legacy_properties, &invalid)) {
    TagUse use;
    use.tag = std::move(tag);
    note.tags.push_back(std::move(use));
  }
  if (!invalid.empty()) note.warnings.emplace_back("tag_invalid");
  note.aliases = property_aliases(block.values, options.legacy_properties);
  if (const Json* title = find_property(block.values, "title");
      title != nullptr && title->is_string())
    note.title = title->get<std::string>();
  PropertyLinks links(bytes, block, note.links);
  for (const auto& [key, value] : block.values.items()) links.add(key, value);
}

/// In order of place; of two with one id (case does not count) the first stays.
void settle_blocks(ParsedNote& note) {
  std::stable_sort(note.blocks.begin(), note.blocks.end(),
                   [](const Block& a, const Block& b) { return a.begin < b.begin; });
  std::unordered_set<std::string> seen;
  std::vector<Block> first_ones;
  for (Block& block : note.blocks)
    (seen.insert(fold_case(block.id)).second ? first_ones : note.duplicate_blocks)
        .push_back(std::move(block));
  note.blocks = std::move(first_ones);
  if (!note.duplicate_blocks.empty()) note.warnings.emplace_back("duplicate_block_id");
}

}  // namespace

ParsedNote parse_note(std::string_view bytes, const ParseOptions& options) {
  ParsedNote note;
  note.frontmatter = parse_frontmatter(bytes);
  add_properties(bytes, options, note);

  const std::size_t body = note.frontmatter.body_begin;
  NoteSink sink(bytes, note);
  if (!scan_blocks(bytes, body, line_number_at(bytes, body), sink))
    note.warnings.emplace_back("parsed_as_plain_text");
  InlineResult& found = sink.inlines();
  sort_by_place(found.tags);
  sort_by_place(found.links);
  std::move(found.tags.begin(), found.tags.end(), std::back_inserter(note.tags));
  std::move(found.links.begin(), found.links.end(), std::back_inserter(note.links));
  settle_blocks(note);
  if (note.title.empty()) {
    const auto top = std::find_if(note.headings.begin(), note.headings.end(),
                                  [](const Heading& h) { return h.level == 1; });
    if (top != note.headings.end()) note.title = top->text;
  }
  return note;
}

std::vector<std::pair<std::size_t, std::size_t>> masked_ranges(std::string_view bytes) {
  MaskSink sink(bytes);
  const std::size_t body = parse_frontmatter(bytes).body_begin;
  scan_blocks(bytes, body, 1, sink);
  std::sort(sink.result.masked.begin(), sink.result.masked.end());
  return std::move(sink.result.masked);
}

}  // namespace indx
