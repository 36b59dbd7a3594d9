#include "ops/notes/daily_note.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace daily_path_op {

struct Input {
  std::string date;
};
struct Output {
  std::string path, date;
  bool exists = false;
};

Result<Output> run(Context& ctx, const Input& in) {
  const auto note = INDX_TRY(find_daily_note(ctx, in.date));
  return Output{note.path.str(), note.date, ctx.notes().exists(note.path)};
}

}  // namespace daily_path_op

Operation daily_path() {
  using namespace daily_path_op;
  return define<Input, Output>({
      .name = "daily_path",
      .summary = "Say which note is the daily note of a date, and whether it exists.",
      .guidance = "Folder and format are those of Obsidian's daily notes, or of the "
                  "configuration. To read it use daily_read, to add to it daily_append.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/daily"},
      .cli_positional = {"date"},
      .needs = Needs::Files,
      .is_idempotent = true,
      .tool_group = "note_explore",
      .input = {date_field(&Input::date)},
      .output = {field("path", &Output::path, "Vault-relative path."),
                 field("date", &Output::date, "YYYY-MM-DD."),
                 field("exists", &Output::exists, "Whether the note is there.")},
      .failures = {{Reason::ValidationFailed, "The date cannot be read."}},
      .handler = run,
  });
}

}  // namespace indx
