#include "vault/base_blocks.hpp"

#include "base/text.hpp"
#include "vault/block_scanner.hpp"
#include "vault/frontmatter.hpp"

#include <algorithm>

namespace indx {
namespace {

class BaseBlockSink : public BlockSink {
 public:
  explicit BaseBlockSink(std::string_view bytes) : bytes_(bytes) {}

  void on_leaf(const Leaf& leaf) override {
    if (leaf.kind != LeafKind::Code || leaf.lines.empty()) return;
    const BlockLine& opening = leaf.lines.front();
    const auto fence = text_of(opening);
    const char mark = fence.empty() ? '\0' : fence[0];
    const auto indent = prefix_of(opening);
    const bool is_indented =
        !leaf.nested && (indent.size() > 3 || indent.find('\t') != indent.npos);
    if ((mark != '`' && mark != '~') || is_indented) return;
    const auto run = std::min(fence.find_first_not_of(mark), fence.size());
    const auto info = trim(fence.substr(run));
    if (run < 3 || info.substr(0, info.find_first_of(" \t{")) != "base") return;

    BaseBlock block;
    block.line = opening.number;
    for (std::size_t i = 1; i < leaf.lines.size(); ++i) {
      const auto text = text_of(leaf.lines[i]);
      const auto closing = std::min(text.find_first_not_of(mark), text.size());
      const bool is_last = i + 1 == leaf.lines.size();
      if (is_last && closing >= run && trim(text.substr(closing)).empty()) break;
      const auto blank = prefix_of(leaf.lines[i]);
      ((block.text += blank.substr(std::min(blank.size(), indent.size()))) += text) += '\n';
    }
    blocks.push_back(std::move(block));
  }

  std::vector<BaseBlock> blocks;

 private:
  std::string_view text_of(const BlockLine& line) const {
    return bytes_.substr(line.begin, line.end - line.begin);
  }
  /// What stands before the text of a line, behind the marks of the quotes that it is in.
  std::string_view prefix_of(const BlockLine& line) const {
    const auto prefix = bytes_.substr(line.line_begin, line.begin - line.line_begin);
    const auto quote = prefix.rfind('>');
    return quote == std::string_view::npos ? prefix : prefix.substr(quote + 1);
  }

  std::string_view bytes_;
};

}  // namespace

std::vector<BaseBlock> base_blocks(std::string_view note) {
  const auto body = parse_frontmatter(note).body_begin;
  const auto before = note.substr(0, body);
  BaseBlockSink sink(note);
  scan_blocks(note, body, 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n')),
              sink);
  return std::move(sink.blocks);
}

}  // namespace indx
