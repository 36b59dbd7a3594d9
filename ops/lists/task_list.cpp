#include "base/unicode.hpp"
#include "ops/lists.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace task_list_op {

struct Input {
  std::string status = "any", mark, text, path_glob, tag;
  int limit = 100;
  std::string cursor;
};
struct Row {
  std::string path;
  int line = 0;
  std::string status, text;
  bool is_done = false;
  std::optional<std::string> heading;
  static Fields<Row> fields() {
    return {field("path", &Row::path, "The note."),
            field("line", &Row::line, "1-based line."),
            field("status", &Row::status, "The character between the brackets."),
            field("text", &Row::text, "Text of the task."),
            field("is_done", &Row::is_done, "Whether it is checked: any character but a space."),
            field("heading", &Row::heading, "Heading of the section it stands in.")};
  }
};
struct Output {
  std::vector<Row> tasks;
  std::optional<std::string> next_cursor;
};

Result<Output> run(Context& ctx, const Input& in) {
  if (count_code_points(in.mark) > 1)
    return invalid("`mark` is one character, such as `/`.", Json{{"path", "mark"}});
  TaskFilter filter;
  filter.state = in.status == "todo"   ? TaskState::Todo
                 : in.status == "done" ? TaskState::Done
                                       : TaskState::Any;
  filter.mark = in.mark;
  filter.text = in.text;
  filter.notes.path_glob = in.path_glob;
  if (const auto tag = plain_tag(in.tag); !tag.empty()) filter.notes.tags = {tag};
  auto page = INDX_TRY(ctx.lists().tasks(filter, in.limit, in.cursor));
  Output out{{}, std::move(page.next_cursor)};
  for (auto& row : page.rows) {
    auto heading = row.heading.empty() ? std::nullopt : std::optional(std::move(row.heading));
    out.tasks.push_back({std::move(row.path), row.line, std::move(row.mark), std::move(row.text),
                         row.is_done, std::move(heading)});
  }
  return out;
}

}  // namespace task_list_op

Operation task_list() {
  using namespace task_list_op;
  return define<Input, Output>({
      .name = "task_list",
      .summary = "List the tasks (checkbox items) of all notes, by path and line.",
      .guidance = "Filters given together must all match. Each row says where the task stands; "
                  "read the note with note_read.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/tasks"},
      .is_idempotent = true,
      .reads_index = true,
      .tool_group = "vault_lists",
      .input = {field("status", &Input::status, "Unchecked or checked ones only.", optional,
                      one_of({"any", "todo", "done"})),
                field("mark", &Input::mark, "Only tasks with this character in the brackets.",
                      optional, length(0, 16)),
                field("text", &Input::text, "Part of the task's text, in any case.", optional,
                      length(0, 1024)),
                field("path_glob", &Input::path_glob,
                      "Only paths that match, such as `Projects/**`.", optional, length(0, 1024)),
                field("tag", &Input::tag, "Only notes with this tag or one below it.", optional,
                      length(0, 256)),
                limit_field(&Input::limit), cursor_field(&Input::cursor)},
      .output = {field("tasks", &Output::tasks, "By path, then line."),
                 next_cursor_field(&Output::next_cursor)},
      .failures = {{Reason::ValidationFailed, "The cursor is not one of ours."}},
      .handler = run,
  });
}

}  // namespace indx
