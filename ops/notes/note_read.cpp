#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace note_read_op {

struct Input {
  std::string path;
  std::vector<std::string> include = {kDefaultNoteParts.begin(), kDefaultNoteParts.end()};
};

Result<NoteView> run(Context& ctx, const Input& in) {
  const NotePath path = INDX_TRY(NotePath::parse(in.path));
  const NoteFile file = INDX_TRY(ctx.notes().read(path));
  return view_note(file, {in.include.begin(), in.include.end()}, ctx.config());
}

}  // namespace note_read_op

Operation note_read() {
  using namespace note_read_op;
  return define<Input, NoteView>({
      .name = "note_read",
      .summary = "Read a note: properties, outline and body.",
      .guidance = "Use it before changing a note: its etag guards the write. Ask for `include: "
                  "[\"outline\"]` first when the "
                  "note may be long. To find notes use vault_search or note_list.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/notes/{path}"},
      .cli = "note get",
      .cli_positional = {"path"},
      .is_idempotent = true,
      .input = {path_field(&Input::path),
                field("include", &Input::include, "Which parts to answer with.", optional,
                      one_of(kNoteParts))},
      .output = NoteView::fields(),
      .failures = {{Reason::NotFound, "No note has that path."},
                   {Reason::Forbidden, "The path is outside your globs."}},
      .handler = run,
  });
}

}  // namespace indx
