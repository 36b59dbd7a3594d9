#pragma once
#include "vault/line_cursor.hpp"

namespace indx {

/// Internal to `vault/`: the containers and the leaf block that are open at the current line. What
/// ends is told to the sink, with the id that names it.
class OpenBlocks {
 public:
  enum class Kind : std::uint8_t { Document, Quote, Item, Footnote };
  enum class State : std::uint8_t { None, Paragraph, Fence, Indented, Html, Math, Table };

  /// The last finished block in a container: what an id on a line of its own names.
  struct Extent {
    int line = 0, end_line = 0;  ///< `line` 0: none
    std::size_t begin = 0, end = 0;
    char list_mark = 0;    ///< not 0: a list of this mark
    std::size_t text = 0;  ///< where its own text or mark begins on its first line
  };
  struct Container {
    Kind kind = Kind::Document;
    std::size_t indent = 0;  ///< columns that continuation lines of an item need
    bool has_children = false;
    char mark = 0;
    int line = 0;
    std::size_t begin = 0, text = 0;
    std::string_view id;  ///< of an item, once found
    Extent last;
  };

  /// Both outlive it.
  OpenBlocks(const LineCursor& line, BlockSink& sink);

  std::vector<Container> containers;  ///< the document first
  State state = State::None;          ///< of the leaf
  Leaf leaf;

  /// The current line belongs to what is open.
  void note_content();
  void push_container(Kind kind, std::size_t indent, char mark);
  /// Closes containers until `count` are left.
  void close_containers(std::size_t count);

  /// `begin`: where its first line begins, behind its containers.
  void start_leaf(LeafKind kind, std::size_t begin);
  void start_paragraph();
  /// A leaf that is the current line.
  void emit_single(LeafKind kind);
  void begin_table(const BlockLine& header);
  void emit_table_row(const BlockLine& row, std::size_t after);
  Extent table_extent() const;
  /// Ends the open leaf before the current line.
  void close_leaf();
  /// Ends the leaf with the current line.
  void finish_leaf();
  void emit_leaf();
  void name_above(std::string_view id, const Extent& block);
  /// Takes link reference definitions off the front of the open paragraph and reports them as
  /// paragraphs.
  void flush_reference_definitions();

 private:
  void name_heading();
  void close_paragraph();
  std::size_t next_line_after(const BlockLine& line) const;

  const LineCursor& line_;
  BlockSink& sink_;
  std::size_t leaf_text_ = 0;  ///< where the leaf's first line begins, behind its containers
  BlockLine table_begin_;
  bool table_is_new_ = false;
  int last_content_line_ = 0;
  std::size_t last_content_end_ = 0;
};

}  // namespace indx
