#pragma once
#include "base/clock.hpp"
#include "vault/note_query.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace indx {

/// Questions for lists across notes and their answers, as values.

enum class TaskState : std::uint8_t { Any, Todo, Done };

/// Times from `since` on and before `until`; as it is made, all of them.
struct TimeSpan {
  Timestamp since, until = Timestamp::max();
};

struct TaskFilter {
  TaskState state = TaskState::Any;
  std::string mark;  ///< the character between the brackets, exactly; empty: any
  std::string text;  ///< part of the task's text, compared as search words are; empty: any
  NoteFilter notes;
};

struct TaskRow {
  std::string path, mark, text;
  bool is_done = false;  ///< any mark but a space
  int line = 0;
  std::string heading;  ///< of the section it stands in; empty: above the first heading
};

/// One property name over the notes that have it; names compare without regard to case (rule 3.5).
struct PropertySummary {
  std::string name;                           ///< spelled as most notes do
  std::int64_t count = 0;                     ///< notes
  std::map<std::string, std::int64_t> types;  ///< notes by type of the value
};

/// One value of a property; each item of a list is a value of its own.
struct PropertyValue {
  Json value;
  std::string type;
  std::int64_t count = 0;  ///< notes
};

/// `text number checkbox date datetime list tags object empty` (rule 3.6).
std::string_view property_type(std::string_view name, const Json& value);

}  // namespace indx
