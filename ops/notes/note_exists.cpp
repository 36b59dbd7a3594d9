#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace note_exists_op {

struct Input {
  std::string path;
};
struct Output {
  std::string path;
  bool exists = false;
  std::optional<std::string> etag;
};

Result<Output> run(Context& ctx, const Input& in) {
  const NotePath path = INDX_TRY(NotePath::parse(in.path));
  auto file = ctx.notes().read(path);
  if (file) return Output{file->path.str(), true, file->etag};
  if (file.error().reason != Reason::NotFound) return std::move(file.error());
  return Output{path.str(), false, std::nullopt};
}

}  // namespace note_exists_op

Operation note_exists() {
  using namespace note_exists_op;
  return define<Input, Output>({
      .name = "note_exists",
      .title = "Check that a note exists",
      .summary = "Say whether a note exists, and at which etag.",
      .guidance = "Cheaper than note_read when only its etag is wanted.",
      .scopes = {Scope::VaultRead},
      .route = {"HEAD", "/v1/notes/{path}"},
      .cli = "note exists",
      .cli_positional = {"path"},
      .needs = Needs::Files,
      .is_idempotent = true,
      .input = {path_field(&Input::path)},
      .output = {field("path", &Output::path, "Vault-relative path."),
                 field("exists", &Output::exists, "Whether it is there."),
                 field("etag", &Output::etag, "Version of the note, when it exists.")},
      .failures = {{Reason::Forbidden, "The path is outside your globs."}},
      .handler = run,
  });
}

}  // namespace indx
