#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace indx {

/// Internal to `vault/`: the block structure of Markdown (CommonMark 0.29 with GFM tables and
/// footnotes, plus `$$` blocks), found in one pass over the bytes. Positions are bytes in the whole
/// file and count lines from 1.

/// The part of a line that belongs to a leaf block: without the marks and the indentation of its
/// containers.
struct BlockLine {
  std::size_t begin = 0, end = 0;  ///< `end` stands before the line end
  std::size_t line_begin = 0;
  int number = 0;
};

enum class LeafKind : std::uint8_t {
  Paragraph,
  Heading,
  TableRow,
  Code,
  Math,
  Html,
  RawHtml,
  HtmlComment,
  ThematicBreak
};

struct Leaf {
  LeafKind kind = LeafKind::Paragraph;
  int level = 0;  ///< of a heading
  bool setext = false;
  bool nested = false;  ///< inside a list item, quote or footnote
  bool first_of_table = false;
  bool is_definition = false;    ///< a link reference definition, reported as a paragraph
  std::size_t after = 0;         ///< first byte of the line after the block
  std::vector<BlockLine> lines;  ///< without the underline of a setext heading
};

/// What an id names (rule 6.6): the paragraph, heading or list item that it stands in, or, alone on
/// a line, the block above.
enum class BlockKind : std::uint8_t { Paragraph, Heading, Item, Above };

/// A block that carries an id.
struct NamedBlock {
  std::string_view id;  ///< a part of the scanned bytes
  int line = 0, end_line = 0;
  std::size_t begin = 0, end = 0;
  BlockKind kind = BlockKind::Paragraph;
  std::size_t text = 0;  ///< first byte behind the marks of the containers on its first line
};

/// Told of every leaf block and list item in document order. A `Leaf` is valid during the call
/// only.
class BlockSink {
 public:
  virtual ~BlockSink() = default;
  virtual void on_leaf(const Leaf& leaf) = 0;
  /// `content` is what follows the list mark on its line.
  virtual void on_item(const BlockLine& content, bool in_comment) {
    static_cast<void>(content), static_cast<void>(in_comment);
  }
  virtual void on_named_block(const NamedBlock& block) { static_cast<void>(block); }
};

/// Scans `bytes` from `begin`, which is the start of line `first_line`. False when a guard was met
/// (nesting deeper than 100, a table of more than 256 columns) and a part was taken as plain text.
bool scan_blocks(std::string_view bytes, std::size_t begin, int first_line, BlockSink& sink);

}  // namespace indx
