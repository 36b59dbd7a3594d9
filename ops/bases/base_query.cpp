#include "base/unicode.hpp"
#include "ops/bases/base_view.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace base_query_op {

struct Input {
  std::string path;
  std::optional<std::string> view;
  std::string this_path;
  int limit = 100;
  std::string cursor;
  std::string format = "json";
};

/// The path that `this` means, checked; the caller may not learn of files it must not see.
Result<std::string> this_path_of(const std::string& given) {
  if (given.empty()) return given;
  return INDX_TRY(NotePath::parse(given)).str();
}

Result<BaseQueryView> run(Context& ctx, const Input& in) {
  const NotePath path = INDX_TRY(NotePath::parse(in.path));
  if (fold_case(path.extension()) != "base")
    return invalid("The path is no base: it must end in `.base`.", {{"field", "path"}});
  const NoteFile file = INDX_TRY(ctx.notes().read(path));
  const auto base = INDX_TRY(parse_base_definition(file.bytes));
  const auto this_path = INDX_TRY(this_path_of(in.this_path));
  return query_base(
      ctx, base,
      {in.view, this_path.empty() ? file.path.str() : this_path, in.limit, in.cursor, in.format});
}

struct InlineInput {
  std::string definition;
  std::optional<std::string> view;
  std::string this_path;
  int limit = 100;
  std::string cursor;
  std::string format = "json";
};

Result<BaseQueryView> run_inline(Context& ctx, const InlineInput& in) {
  const auto base = INDX_TRY(parse_base_definition(in.definition));
  const auto this_path = INDX_TRY(this_path_of(in.this_path));
  return query_base(ctx, base, {in.view, this_path, in.limit, in.cursor, in.format});
}

/// The fields that both ways share.
template <typename In>
Fields<In> shared_fields(Fields<In> own) {
  own.push_back(
      field("view", &In::view, "Name of the view; without: the first.", optional, length(0, 512)));
  own.push_back(field("this_path", &In::this_path,
                      "The file that `this` means in expressions: the note that shows the base.",
                      optional, length(0, 4096)));
  own.push_back(limit_field(&In::limit));
  own.push_back(cursor_field(&In::cursor));
  own.push_back(field("format", &In::format,
                      "`json` gives `rows`; the others give the page as `text`.", optional,
                      one_of(kBaseFormats)));
  return own;
}

std::vector<Failure> shared_failures() {
  return {{Reason::NotFound, "There is no such base, or it has no such view."},
          {Reason::ValidationFailed,
           "The base or an expression of a filter cannot be read; details give where, line, "
           "column and offset. Or the cursor belongs to another query."},
          {Reason::TooLarge, "The expressions do too much work."},
          {Reason::Forbidden, "The path is outside your globs."}};
}

}  // namespace base_query_op

Operation base_query() {
  using namespace base_query_op;
  return define<Input, BaseQueryView>({
      .name = "base_query",
      .summary = "Run a view of a `.base` file and give its rows, groups and summaries.",
      .guidance =
          "For questions over properties, tags, folders and links that a base of the vault "
          "answers. A wrong formula spoils its own cells only. To search text use vault_search; "
          "to try a query without a file use base_query_inline.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/bases/{path}/query"},
      .cli = "base query",
      .cli_positional = {"path"},
      .is_idempotent = true,
      .reads_index = true,
      .input = shared_fields<Input>({path_field(&Input::path)}),
      .output = BaseQueryView::fields(),
      .failures = shared_failures(),
      .handler = run,
  });
}

Operation base_query_inline() {
  using namespace base_query_op;
  return define<InlineInput, BaseQueryView>({
      .name = "base_query_inline",
      .summary = "Run a base that is given with the call instead of in a file.",
      .guidance =
          "Takes what a `.base` file holds, YAML or JSON: `filters`, `formulas`, `views` with "
          "`order`, `sort`, `groupBy`, `limit` and `summaries`. For a base that is kept use "
          "base_query.",
      .scopes = {Scope::VaultRead},
      .route = {"POST", "/v1/bases/query"},
      .cli = "base query-inline",
      .cli_positional = {"definition"},
      .is_idempotent = true,
      .reads_index = true,
      .is_listed_in_mcp = false,
      .input = shared_fields<InlineInput>(
          {field("definition", &InlineInput::definition,
                 "The base as YAML or JSON, such as `filters: 'file.hasTag(\"book\")'`.",
                 length(1, 262144))}),
      .output = BaseQueryView::fields(),
      .failures = shared_failures(),
      .handler = run_inline,
  });
}

}  // namespace indx
