#include "base/text.hpp"
#include "ops/jobs/job_view.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"

#include <algorithm>
#include <map>

namespace indx {
namespace job_result_op {

struct Input {
  std::string id;
  std::optional<std::string> list;
  int limit = 100;
  std::string cursor;
};
struct Output {
  std::string list;
  std::vector<JsonObject> items;
  std::map<std::string, std::size_t> lists;
  std::optional<std::string> next_cursor;
};

using Lists = std::map<std::string, const Json*>;

/// The lists of a result by name; those of objects inside of it as `scope_resolved.paths`.
void collect_lists(const Json& object, const std::string& prefix, Lists& lists) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_array()) lists[prefix + key] = &value;
    if (value.is_object()) collect_lists(value, prefix + key + ".", lists);
  }
}

/// The first of those that have most items.
std::string longest(const Lists& lists) {
  const auto is_shorter = [](const auto& a, const auto& b) {
    return a.second->size() < b.second->size();
  };
  return std::max_element(lists.begin(), lists.end(), is_shorter)->first;
}

Result<std::size_t> first_item(const std::string& cursor, const std::string& list) {
  if (cursor.empty()) return std::size_t{0};
  const Json position = INDX_TRY(read_cursor(cursor));
  if (!position.is_object() || position.value("list", Json()) != list ||
      !position.value("at", Json()).is_number_unsigned())
    return invalid("`cursor` is of another list: use `next_cursor` of the page before, unchanged.",
                   Json{{"path", "cursor"}, {"expected", "next_cursor of the page before"}});
  return position["at"].get<std::size_t>();
}

Result<Output> run(Context& ctx, const Input& in) {
  const Job job = INDX_TRY(ctx.jobs().get(JobId{in.id}));
  if (!job.result || !job.result->is_object())
    return make_error(Reason::Conflict,
                      cat("Job ", in.id, " is ", name(job.state),
                          " and has no result; job_get shows how far it is, or its error."),
                      Json{{"state", std::string(name(job.state))}});
  Lists lists;
  collect_lists(*job.result, "", lists);
  if (lists.empty())
    return make_error(Reason::TargetNotFound,
                      "The result has no lists; `indx job get` shows it whole.",
                      Json{{"id", in.id}});
  Output out;
  std::vector<std::string> names;
  for (const auto& [name, list] : lists) {
    out.lists[name] = list->size();
    names.push_back(name);
  }
  out.list = in.list.value_or(longest(lists));
  const auto named = lists.find(out.list);
  if (named == lists.end())
    return make_error(
        Reason::TargetNotFound,
        cat("The result has no list `", out.list, "`; it has ", join(names, ", "), '.'),
        Json{{"path", "list"}, {"expected", names}});
  const Json& list = *named->second;
  const std::size_t first = std::min(INDX_TRY(first_item(in.cursor, out.list)), list.size());
  const std::size_t end = std::min(first + static_cast<std::size_t>(in.limit), list.size());
  for (std::size_t i = first; i < end; ++i)
    out.items.push_back({list[i].is_object() ? list[i] : Json{{"value", list[i]}}});
  if (end < list.size()) out.next_cursor = make_cursor({{"list", out.list}, {"at", end}});
  return out;
}

}  // namespace job_result_op

Operation job_result() {
  using namespace job_result_op;
  return define<Input, Output>({
      .name = "job_result",
      .summary = "Page through a list in the result of a job.",
      .guidance = "For results too long for one answer; job_get shows short ones whole.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/jobs/{id}/result"},
      .cli_positional = {"id"},
      .example = "01JQ3V0F8Y4T2XK8M6N1ZB5C7D --list results",
      .is_idempotent = true,
      .tool_group = "vault_lists",
      .input = {job_id_field(&Input::id),
                field("list", &Input::list, "Name of the list; else the longest of the result.",
                      length(1, 100)),
                limit_field(&Input::limit), cursor_field(&Input::cursor)},
      .output = {field("list", &Output::list, "Its name."),
                 field("items", &Output::items, "Its items; one that is no object as `{value}`."),
                 field("lists", &Output::lists, "How many items each list of the result has."),
                 next_cursor_field(&Output::next_cursor)},
      .failures = {{Reason::NotFound, "You have no job with that id."},
                   {Reason::Conflict, "The job has no result, or not yet."},
                   {Reason::TargetNotFound, "The result has no such list."},
                   {Reason::ValidationFailed, "The cursor is of another list."}},
      .handler = run,
  });
}

}  // namespace indx
