#include "ops/lists.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace property_list_op {

struct Input {
  std::string prefix;
  int limit = 100;
  std::string cursor;
};
struct Row {
  std::string name;
  std::int64_t count = 0;
  std::map<std::string, std::int64_t> types;
  static Fields<Row> fields() {
    return {field("name", &Row::name, "Spelled as most notes do."),
            field("count", &Row::count, "Notes that have it."),
            field("types", &Row::types,
                  "Notes by type of the value: text, number, checkbox, date, datetime, list, tags, "
                  "object, empty.")};
  }
};
struct Output {
  std::vector<Row> properties;
  std::optional<std::string> next_cursor;
};

Result<Output> run(Context& ctx, const Input& in) {
  auto page = INDX_TRY(ctx.lists().properties(in.prefix, in.limit, in.cursor));
  Output out{{}, std::move(page.next_cursor)};
  for (auto& row : page.rows)
    out.properties.push_back({std::move(row.name), row.count, std::move(row.types)});
  return out;
}

}  // namespace property_list_op

Operation property_list() {
  using namespace property_list_op;
  return define<Input, Output>({
      .name = "property_list",
      .summary = "List the property names of the vault, with types and how many notes use each.",
      .guidance = "Look here before inventing a property. For its values use property_values.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/properties"},
      .is_idempotent = true,
      .reads_index = true,
      .tool_group = "vault_lists",
      .input = {field("prefix", &Input::prefix, "Only names that begin so, in any case.", optional,
                      length(0, 256)),
                limit_field(&Input::limit), cursor_field(&Input::cursor)},
      .output = {field("properties", &Output::properties, "Most used first."),
                 next_cursor_field(&Output::next_cursor)},
      .failures = {{Reason::ValidationFailed, "The cursor is not one of ours."}},
      .handler = run,
  });
}

}  // namespace indx
