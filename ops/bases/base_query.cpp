#include "base/text.hpp"
#include "base/unicode.hpp"
#include "ops/bases/base_view.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"
#include "vault/base_blocks.hpp"

namespace indx {
namespace base_query_op {

struct Input {
  std::string path;
  std::optional<int> block;
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

/// The block of a note that is meant: the one with the number, or the only one.
Result<BaseBlock> chosen_block(std::string_view note, std::optional<int> number) {
  auto blocks = base_blocks(note);
  if (blocks.empty())
    return make_error(Reason::TargetNotFound,
                      "The note has no code block with the language `base`.", {{"blocks", 0}});
  Json lines = Json::array();
  for (const auto& block : blocks) lines.push_back(block.line);
  if (!number && blocks.size() > 1)
    return make_error(Reason::Ambiguous,
                      cat("The note has ", blocks.size(),
                          " blocks with a base: say which one with `block`, counted from 1."),
                      {{"blocks", blocks.size()}, {"lines", lines}});
  const auto index = static_cast<std::size_t>(number.value_or(1)) - 1;
  if (index >= blocks.size())
    return make_error(
        Reason::TargetNotFound,
        cat("The note has no base block ", *number, "; the last one is ", blocks.size(), "."),
        {{"blocks", blocks.size()}, {"lines", lines}});
  return std::move(blocks[index]);
}

Result<BaseDefinition> definition_in_note(std::string_view note, std::optional<int> number) {
  const auto block = INDX_TRY(chosen_block(note, number));
  auto base = parse_base_definition(block.text);
  if (!base.has_value() && base.error().details.contains("line")) {
    auto& line = base.error().details["line"];
    line = line.get<int>() + block.line;  // of the note
  }
  return base;
}

Result<BaseQueryView> run(Context& ctx, const Input& in) {
  const NotePath path = INDX_TRY(NotePath::parse(in.path));
  const auto extension = fold_case(path.extension());
  const bool is_note = extension == "md";
  if (!is_note && extension != "base")
    return invalid(
        "The path is no base: it must end in `.base`, or in `.md` for a block of a note.",
        {{"field", "path"}});
  if (!is_note && in.block)
    return invalid("`block` is for a note; a `.base` file is one base.", {{"field", "block"}});
  const NoteFile file = INDX_TRY(ctx.notes().read(path));
  const auto base = INDX_TRY(is_note ? definition_in_note(file.bytes, in.block)
                                     : parse_base_definition(file.bytes));
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
      field("view", &In::view, "Name of the view; without: the first.", optional, length(1, 512)));
  own.push_back(field("this_path", &In::this_path, "The file that `this` means in expressions.",
                      optional, length(0, 4096)));
  own.push_back(limit_field(&In::limit));
  own.push_back(cursor_field(&In::cursor));
  own.push_back(field("format", &In::format,
                      "`json` gives `rows`; the others give the page as `text`.", optional,
                      one_of(kBaseFormats)));
  return own;
}

std::vector<Failure> shared_failures(std::vector<Failure> own) {
  const std::vector<Failure> shared = {
      {Reason::NotFound, "There is no such base, or it has no such view."},
      {Reason::ValidationFailed,
       "The base or an expression of a filter cannot be read; details give where, line, "
       "column and offset. Or the cursor belongs to another query."},
      {Reason::TooLarge, "The expressions do too much work."},
      {Reason::Forbidden, "The path is outside your globs."}};
  own.insert(own.begin(), shared.begin(), shared.end());
  return own;
}

}  // namespace base_query_op

Operation base_query() {
  using namespace base_query_op;
  return define<Input, BaseQueryView>({
      .name = "base_query",
      .title = "Query a base",
      .summary = "Run a view of a `.base` file, or of a base block in a note, and give its rows, "
                 "groups and summaries.",
      .guidance = "For questions over properties, tags, folders and links that a base of the vault "
                  "answers. To search text use vault_search; to try a query without a file "
                  "vault_lists with action base_query_inline.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/bases/{path}/query"},
      .cli = "base query",
      .cli_positional = {"path"},
      .example = "boards/Projects.base --format csv",
      .is_idempotent = true,
      .reads_index = true,
      .input = shared_fields<Input>(
          {path_field(&Input::path),
           field("block", &Input::block,
                 "With a note: which of its `base` code blocks, from 1; left out: the only one.",
                 between(1, 10000))}),
      .output = BaseQueryView::fields(),
      .list = "rows",
      .cells = {"cells", "columns"},
      .text = "text",
      .failures = shared_failures(
          {{Reason::TargetNotFound, "The note has no base block, or not so many."},
           {Reason::Ambiguous, "The note has several base blocks and `block` names none."}}),
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
      .example = "'filters: file.hasTag(\"book\")'",
      .is_idempotent = true,
      .reads_index = true,
      .tool_group = "vault_lists",
      .input = shared_fields<InlineInput>(
          {field("definition", &InlineInput::definition,
                 "The base as YAML or JSON, such as `filters: 'file.hasTag(\"book\")'`.",
                 length(1, 262144))}),
      .output = BaseQueryView::fields(),
      .list = "rows",
      .cells = {"cells", "columns"},
      .text = "text",
      .failures = shared_failures({}),
      .handler = run_inline,
  });
}

}  // namespace indx
