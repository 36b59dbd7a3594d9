#include "ops/links.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace link_orphans_op {

struct Input {
  std::string kind = "orphans";
  int limit = 100;
  std::string cursor;
};
struct Row {
  std::string path, title;
  bool has_incoming = false, has_outgoing = false;
  static Fields<Row> fields() {
    return {field("path", &Row::path, "The note."), field("title", &Row::title, "Its title."),
            field("has_incoming", &Row::has_incoming, "Whether another file links to it."),
            field("has_outgoing", &Row::has_outgoing, "Whether it links to another note.")};
  }
};
struct Output {
  std::vector<Row> orphans;
  std::optional<std::string> next_cursor;
};

Result<Output> run(Context& ctx, const Input& in) {
  const auto kind = in.kind == "no_incoming"   ? OrphanKind::NoIncoming
                    : in.kind == "no_outgoing" ? OrphanKind::NoOutgoing
                                               : OrphanKind::Orphans;
  auto found = INDX_TRY(ctx.links().orphans(kind, in.limit, in.cursor));
  Output out{{}, std::move(found.next_cursor)};
  for (auto& row : found.rows)
    out.orphans.push_back(
        {std::move(row.path), std::move(row.title), row.has_incoming, row.has_outgoing});
  return out;
}

}  // namespace link_orphans_op

Operation link_orphans() {
  using namespace link_orphans_op;
  return define<Input, Output>({
      .name = "link_orphans",
      .title = "List notes without links",
      .summary = "List notes without links to or from other notes.",
      .guidance =
          "`no_incoming`: nothing links to them. `no_outgoing`: they link to no other note. A "
          "note's links to itself, to attachments and to missing notes do not count.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/links/orphans"},
      .is_idempotent = true,
      .reads_index = true,
      .input = {field("kind", &Input::kind, "Which links must be missing.", optional,
                      one_of({"orphans", "no_incoming", "no_outgoing"})),
                limit_field(&Input::limit), cursor_field(&Input::cursor)},
      .output = {field("orphans", &Output::orphans, "By path."),
                 next_cursor_field(&Output::next_cursor)},
      .failures = {{Reason::ValidationFailed, "The kind or the cursor is not one of ours."}},
      .handler = run,
  });
}

}  // namespace indx
