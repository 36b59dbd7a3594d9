#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// A fenced code block of a note that holds a base (vault-rules 8).
struct BaseBlock {
  std::string text;  ///< YAML, without the marks and the indentation of what the block stands in
  int line = 0;      ///< 1-based line of the opening fence: line n of `text` is `line` + n
};
/// All blocks with the language `base`, in order.
std::vector<BaseBlock> base_blocks(std::string_view note);

}  // namespace indx
