#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace note_read_op {

struct Input {
  std::string path;
  std::vector<std::string> include = {kDefaultNoteParts.begin(), kDefaultNoteParts.end()};
  std::string heading;
  std::vector<std::string> heading_path;
  int occurrence = 0;
  std::string block_id, anchor;
};

/// Exactly one way to name a part may be used.
Result<PartAddress> part_of(const Input& in) {
  PartAddress part{{in.heading, in.heading_path, in.occurrence}, in.block_id, in.anchor};
  const int ways = (in.heading.empty() ? 0 : 1) + (in.heading_path.empty() ? 0 : 1) +
                   (in.block_id.empty() ? 0 : 1) + (in.anchor.empty() ? 0 : 1);
  if (ways > 1)
    return invalid("Give one of heading, heading_path, block_id and anchor.",
                   Json{{"path", "heading"}, {"expected", "one of them"}, {"actual", ways}});
  if (in.occurrence > 0 && part.heading.is_empty())
    return invalid("`occurrence` needs a heading or heading_path.",
                   Json{{"path", "occurrence"}, {"expected", "nothing"}, {"actual", "a value"}});
  return part;
}

Result<NoteView> run(Context& ctx, const Input& in) {
  const NotePath path = INDX_TRY(NotePath::parse(in.path));
  const NoteFile file = INDX_TRY(ctx.notes().read(path));
  const PartAddress part = INDX_TRY(part_of(in));
  std::set<std::string> parts(in.include.begin(), in.include.end());
  if (part.is_empty()) return view_note(ctx, file, parts);
  // Who asks for a part and for nothing else wants its text.
  if (parts == kDefaultNoteParts) parts = {"body"};
  return view_part(ctx, file, part, parts);
}

}  // namespace note_read_op

Operation note_read() {
  using namespace note_read_op;
  return define<Input, NoteView>({
      .name = "note_read",
      .title = "Read a note",
      .summary = "Read a note, or one section or block of it.",
      .guidance = "Use it before changing a note: its etag guards the write. Ask for `include: "
                  "[\"outline\"]` first when the "
                  "note may be long, then for one section by `heading`. To find notes use "
                  "vault_search or note_list.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/notes/{path}"},
      .cli = "note get",
      .cli_positional = {"path"},
      .needs = Needs::Files,
      .is_idempotent = true,
      .input = {path_field(&Input::path),
                field("include", &Input::include, "Which parts to answer with.", optional,
                      one_of(kNoteParts)),
                field("heading", &Input::heading,
                      "Only this section: `Text` or `## Text`. `body` is then its text.", optional,
                      length(0, 4096)),
                field("heading_path", &Input::heading_path,
                      "The same by the headings above it and itself, outermost first.", optional,
                      length(0, 32)),
                field("occurrence", &Input::occurrence,
                      "Which of several equal headings, from 1; 0: there is one.", optional,
                      at_least(0)),
                field("block_id", &Input::block_id, "Only the block with this id.", optional,
                      length(0, 256)),
                field("anchor", &Input::anchor,
                      "Only what a link reaches: `Heading`, `A#B`, `^id`, or a slug.", optional,
                      length(0, 4096))},
      .output = NoteView::fields(),
      .failures = {{Reason::NotFound, "No note has that path."},
                   {Reason::TargetNotFound,
                    "The note has no such heading or block; details hold candidates."},
                   {Reason::Ambiguous, "Several headings fit; details hold candidates."},
                   {Reason::NotUtf8, "A part was asked for and the note is not UTF-8 text."},
                   {Reason::Forbidden, "The path is outside your globs."}},
      .handler = run,
  });
}

}  // namespace indx
