#include "ops/ai/note_task.hpp"

#include "ai/value_text.hpp"
#include "ops/notes/note_view.hpp"

#include <set>

namespace indx {

MetadataTask note_task(const AiNote& source, const std::string& language) {
  const ParsedNote& note = *source.note;
  MetadataTask task;
  task.path = source.file.path.str();
  task.title = title_of(note, source.file.path);
  task.bytes = source.file.bytes;
  task.properties = note.frontmatter.values;
  std::set<std::string> seen;
  for (const auto& link : note.links)
    if (!link.external && !link.target.empty() && seen.insert(link.target).second)
      task.links.push_back(link.target);
  for (const auto& one : note.tasks) ++(one.status == ' ' ? task.open_tasks : task.done_tasks);
  const Json* date = find_property(task.properties, "date");
  if (const auto in_name = find_date(source.file.path.stem()))
    task.day = in_name->date;
  else if (date != nullptr && date->is_string())
    task.day = normal_date(date->get_ref<const std::string&>()).value_or("");
  task.language = language;
  return task;
}

}  // namespace indx
