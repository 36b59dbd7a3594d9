#pragma once
#include "ai/note_text.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// How a note says that something has a value (builtin-ai.md section 4, extract).
enum class FieldOrigin : std::uint8_t {
  Inline,      ///< `key:: value`, also in brackets
  Label,       ///< `**Key:** value`, `Key: value`
  Table,       ///< a cell below its column's header
  Definition,  ///< `: value` below the line that names it
  Section,     ///< an item of the list below a heading
  Task,        ///< text, `due` date and `done` of a task
};
std::string_view name(FieldOrigin origin);

struct FieldCandidate {
  std::string key;  ///< as phrase_key gives it: what is compared
  std::string text;
  std::size_t begin = 0, end = 0;  ///< of the text in the file
  FieldOrigin origin = FieldOrigin::Label;
  int row = 0;    ///< candidates of one row of a table, or one task, have the same
  int group = 0;  ///< the same for a whole table, list or list of tasks
};

/// `dueDate`, `due_date` and `Due dates` as one key.
std::string field_key(std::string_view name);

/// Everything in the body that looks like a key with a value, in order of place; code is skipped.
/// Time is linear in the size.
std::vector<FieldCandidate> field_candidates(std::string_view bytes, const NoteText& note);

}  // namespace indx
