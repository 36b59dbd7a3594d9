#include "ops/notes/daily_note.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace daily_read_op {

struct Input {
  std::string date;
  std::vector<std::string> include = {kDefaultNoteParts.begin(), kDefaultNoteParts.end()};
};

Result<NoteView> run(Context& ctx, const Input& in) {
  const auto daily = INDX_TRY(find_daily_note(ctx, in.date));
  const NoteFile file = INDX_TRY(ctx.notes().read(daily.path));
  return view_note(ctx, file, {in.include.begin(), in.include.end()});
}

}  // namespace daily_read_op

Operation daily_read() {
  using namespace daily_read_op;
  return define<Input, NoteView>({
      .name = "daily_read",
      .summary = "Read the daily note of a date.",
      .guidance = "It is never created by reading; daily_append does that.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/daily/note"},
      .cli_positional = {"date"},
      .needs = Needs::Files,
      .is_idempotent = true,
      .tool_group = "note_explore",
      .input = {date_field(&Input::date),
                field("include", &Input::include, "Which parts to answer with.", optional,
                      one_of(kNoteParts))},
      .output = NoteView::fields(),
      .failures = {{Reason::NotFound, "There is no note of that date yet."},
                   {Reason::ValidationFailed, "The date cannot be read."},
                   {Reason::Forbidden, "The path is outside your globs."}},
      .handler = run,
  });
}

}  // namespace indx
