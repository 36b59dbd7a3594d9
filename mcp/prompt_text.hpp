#pragma once
#include "base/json.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// Names, titles and text of notes on their way into a prompt: one JSON object a line between
/// marks, so that nothing in them can end the block or pass for an instruction. Bounded in size.
class VaultData {
 public:
  /// A line of ours that says what follows.
  void heading(std::string_view text);
  /// Longer strings inside are cut; rows that do not fit any more are counted instead.
  void row(const Json& row, std::size_t max_string_bytes = 240);
  /// The members of each row that are wanted, as far as it has them.
  void rows(const Json& list, const std::vector<std::string_view>& members);

  /// The block with its marks, and how many rows were left out.
  std::string text() const;

 private:
  std::string lines_;
  std::size_t left_out_ = 0;
};

}  // namespace indx
