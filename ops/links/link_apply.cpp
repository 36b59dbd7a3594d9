#include "ops/links/link_apply.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/property_rename.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr int kMostTries = 5;

NotRelinkedView not_relinked(const std::string& path, const Error& error) {
  return {path, std::string(error.name()), error.message};
}

ParseOptions parse_options(Context& ctx) {
  ParseOptions options;
  options.legacy_properties = ctx.config().legacy_properties;
  return options;
}

NoteChange splice_of(NotePath path, const std::string& etag, std::vector<TextEdit> edits) {
  NoteChange change{.kind = NoteChange::Kind::Splice, .path = std::move(path)};
  change.if_match = etag;
  change.edits = std::move(edits);
  return change;
}

/// What was written, as `{etag, count, old_etag, old_size, size}`.
Json relinked_by(const WriteOutcome& outcome, int count) {
  return {{"etag", outcome.etag},
          {"count", count},
          {"old_etag", outcome.old_etag},
          {"old_size", outcome.old_size},
          {"size", outcome.size}};
}

Json unwritten(const std::string& etag, int count) { return {{"etag", etag}, {"count", count}}; }

/// The same for a file that changed since the plan.
Result<Json> relink_anew(Context& lane, const std::string& key, const NotePath& path,
                         const RelinkPlan::Source& source, const Relinking& relinking) {
  for (int attempt = 1; attempt < kMostTries; ++attempt) {
    const auto file = INDX_TRY(lane.notes().read(path));
    auto rewrite = INDX_TRY(relinking.rewrite(file.bytes, source.path, parse_options(lane)));
    if (rewrite.count == 0) return unwritten(file.etag, 0);
    const auto outcome = lane.write_step(cat(key, "/", attempt),
                                         splice_of(path, file.etag, std::move(rewrite.edits)));
    if (outcome.has_value()) return relinked_by(*outcome, rewrite.count);
    if (outcome.error().reason != Reason::EtagMismatch) return outcome.error();
  }
  return make_error(Reason::EtagMismatch,
                    cat(path.str(), " keeps changing; its links were left as they are."));
}

/// `{etag, count}` once the links of one file are right, and the others of relinked_by where a
/// write says so; `count` of the plan when they were already.
Result<Json> relink(Context& lane, const std::string& key, const RelinkPlan::Source& source,
                    const Relinking& relinking) {
  const auto path = INDX_TRY(NotePath::parse(relinking.place(source.path)));
  const auto file = INDX_TRY(lane.notes().read(path));
  if (file.etag == source.etag) {
    auto rewrite = INDX_TRY(relinking.rewrite(file.bytes, source.path, parse_options(lane)));
    if (rewrite.count == 0) return unwritten(file.etag, 0);
    const auto outcome = lane.write_step(key, splice_of(path, file.etag, std::move(rewrite.edits)));
    if (outcome.has_value()) return relinked_by(*outcome, rewrite.count);
    if (outcome.error().reason != Reason::EtagMismatch) return outcome.error();
  } else {
    // Written by this job before a restart, or changed by somebody: only the stored step knows.
    const auto stored = lane.write_step(key, splice_of(path, source.etag, {}));
    if (stored.has_value()) return relinked_by(*stored, source.count);
    if (file.etag == source.etag_after) return unwritten(file.etag, source.count);
    if (stored.error().reason != Reason::EtagMismatch) return stored.error();
  }
  // What is written on top of somebody's change depends on it, so the result is a step of its own.
  return lane.step(cat(key, "-anew"), {{"path", path.str()}, {"etag", source.etag}},
                   [&] { return relink_anew(lane, key, path, source, relinking); });
}

/// Of what relink gives, which may lack the fields of a write.
RelinkedView view_relinked(const std::string& path, const Json& done) {
  RelinkedView view;
  view.path = path;
  view.etag = done["etag"].get<std::string>();
  view.count = done["count"].get<int>();
  if (const auto old = done.value("old_etag", ""); !old.empty()) view.old_etag = old;
  if (done.contains("old_size")) view.old_size = done["old_size"].get<std::size_t>();
  if (done.contains("size")) view.size = done["size"].get<std::size_t>();
  return view;
}

Relinking relinking_of(const MoveWorld& world) {
  return {
      [&world](const std::string& bytes, const std::string& source, const ParseOptions& options) {
        return rewrite_links(bytes, source, world, options);
      },
      [&world](const std::string& source) { return world.place_after(source); }};
}

MoveWorld world_of(const MovePlan& plan) {
  return MoveWorld(plan.moves, plan.files, {plan.path_globs, {}});
}

}  // namespace

Fields<RelinkedView> RelinkedView::fields() {
  return {field("path", &RelinkedView::path, "The file, at its place after the change."),
          field("old_etag", &RelinkedView::old_etag, "Its version before the change."),
          field("etag", &RelinkedView::etag, "Its version after the change."),
          field("old_size", &RelinkedView::old_size, "Bytes before the change."),
          field("size", &RelinkedView::size, "Bytes after the change."),
          field("count", &RelinkedView::count, "Links, or uses of the name, rewritten."),
          field("diff", &RelinkedView::diff, "With `dry_run`: what would change.")};
}
Fields<NotRelinkedView> NotRelinkedView::fields() {
  return {field("path", &NotRelinkedView::path, "The file that was not changed."),
          field("code", &NotRelinkedView::code, "Why, for programs."),
          field("message", &NotRelinkedView::message, "Why.")};
}

RelinkedView view_planned(const RelinkPlan::Source& source, std::string place) {
  RelinkedView view;
  view.path = std::move(place);
  view.old_etag = source.etag;
  view.etag = source.etag_after;
  view.old_size = source.old_size;
  view.size = source.size;
  view.diff = source.diff;
  view.count = source.count;
  return view;
}

Json to_json(const RelinkPlan& plan) {
  Json sources = Json::array(), failed = Json::array();
  for (const auto& source : plan.sources)
    sources.push_back({source.path, source.etag, source.etag_after, source.count});
  for (const auto& item : plan.failed) failed.push_back({item.path, item.code, item.message});
  return {{"sources", sources},
          {"failed", failed},
          {"has_hidden_sources", plan.has_hidden_sources},
          {"has_hidden_targets", plan.has_hidden_targets}};
}

RelinkPlan relink_plan_from_json(const Json& json) {
  RelinkPlan plan;
  for (const auto& source : json.at("sources"))
    plan.sources.push_back({source.at(0).get<std::string>(), source.at(1).get<std::string>(),
                            source.at(2).get<std::string>(), source.at(3).get<int>(), ""});
  for (const auto& item : json.at("failed"))
    plan.failed.push_back({item.at(0).get<std::string>(), item.at(1).get<std::string>(),
                           item.at(2).get<std::string>()});
  plan.has_hidden_sources = json.at("has_hidden_sources").get<bool>();
  plan.has_hidden_targets = json.value("has_hidden_targets", false);
  return plan;
}

Status plan_source(Context& ctx, const std::string& source, const Relinking& relinking,
                   bool with_diff, RelinkPlan& plan) {
  const auto path = INDX_TRY(NotePath::parse(source));
  const auto file = ctx.notes().read(path);
  if (!file.has_value()) {
    if (file.error().reason == Reason::Forbidden)
      plan.has_hidden_sources = true;
    else if (file.error().reason != Reason::NotFound)  // else gone since it was indexed
      plan.failed.push_back(not_relinked(source, file.error()));
    return {};
  }
  const auto rewrite = relinking.rewrite(file->bytes, source, parse_options(ctx));
  const auto place = relinking.place(source);
  if (!rewrite.has_value()) {
    plan.failed.push_back(not_relinked(place, rewrite.error()));
    return {};
  }
  if (rewrite->problem) plan.failed.push_back(not_relinked(place, *rewrite->problem));
  plan.has_hidden_targets = plan.has_hidden_targets || rewrite->has_hidden_targets;
  if (rewrite->count == 0) return {};
  const auto after = apply_edits(file->bytes, rewrite->edits);
  plan.sources.push_back({source, file->etag, etag_of(after), rewrite->count,
                          with_diff ? unified_diff(place, file->bytes, after) : "",
                          file->bytes.size(), after.size()});
  return {};
}

Json to_json(const MovePlan& plan) {
  Json json = to_json(static_cast<const RelinkPlan&>(plan));
  json["moves"] = Json::array();
  for (const auto& move : plan.moves) json["moves"].push_back({move.from, move.to});
  json["is_folder"] = plan.is_folder;
  json["files"] = plan.files;
  json["path_globs"] = plan.path_globs;
  return json;
}

Result<MovePlan> move_plan_from_json(const Json& json) {
  MovePlan plan;
  try {
    static_cast<RelinkPlan&>(plan) = relink_plan_from_json(json);
    plan.is_folder = json.at("is_folder").get<bool>();
    for (const auto& move : json.at("moves"))
      plan.moves.push_back({move.at(0).get<std::string>(), move.at(1).get<std::string>()});
    plan.files = json.at("files").get<std::map<std::string, std::vector<std::string>>>();
    plan.path_globs = json.at("path_globs").get<std::vector<std::string>>();
  } catch (const Json::exception& error) {
    return internal_error(cat("A stored plan of a move cannot be read: ", error.what()));
  }
  return plan;
}

Result<MovePlan> plan_links(Context& ctx, const NotePath& from, const NotePath& to,
                            bool update_links, bool with_diff) {
  const auto tree = INDX_TRY(ctx.links().tree(from));
  if (!tree.is_folder && from.is_note() && !to.is_note() && !to.is_ignored())
    return invalid(
        cat("A note stays one, its name ends in `.md`: did you mean `", to.str(), ".md`?"),
        {{"path", "to"}, {"expected", "a path in `.md`"}, {"actual", to.str()}});
  MovePlan plan;
  plan.is_folder = tree.is_folder;
  plan.path_globs = ctx.principal().path_globs;
  for (const auto& file : tree.files)
    plan.moves.push_back({file, to.str() + file.substr(from.str().size())});
  for (const auto& move : plan.moves)
    if (!ctx.principal().path_scope().allows(move.to))
      return make_error(Reason::Forbidden, cat("This token may not use ", move.to, "."),
                        {{"path", move.to}});
  if (!update_links || from == to) return plan;
  auto ground = INDX_TRY(ctx.links().move_ground(plan.moves));
  plan.files = std::move(ground.files);
  const MoveWorld world = world_of(plan);
  const auto relinking = relinking_of(world);
  for (const auto& source : ground.sources)
    INDX_TRY(plan_source(ctx, source, relinking, with_diff, plan));
  return plan;
}

Result<RelinkResult> apply_links(Context& ctx, const MovePlan& plan) {
  const MoveWorld world = world_of(plan);
  return apply_relinks(ctx, plan, relinking_of(world));
}

Result<RelinkResult> apply_relinks(Context& ctx, const RelinkPlan& plan,
                                   const Relinking& relinking) {
  std::map<std::string, const RelinkPlan::Source*> by_path;
  std::vector<MapItem> items;
  for (const auto& source : plan.sources) {
    by_path[source.path] = &source;
    items.push_back({source.path, {{"path", source.path}, {"etag", source.etag}}});
  }
  RelinkResult result;
  std::optional<Error> passing;
  const auto add = [&](const MapItem& item, const Result<Json>& outcome) {
    const auto path = relinking.place(item.id);
    if (!outcome.has_value() && ctx.is_job() && outcome.error().is_retryable())
      passing = outcome.error();
    else if (!outcome.has_value())
      result.failed.push_back(not_relinked(path, outcome.error()));
    else if ((*outcome)["count"].get<int>() > 0)
      result.changed.push_back(view_relinked(path, *outcome));
  };
  const auto results = ctx.map("links", items,
                               [&](Context& lane, const MapItem& item) -> Result<Json> {
                                 return relink(lane, "write", *by_path.at(item.id), relinking);
                               },
                               {.keeps_results = false,  // the write is the item's step
                                .lanes = kWriteLanes});
  // Cancelled in the middle: half of the links would be left broken, so the rest is done all the
  // same. What was done is found so by its bytes.
  for (std::size_t i = 0; i < items.size(); ++i) {
    const bool is_done = results.has_value() && ((*results)[i].has_value() ||
                                                 (*results)[i].error().reason != Reason::Cancelled);
    add(items[i], is_done ? (*results)[i]
                          : relink(ctx, cat("links-again/", items[i].id), *by_path.at(items[i].id),
                                   relinking));
  }
  if (passing) return *passing;
  return result;
}

Result<std::vector<std::string>> files_naming(Context& ctx, const std::vector<std::string>& texts) {
  std::vector<std::string> found;
  auto paths = INDX_TRY(ctx.links().files_ending_in(".base"));
  const auto canvases = INDX_TRY(ctx.links().unread_canvases());
  paths.insert(paths.end(), canvases.begin(), canvases.end());
  for (const auto& text : paths) {
    const auto path = NotePath::parse(text);
    const auto file = path ? ctx.notes().read(*path) : Result<NoteFile>(path.error());
    if (!file.has_value()) continue;
    const auto bytes = fold_case(replace_invalid_utf8(file->bytes));
    const bool mentions = std::any_of(texts.begin(), texts.end(), [&](const std::string& wanted) {
      return bytes.find(fold_case(wanted)) != std::string::npos;
    });
    if (mentions) found.push_back(text);
  }
  std::sort(found.begin(), found.end());
  return found;
}

Result<std::vector<std::string>> also_mentioning(Context& ctx, const std::string& name) {
  auto found = INDX_TRY(ctx.links().notes_with_query_of(name));
  const auto bases = INDX_TRY(ctx.links().files_ending_in(".base"));
  for (const auto& text : bases) {
    const auto path = NotePath::parse(text);
    const auto file = path ? ctx.notes().read(*path) : Result<NoteFile>(path.error());
    if (file.has_value() && mentions_name(file->bytes, name)) found.push_back(text);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace indx
