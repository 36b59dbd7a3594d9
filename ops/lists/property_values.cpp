#include "ops/lists.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace property_values_op {

struct Input {
  std::string name, path_glob;
  int limit = 100;
  std::string cursor;
};
struct Row {
  Json value;
  std::string type;
  std::int64_t count = 0;
  static Fields<Row> fields() {
    return {
        field("value", &Row::value, "The value; each item of a list is one.", nullable),
        field("type", &Row::type, "text, number, checkbox, date, datetime, list, object, empty."),
        field("count", &Row::count, "Notes that have it.")};
  }
};
struct Output {
  std::vector<Row> values;
  std::optional<std::string> next_cursor;
};

Result<Output> run(Context& ctx, const Input& in) {
  NoteFilter filter;
  filter.path_glob = in.path_glob;
  auto page = INDX_TRY(ctx.lists().values(in.name, filter, in.limit, in.cursor));
  Output out{{}, std::move(page.next_cursor)};
  for (auto& row : page.rows)
    out.values.push_back({std::move(row.value), std::move(row.type), row.count});
  return out;
}

}  // namespace property_values_op

Operation property_values() {
  using namespace property_values_op;
  return define<Input, Output>({
      .name = "property_values",
      .summary = "List the values of one property with how many notes have each.",
      .guidance = "Use it to write a value as other notes do. For the notes themselves use "
                  "note_list with `frontmatter`.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/properties/{name}/values"},
      .cli_positional = {"name"},
      .example = "status",
      .is_idempotent = true,
      .reads_index = true,
      .tool_group = "vault_lists",
      .input = {field("name", &Input::name, "Name of the property, in any case.", length(1, 1024)),
                field("path_glob", &Input::path_glob,
                      "Only paths that match, such as `Projects/**`.", optional, length(0, 1024)),
                limit_field(&Input::limit), cursor_field(&Input::cursor)},
      .output = {field("values", &Output::values, "Most used first."),
                 next_cursor_field(&Output::next_cursor)},
      .failures = {{Reason::ValidationFailed, "The cursor is not one of ours."}},
      .handler = run,
  });
}

}  // namespace indx
