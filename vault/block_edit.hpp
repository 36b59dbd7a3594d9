#pragma once
#include "vault/section.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// Edits of blocks that carry an id, and of tasks: the new bytes of the whole file; all other bytes
/// stay. Errors: those of find_block, `not_utf8`, `validation_failed`.

/// Rule 6.7: the text is replaced, the id stays where it was. An item is replaced with its
/// children and keeps its mark unless the Markdown brings one; text in quotes and items keeps their
/// marks on every line. Markdown that gives the block another id is refused.
Result<std::string> replace_block(std::string_view bytes, std::string_view id,
                                  std::string_view markdown);

/// The id alone, with or without `^` in `to`. `conflict` when another block has it already.
Result<std::string> rename_block(std::string_view bytes, std::string_view id, std::string_view to);

/// A row at the end of the table with that id. Missing cells are empty; bars are escaped and line
/// ends become `<br>`.
Result<std::string> append_table_row(std::string_view bytes, std::string_view id,
                                     const std::vector<std::string>& cells);

/// Which task: by line (1-based) or, with line 0, by the id of a block that holds exactly one.
struct TaskAddress {
  int line = 0;
  std::string block_id = {};
};
/// Sets the character between the brackets; without `status` an open task becomes done and any
/// other one open.
Result<std::string> set_task(std::string_view bytes, const TaskAddress& task,
                             const std::optional<std::string>& status);

}  // namespace indx
