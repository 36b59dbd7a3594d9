#include "base/text.hpp"
#include "ops/ai/ai_estimate.hpp"
#include "ops/ai/ai_input.hpp"
#include "ops/ai/ai_invocation.hpp"
#include "ops/ai/toc_moc.hpp"
#include "ops/ai/toc_note.hpp"
#include "ops/ai/toc_words.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"

#include <algorithm>

namespace indx {
namespace ai_toc_op {

struct WriteTo {
  std::string path;
  bool if_not_exists = false;
  std::string if_match;
  std::optional<JsonObject> frontmatter;
  static Fields<WriteTo> fields() {
    return {field("path", &WriteTo::path, "The note that gets the map as its body.", vault_path,
                  length(1, 4096)),
            field("if_not_exists", &WriteTo::if_not_exists,
                  "Create only; `conflict` when the note exists.", optional),
            field("if_match", &WriteTo::if_match,
                  "Etag that the note must still have, or `*` for any; else `etag_mismatch`.",
                  optional, length(0, 128)),
            field("frontmatter", &WriteTo::frontmatter,
                  "Properties that replace those of the note; left out: they stay.")};
  }
};
struct Input : AiCallInput {
  std::string mode, path;
  int depth = 3;
  bool include_descriptions = false, include_links = true, include_summaries = false;
  std::string style = "compact", group_by = "topic", group_by_key, title;
  int max_groups = 12, max_per_group = 20;
  std::optional<WriteTo> write;

  bool is_moc() const { return mode == "moc"; }
  bool with_descriptions() const { return is_moc() ? include_summaries : include_descriptions; }
};

struct Written {
  std::string path, etag;
  static Fields<Written> fields() {
    return {field("path", &Written::path, "The note."),
            field("etag", &Written::etag, "Its version now.")};
  }
};
struct Output {
  std::string toc_markdown;
  std::vector<TocNode> toc_tree;
  AiScopeView scope_resolved;
  std::optional<Written> written;
  std::vector<AiCitation> citations;
  AiUsageView usage;
  std::string source = "extractive";
  std::vector<Json> warnings;
  std::optional<AiEstimate> estimate;
  std::vector<std::string> applied_paths() const {
    return written ? std::vector{written->path} : std::vector<std::string>();
  }
  const std::string& prose() const { return toc_markdown; }
};

Error needs_field(const char* name, const std::string& when) {
  return invalid(cat("`", name, "` is required ", when, "."),
                 Json{{"path", name}, {"expected", "a value"}, {"actual", "missing"}});
}
Error other_mode(const char* name, const char* mode) {
  return invalid(cat("`", name, "` is for mode `", mode, "` only."),
                 Json{{"path", name}, {"expected", "nothing"}, {"actual", "a value"}});
}

/// The scope of either mode, when the fields fit the mode.
Result<AiScope> scope_of(const Input& in) {
  if (in.is_moc()) {
    if (!in.path.empty()) return other_mode("path", "note");
    if (in.scope.kind.empty()) return needs_field("scope", "in mode `moc`");
    if (in.group_by == "frontmatter" && in.group_by_key.empty())
      return needs_field("group_by_key", "when `group_by` is `frontmatter`");
    return in.scope;
  }
  if (in.write) return other_mode("write", "moc");
  if (!in.scope.kind.empty()) return other_mode("scope", "moc");
  if (in.path.empty()) return needs_field("path", "in mode `note`");
  AiScope scope;
  scope.kind = "note";
  scope.path = in.path;
  return scope;
}

NoteChange change_to(const WriteTo& write, NotePath path, std::string body) {
  NoteChange change = change_of(NoteChange::Kind::Write, std::move(path));
  change.body = std::move(body);
  change.if_match = plain_etag(write.if_match);
  change.if_not_exists = write.if_not_exists;
  if (write.frontmatter) {
    change.frontmatter_mode = FrontmatterMode::Replace;
    change.frontmatter = write.frontmatter->value;
  }
  return change;
}

/// Whether the note can be written as asked, before anything is paid for; once for a job, which
/// may have written it when it runs again.
Result<NotePath> preflight(Context& ctx, const WriteTo& write) {
  const NotePath path = INDX_TRY(writable_note_path(write.path));
  const Json inputs{{"write", *Codec<WriteTo>::encode(write)}};
  INDX_TRY(ctx.step("preflight", inputs, [&]() -> Result<Json> {
    const auto file = ctx.notes().read(path);
    if (!file && file.error().reason != Reason::NotFound) return file.error();
    const auto before = file ? std::optional(file->bytes) : std::nullopt;
    INDX_TRY(apply_change(change_to(write, path, ""), before));
    return Json::object();
  }));
  return path;
}

Result<TocPlan> make_plan(Context& ctx, const Input& in, const std::vector<ScopedNote>& notes) {
  if (in.is_moc()) {
    MocOptions options;
    options.group_by = in.group_by;
    options.group_by_key = in.group_by_key;
    options.max_groups = static_cast<std::size_t>(in.max_groups);
    options.max_per_group = static_cast<std::size_t>(in.max_per_group);
    options.with_links = in.include_links;
    options.with_evidence = in.include_summaries;
    if (in.write) options.source = INDX_TRY(NotePath::parse(in.write->path)).str();
    return plan_moc(ctx, notes, options);
  }
  if (notes.empty()) return TocPlan();  // AI may not read it
  return plan_note_toc(ctx, notes.front(), {in.depth, in.include_links, in.include_descriptions});
}

/// The plan as a step: it reads the notes, and maybe asks for vectors.
Result<TocPlan> plan_step(Context& ctx, const Input& in, const std::vector<ScopedNote>& notes,
                          const Json& key) {
  Json versions = Json::array();
  for (const auto& note : notes) versions.push_back(Json::array({note.path, note.etag}));
  const Json inputs{{"notes", std::move(versions)}, {"request", key}};
  const Json stored = INDX_TRY(ctx.step("plan", inputs, [&]() -> Result<Json> {
    return *Codec<TocPlan>::encode(INDX_TRY(make_plan(ctx, in, notes)));
  }));
  TocPlan plan;
  Codec<TocPlan>::decode(stored, plan);
  return plan;
}

Json key_of(const Input& in) {
  Json key = in.key();
  key["mode"] = in.mode;
  key["depth"] = in.depth;
  key["with"] = {in.include_descriptions, in.include_links, in.include_summaries};
  key["group_by"] = {in.group_by, in.group_by_key, in.max_groups, in.max_per_group};
  key["write"] = in.write ? in.write->path : "";
  return key;
}

Status write_map(Context& ctx, const Input& in, const NotePath& path, bool is_empty, Output& out) {
  if (is_empty) {  // no reason to empty a note that a person may have written
    out.warnings.push_back(
        ai_warning("apply_skipped_no_change", path.str(), "there is no note to put into the map"));
    return {};
  }
  JobProgress progress;
  progress.phase = "write";
  progress.total = 1;
  progress.current = path.str();
  ctx.progress(progress);
  const auto done = INDX_TRY(ctx.write_step("write", change_to(*in.write, path, out.toc_markdown)));
  out.written = Written{path.str(), done.etag};
  if (!done.changed)
    out.warnings.push_back(Json{{"code", "apply_skipped_no_change"}, {"path", path.str()}});
  for (const auto& code : done.warnings)
    out.warnings.push_back(Json{{"code", code}, {"path", path.str()}});
  return {};
}

Result<Output> toc(Context& ctx, const Input& in, AiInvocation& invocation) {
  const AiScope scope = INDX_TRY(scope_of(in));
  std::optional<NotePath> write_path;
  if (in.write) write_path = INDX_TRY(preflight(ctx, *in.write));
  AiScoped scoped = INDX_TRY(scope_step(ctx, scope));
  if (write_path)  // a map does not list itself
    std::erase_if(scoped.scope.notes,
                  [&](const ScopedNote& note) { return note.path == write_path->str(); });
  Output out;
  out.scope_resolved = to_view(scope, scoped.scope);
  invocation.scope_paths = out.scope_resolved.paths;
  out.warnings = scoped.scope.warnings;

  const Json key = key_of(in);
  TocPlan plan = INDX_TRY(plan_step(ctx, in, scoped.scope.notes, key));
  out.scope_resolved.total_tokens = plan.total_tokens;
  AiTotal total;
  if (in.is_moc() || in.with_descriptions())
    INDX_TRY(word_toc(
        ctx, {in.with_descriptions(), in.language, in.seed, in.max_tokens.value_or(0), key}, plan,
        total));
  out.usage = total.usage();
  if (total.model_calls() == 0)
    out.usage.cost_usd = 0;
  else
    out.source = "model";
  invocation.usage = out.usage;
  out.warnings.insert(out.warnings.end(), plan.warnings.begin(), plan.warnings.end());
  for (const auto& entry : plan.entries)
    if (in.cite && entry.evidence) out.citations.push_back(*entry.evidence);
  out.toc_tree = indx::toc_tree(plan.entries);
  out.toc_markdown =
      indx::toc_markdown(plan.entries, in.is_moc() ? in.title : "",
                         in.style == "expanded" ? TocStyle::Expanded : TocStyle::Compact);
  if (write_path) INDX_TRY(write_map(ctx, in, *write_path, plan.entries.empty(), out));
  return out;
}

Result<Output> run(Context& ctx, const Input& in) {
  if (in.estimate)
    return estimated<Output>(
        ctx, in, [&](Context& dry, AiInvocation& invocation) { return toc(dry, in, invocation); });
  return run_told<Output>(ctx, "ai_toc", in.write.has_value(),
                          [&](AiInvocation& invocation) { return toc(ctx, in, invocation); });
}

Result<std::size_t> size(Context& ctx, const Input& in) {
  const AiScope scope = INDX_TRY(scope_of(in));
  if (!in.is_moc() || in.estimate) return std::size_t{1};
  const ScopePaths found = INDX_TRY(scope_paths(ctx, scope));
  return found.paths.size();
}

}  // namespace ai_toc_op

Operation ai_toc() {
  using namespace ai_toc_op;
  return define<Input, Output>({
      .name = "ai_toc",
      .title = "Make a table of contents",
      .summary = "Make a table of contents of one note, or a map of many, and write the map when "
                 "asked.",
      .guidance = "mode note: the headings of a long note. mode moc: groups of notes with links, "
                  "which `write` puts into a note. For plain headings use note_outline.",
      .scopes = {Scope::VaultRead},
      .extra_scopes =
          [](const Input& in) {
            return in.write ? std::vector{Scope::VaultWrite} : std::vector<Scope>();
          },
      .route = {"POST", "/v1/ai/toc"},
      .cli = "ai toc",
      .cli_flags = {{"note", "path", Json{{"mode", "note"}}, "Of this note, its headings."},
                    {"moc", "", Json{{"mode", "moc"}}, "A map of the notes of the scope."},
                    {"descriptions", "include_descriptions", Json(), "A line for each heading."},
                    {"write", "write.path", Json(),
                     "Write the map into this note; without --yes only where there is none yet."}},
      .cli_replaces = "write",
      .example = "--note Projects/Plan.md --depth 2",
      .execution = Execution::Sized,
      .inline_limit = 1,
      .size = size,
      .effect = Effect::Writes,
      .needs_provider = true,
      .answers_without_chat =
          [](const Input& in) { return !in.is_moc() && !in.include_descriptions; },
      .is_ai = true,
      .input = joined<Input>(
          {field("mode", &Input::mode, "note: of one note. moc: a map of many.",
                 one_of({"note", "moc"})),
           field("path", &Input::path, "note: the note.", optional, vault_path, length(0, 4096)),
           field("depth", &Input::depth,
                 "note: levels of headings, from the highest in the note on.", plain, optional,
                 between(1, 6)),
           field("include_descriptions", &Input::include_descriptions,
                 "note: one line for each heading, of the text below it.", plain, optional),
           field<Input, AiScope>("scope", &Input::scope, "moc: which notes.", optional),
           field("group_by", &Input::group_by,
                 "moc: topic groups notes that are about the same; frontmatter: by the values of a "
                 "property.",
                 optional, one_of({"tag", "folder", "topic", "frontmatter"})),
           field("group_by_key", &Input::group_by_key, "frontmatter: the property.", optional,
                 length(0, 256)),
           field("max_groups", &Input::max_groups,
                 "moc: most groups; what stands in none of them is the last one.", plain, optional,
                 between(1, 100)),
           field("max_per_group", &Input::max_per_group, "moc: most notes of one group.", plain,
                 optional, between(1, 500)),
           field("include_summaries", &Input::include_summaries, "moc: one line for each note.",
                 plain, optional),
           field("title", &Input::title, "moc: a heading above the map.", plain, optional,
                 length(0, 200)),
           field("write", &Input::write,
                 "moc: write the map into a note; needs vault:write. Left out: nothing is written.",
                 for_writing),
           field("include_links", &Input::include_links, "Entries are wikilinks.", plain, optional),
           field("style", &Input::style,
                 "compact: descriptions behind their entries; expanded: below them.", optional,
                 one_of({"compact", "expanded"})),
           ai_estimate_field<Input>()},
          ai_call_fields<Input>(
              "Language of titles and descriptions; left out: that of the notes.")),
      .output = {field("toc_markdown", &Output::toc_markdown, "Ready to be put into a note."),
                 field("toc_tree", &Output::toc_tree, "The same as a tree."),
                 field("scope_resolved", &Output::scope_resolved, "The notes that were read."),
                 field("written", &Output::written, "With `write`: the note that holds the map."),
                 field("citations", &Output::citations,
                       "The sentences behind descriptions, and behind names that are no headings."),
                 field("usage", &Output::usage, "Model use of this call."),
                 field("source", &Output::source, "extractive: no model took part.",
                       one_of({"model", "extractive"})),
                 field("warnings", &Output::warnings, "A code, or {code, path, key, reason}."),
                 ai_estimate_output<Output>()},
      .failures =
          ai_failures({{Reason::ValidationFailed, "Fields that the mode needs are missing."},
                       {Reason::AiSchemaInvalid, "The model did not answer in the asked form."},
                       {Reason::EtagMismatch,
                        "The note to write is no longer at `write.if_match`; nothing was written."},
                       {Reason::Conflict, "`write.if_not_exists` was given and the note exists."}}),
      .handler = run,
  });
}

}  // namespace indx
