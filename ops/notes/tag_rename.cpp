#include "base/text.hpp"
#include "base/unicode.hpp"
#include "ops/links/link_apply.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"

#include <algorithm>

namespace indx {
namespace tag_rename_op {

struct Input {
  std::string from, to;
  bool dry_run = false;
};
struct Changed {
  std::string path, etag;
  int count = 0;
  std::optional<std::string> diff;
  static Fields<Changed> fields() {
    return {field("path", &Changed::path, "The note."),
            field("etag", &Changed::etag, "Its version after the change."),
            field("count", &Changed::count, "Uses renamed."),
            field("diff", &Changed::diff, "With `dry_run`: what would change.")};
  }
};
struct Failed {
  std::string path, code, message;
  static Fields<Failed> fields() {
    return {field("path", &Failed::path, "The note that was not changed."),
            field("code", &Failed::code, "Why, for programs."),
            field("message", &Failed::message, "Why.")};
  }
};
struct Output {
  std::string from, to;
  bool dry_run = false;
  std::vector<Changed> changed;
  std::vector<std::string> also_mentions;
  std::vector<Failed> failed;
  bool partial = false;
};

Result<std::string> checked_tag(const std::string& text, const char* name) {
  const std::string tag = plain_tag(text);
  if (is_valid_tag(tag)) return tag;
  return invalid(
      cat("`", name, "` is not a tag: letters, digits, `_`, `-` and `/`, and not digits only."),
      Json{{"path", name}, {"expected", "a tag"}, {"actual", text}});
}

/// Uses of the tag or one below it.
int count_uses(const ParsedNote& note, const std::string& folded_tag) {
  return static_cast<int>(std::count_if(note.tags.begin(), note.tags.end(), [&](const TagUse& use) {
    const std::string folded = fold_case(use.tag);
    return folded == folded_tag || folded.starts_with(folded_tag + "/");
  }));
}

/// What is to be renamed, as the stored first step: `[{path, etag, count}]` and the files that only
/// mention the tag.
Result<Json> plan(Context& ctx, const std::string& from) {
  Json notes = Json::array();
  const std::string folded = fold_case(from);
  const auto paths = INDX_TRY(ctx.index().paths_with_tag(from));
  for (const auto& text : paths) {
    const NotePath path = INDX_TRY(NotePath::parse(text));
    auto file = ctx.notes().read(path);
    if (!file) continue;  // gone since it was indexed
    ParseOptions options;
    options.legacy_properties = ctx.config().legacy_properties;
    const int count = count_uses(parse_note(file->bytes, options), folded);
    if (count > 0)
      notes.push_back(Json{{"path", path.str()}, {"etag", file->etag}, {"count", count}});
  }
  return Json{{"notes", notes}};
}

/// An error, so that a stopping server never takes half of the work for all of it.
Error cancelled(const Output& out, const JobProgress& progress) {
  Json partial = Json::array();
  for (const auto& change : out.changed) partial.push_back(change.path);
  return make_error(
      Reason::Cancelled,
      cat("Cancelled after ", progress.done, " of ", progress.total.value_or(0), " notes."),
      Json{{"partial",
            {{"done", progress.done},
             {"total", progress.total.value_or(0)},
             {"changed", partial}}}});
}

Result<Output> run(Context& ctx, const Input& in) {
  Output out;
  out.from = INDX_TRY(checked_tag(in.from, "from"));
  out.to = INDX_TRY(checked_tag(in.to, "to"));
  out.dry_run = in.dry_run;
  const Json planned =
      INDX_TRY(ctx.step("plan", Json{{"from", out.from}}, [&] { return plan(ctx, out.from); }));
  JobProgress progress;
  progress.phase = "rename";
  progress.total = static_cast<std::int64_t>(planned["notes"].size());
  for (const auto& item : planned["notes"]) {
    if (ctx.cancel().is_cancelled()) return cancelled(out, progress);
    const std::string path = item["path"].get<std::string>();
    NoteChange change = change_of(NoteChange::Kind::Patch, INDX_TRY(NotePath::parse(path)));
    change.ops = {PatchOp{PatchKind::RenameTag, "", Json(), "", out.from, out.to}};
    change.if_match = item["etag"].get<std::string>();
    change.dry_run = in.dry_run;
    progress.current = path;
    auto outcome =
        in.dry_run ? ctx.notes().write(change) : ctx.write_step("rename/" + path, change);
    if (outcome && outcome->changed)
      out.changed.push_back({path, outcome->etag, item["count"].get<int>(),
                             in.dry_run ? std::optional(outcome->diff) : std::nullopt});
    else if (!outcome)
      out.failed.push_back({path, std::string(outcome.error().name()), outcome.error().message});
    ++progress.done;
    ctx.progress(progress);
  }
  out.partial = !out.failed.empty();
  out.also_mentions = INDX_TRY(also_mentioning(ctx, out.from));
  return out;
}

Result<std::size_t> size(Context& ctx, const Input& in) {
  const auto paths = INDX_TRY(ctx.index().paths_with_tag(plain_tag(in.from)));
  return in.dry_run ? std::size_t{0} : paths.size();
}

}  // namespace tag_rename_op

Operation tag_rename() {
  using namespace tag_rename_op;
  return define<Input, Output>({
      .name = "tag_rename",
      .summary = "Rename a tag, and the tags below it, in all notes.",
      .guidance = "Try `dry_run` first. Renames in text and in the property `tags`, never in code. "
                  "Over 20 notes it runs as a job.",
      .scopes = {Scope::VaultWrite},
      .route = {"POST", "/v1/tags/rename"},
      .cli_positional = {"from", "to"},
      .execution = Execution::Sized,
      .inline_limit = 20,
      .size = size,
      .effect = Effect::Writes,
      .is_idempotent = true,
      .input = {field("from", &Input::from, "The tag as it is.", length(1, 256)),
                field("to", &Input::to, "The tag as it shall be.", length(1, 256)),
                field("dry_run", &Input::dry_run, "Only list the notes and edits.", optional)},
      .output = {field("from", &Output::from, "Without `#`."),
                 field("to", &Output::to, "Without `#`."),
                 field("dry_run", &Output::dry_run, "True: nothing was written."),
                 field("changed", &Output::changed, "Notes changed, in path order."),
                 field(
                     "also_mentions", &Output::also_mentions,
                     "Bases, and notes with a query or base block, that name the tag; not edited."),
                 field("failed", &Output::failed, "Notes left as they were."),
                 field("partial", &Output::partial, "True: some notes were left as they were.")},
      .failures = {{Reason::ValidationFailed, "One of the two is not a tag."}},
      .handler = run,
  });
}

}  // namespace indx
