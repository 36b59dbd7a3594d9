#include "base/text.hpp"
#include "base/unicode.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"

#include <algorithm>
#include <unordered_set>

namespace indx {
namespace notes_read_op {

constexpr std::size_t kLeastBytes = 1024, kMostBytes = std::size_t{4} << 20U;
constexpr int kMostNotes = 200;

struct Input {
  std::vector<std::string> paths;
  std::string path_glob;
  std::vector<std::string> include = {kDefaultNoteParts.begin(), kDefaultNoteParts.end()};
  int max_bytes = 65536, limit = 50;
  std::string cursor;
};
struct LeftOut {
  std::string path, reason;
  std::optional<std::size_t> size;
  static Fields<LeftOut> fields() {
    return {field("path", &LeftOut::path, "Vault-relative path."),
            field("reason", &LeftOut::reason,
                  "`budget`: it comes with `next_cursor`. Else the error's code."),
            field("size", &LeftOut::size, "Bytes on disk, where known.")};
  }
};
struct Output {
  std::vector<NoteView> notes;
  std::size_t bytes = 0;
  std::vector<LeftOut> left_out;
  std::optional<std::string> next_cursor;
};

std::size_t bytes_of_view(const NoteView& view) {
  return encode_fields(Codec<NoteView>::fields(), view).dump().size();
}

/// Cuts the body at a grapheme border so that the whole view fits.
void cut_to_budget(NoteView& view, std::size_t budget) {
  view.raw.reset();
  view.truncated = true;
  const std::string body = std::exchange(view.body, std::string()).value_or("");
  const bool is_text = view.encoding == "utf-8";
  std::size_t keep = is_text ? budget : 0;
  while (keep > 0) {
    view.body = std::string(prefix_at_grapheme(body, keep));
    const std::size_t size = bytes_of_view(view);
    if (size <= budget) return;
    keep = keep > size - budget ? keep - (size - budget) : 0;  // escapes make JSON longer
  }
  view.body.reset();
  if (bytes_of_view(view) <= budget) return;
  view.frontmatter.reset();
  view.outline.reset();
  view.tags.reset();
  view.links.reset();
  view.blocks.reset();
  view.tasks.reset();
  view.properties.reset();
}

/// The paths to read now.
struct Wanted {
  std::vector<std::string> paths;
  bool has_more = false;
  std::string list_cursor;  ///< of the index's page behind these, when they come from a glob
};

/// Where a call goes on: behind a path, in the page of the list that a cursor begins.
struct Position {
  std::string list_cursor, after;
};
Result<Position> position_of(const std::string& cursor) {
  if (cursor.empty()) return Position{};
  const Json json = INDX_TRY(read_cursor(cursor));
  if (!json.is_object()) return read_cursor("!").error();
  return Position{json.value("list", ""), json.value("after", "")};
}

Result<Wanted> matching_paths(Context& ctx, const Input& in, const Position& position) {
  NoteFilter filter;
  filter.path_glob = in.path_glob;
  const auto page = INDX_TRY(ctx.index().list(filter, in.limit, position.list_cursor));
  Wanted wanted;
  for (const NoteRow& row : page.rows)
    if (row.path > position.after) wanted.paths.push_back(row.path);
  wanted.has_more = page.next_cursor.has_value();
  wanted.list_cursor = page.next_cursor.value_or("");
  return wanted;
}

Result<Wanted> listed_paths(const Input& in, const Position& position) {
  std::unordered_set<std::string> seen;
  std::vector<std::string> all;
  for (const std::string& text : in.paths) {
    const NotePath path = INDX_TRY(NotePath::parse(text));
    if (seen.insert(path.str()).second) all.push_back(path.str());
  }
  auto from = all.begin();
  if (!position.after.empty()) {
    from = std::find(all.begin(), all.end(), position.after);
    if (from == all.end())
      return invalid("`cursor` belongs to another list of paths.",
                     Json{{"path", "cursor"},
                          {"expected", "next_cursor of the same call"},
                          {"actual", "another text"}});
    ++from;
  }
  Wanted wanted;
  const auto count = std::min<std::ptrdiff_t>(all.end() - from, in.limit);
  wanted.paths.assign(from, from + count);
  wanted.has_more = from + count != all.end();
  return wanted;
}

Result<Output> run(Context& ctx, const Input& in) {
  if (!in.paths.empty() && !in.path_glob.empty())
    return invalid("Give either paths or path_glob, not both.",
                   Json{{"path", "paths"}, {"expected", "one of them"}, {"actual", "both"}});
  const bool is_list = !in.paths.empty();
  const Position position = INDX_TRY(position_of(in.cursor));
  const Wanted wanted =
      INDX_TRY(is_list ? listed_paths(in, position) : matching_paths(ctx, in, position));
  const std::set<std::string> parts(in.include.begin(), in.include.end());
  const auto budget = static_cast<std::size_t>(in.max_bytes);
  Output out;
  std::string last;  // the last path that is dealt with
  for (std::size_t i = 0; i < wanted.paths.size(); ++i) {
    const NotePath path = INDX_TRY(NotePath::parse(wanted.paths[i]));
    const auto file = ctx.notes().read(path);
    if (!file) {
      out.left_out.push_back({path.str(), std::string(file.error().name()), {}});
      last = path.str();
      continue;
    }
    NoteView view = view_note(ctx, *file, parts);
    std::size_t size = bytes_of_view(view);
    if (out.bytes + size > budget) {
      if (!out.notes.empty()) {
        out.left_out.push_back({path.str(), std::string(kComesLater), file->size});
        for (++i; i < wanted.paths.size(); ++i)
          out.left_out.push_back({wanted.paths[i], std::string(kComesLater), {}});
        out.next_cursor = make_cursor(Json{{"list", position.list_cursor}, {"after", last}});
        return out;
      }
      cut_to_budget(view, budget);
      size = bytes_of_view(view);
    }
    out.bytes += size;
    out.notes.push_back(std::move(view));
    last = path.str();
  }
  if (wanted.has_more)
    out.next_cursor =
        make_cursor(Json{{"list", wanted.list_cursor}, {"after", is_list ? last : std::string()}});
  return out;
}

}  // namespace notes_read_op

Operation notes_read() {
  using namespace notes_read_op;
  return define<Input, Output>({
      .name = "notes_read",
      .title = "Read many notes at once",
      .summary = "Read many notes at once, by path or glob, within a budget of bytes.",
      .guidance = "For one note, or a section of it, use note_read. A note that does not fit is "
                  "named in `left_out` and comes with `next_cursor`; only a note that is larger "
                  "than the whole budget is cut, and says so.",
      .scopes = {Scope::VaultRead},
      .route = {"POST", "/v1/read"},
      .cli = "notes read",
      .example = "--paths Projects/Plan.md Home.md",
      .is_idempotent = true,
      .input =
          {field("paths", &Input::paths, "Vault-relative paths, in the order wanted.", optional,
                 vault_path, length(0, 1000)),
           field(
               "path_glob", &Input::path_glob,
               "Instead of paths: all that match, such as `Projects/**`. Without both: every note.",
               optional, length(0, 1024)),
           field("include", &Input::include, "Which parts to answer with.", optional,
                 one_of(kNoteParts)),
           field("max_bytes", &Input::max_bytes, "Most bytes of notes in one answer.", optional,
                 between(kLeastBytes, kMostBytes)),
           field("limit", &Input::limit, "Most notes in one answer.", optional,
                 between(1, kMostNotes)),
           cursor_field(&Input::cursor)},
      .output = {field("notes", &Output::notes, "Notes that fit, whole, in order."),
                 field("bytes", &Output::bytes, "Bytes of these notes as JSON."),
                 field("left_out", &Output::left_out,
                       "Paths of this call that are not in `notes`, and why."),
                 next_cursor_field(&Output::next_cursor)},
      .list = "notes",
      .list_gaps = "left_out",
      .failures = {{Reason::ValidationFailed,
                    "Both paths and path_glob, or a cursor of another call."}},
      .handler = run,
  });
}

}  // namespace indx
