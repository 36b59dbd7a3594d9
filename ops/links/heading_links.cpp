#include "ops/links/heading_links.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <set>

namespace indx {
namespace {

constexpr int kMostOwnRounds = 3;  // a heading may hold a link to a renamed one, and so on

/// The renames one after the other; nullopt: the subpath stays.
Result<std::optional<std::string>> followed(const std::string& subpath,
                                            const std::vector<AnchorRenames>& renames,
                                            bool is_careful) {
  std::string now = subpath;
  for (const auto& rename : renames)
    if (auto next = INDX_TRY(new_subpath(now, rename, is_careful))) now = std::move(*next);
  return now == subpath ? std::nullopt : std::optional(std::move(now));
}

/// Chooses for the links of `source` that reach the note.
SubpathChoice choice_for(const std::string& source, const std::string& note, const MoveWorld& world,
                         const std::vector<AnchorRenames>& renames) {
  return [&](const Link& link, bool is_careful) -> Result<std::optional<std::string>> {
    if (link.external || link.subpath.empty()) return std::optional<std::string>();
    const bool reaches = link.target.empty()
                             ? source == note
                             : world.before(source, link.target, link.syntax) == note;
    if (!reaches) return std::optional<std::string>();
    return followed(link.subpath, renames, is_careful);
  };
}

/// The world in which nothing moves: links are only looked up.
MoveWorld standing_world(const std::map<std::string, std::vector<std::string>>& files) {
  return MoveWorld({}, files);
}

Relinking relinking_of(const std::string& note, const MoveWorld& world,
                       const std::vector<AnchorRenames>& renames) {
  return {[&](const std::string& bytes, const std::string& source, const ParseOptions& options) {
            return rewrite_subpaths(bytes, source, choice_for(source, note, world, renames),
                                    options);
          },
          [](const std::string& source) { return source; }};
}

/// The renames of one step, which has made `after` of `before`.
AnchorRenames renames_of(const PatchOp& op, const std::string& before, const std::string& after) {
  AnchorRenames renames;
  if (op.kind == PatchKind::RenameHeading)
    renames = compare_anchors(parse_note(before), parse_note(after));
  // By the ids and not by comparing: a later block with the old id would answer to it now.
  if (op.kind == PatchKind::RenameBlock && before != after)
    renames.blocks[fold_case(plain_block_id(op.block_id))] = plain_block_id(op.to);
  return renames;
}

/// What each step that renames a heading or block id does, and the note after all steps.
struct Stepwise {
  std::vector<AnchorRenames> renames;
  std::string after;
};
Result<Stepwise> run_stepwise(const NoteChange& patch, const std::string& before) {
  INDX_TRY(apply_change(patch, before));  // guards, and errors that name their step
  Stepwise result{{}, before};
  for (const auto& op : patch.ops) {
    NoteChange step{.kind = NoteChange::Kind::Patch, .path = patch.path};
    step.ops = {op};
    auto after = INDX_TRY(apply_change(step, result.after)).value_or("");
    auto renames = renames_of(op, result.after, after);
    if (!renames.is_empty()) result.renames.push_back(std::move(renames));
    result.after = std::move(after);
  }
  return result;
}

/// One edit from one text to another: all between what is equal at both ends.
TextEdit whole_edit(std::string_view from, std::string_view to) {
  const auto shorter = std::min(from.size(), to.size());
  std::size_t head = 0, tail = 0;
  while (head < shorter && from[head] == to[head]) ++head;
  while (tail < shorter - head && from[from.size() - 1 - tail] == to[to.size() - 1 - tail]) ++tail;
  return {head, from.size() - tail, std::string(to.substr(head, to.size() - tail - head))};
}

/// The note's own links follow in the same write. A heading that holds such a link is renamed by
/// that in turn.
void plan_own_links(const std::string& path, const std::string& after, const MoveWorld& world,
                    const ParseOptions& options, AnchorPlan& plan) {
  std::string now = after;
  auto renames = plan.renames;
  for (int round = 0; round < kMostOwnRounds && !renames.empty(); ++round) {
    const auto rewrite =
        rewrite_text_subpaths(now, choice_for(path, path, world, renames), options);
    if (!rewrite.has_value() || rewrite->problem) {
      const auto& error = rewrite.has_value() ? *rewrite->problem : rewrite.error();
      plan.failed.push_back({path, std::string(error.name()), error.message});
    }
    if (!rewrite.has_value() || rewrite->count == 0) break;
    plan.own_count += rewrite->count;
    auto next = apply_edits(now, rewrite->edits);
    renames = {compare_anchors(parse_note(now), parse_note(next))};
    now = std::move(next);
    if (renames.front().is_empty()) break;
    plan.renames.push_back(renames.front());
  }
  if (now != after) plan.edits = {whole_edit(after, now)};
}

/// Files besides the note with a link that follows.
std::set<std::string> sources_of(const AnchorGround& ground, const std::string& path,
                                 const std::vector<AnchorRenames>& renames) {
  std::set<std::string> sources;
  for (const auto& use : ground.uses) {
    if (use.source == path || sources.contains(use.source)) continue;
    const auto next = followed(use.subpath, renames, false);
    if (!next.has_value() || *next) sources.insert(use.source);
  }
  return sources;
}

}  // namespace

Json to_json(const AnchorPlan& plan) {
  Json json = to_json(static_cast<const RelinkPlan&>(plan));
  json["etag"] = plan.etag;
  json["renames"] = Json::array();
  for (const auto& rename : plan.renames) json["renames"].push_back(to_json(rename));
  json["files"] = plan.files;
  json["edits"] = Json::array();
  for (const auto& edit : plan.edits) json["edits"].push_back({edit.begin, edit.end, edit.text});
  json["own_count"] = plan.own_count;
  return json;
}

Result<AnchorPlan> anchor_plan_from_json(const Json& json) {
  AnchorPlan plan;
  try {
    static_cast<RelinkPlan&>(plan) = relink_plan_from_json(json);
    plan.etag = json.at("etag").get<std::string>();
    for (const auto& rename : json.at("renames"))
      plan.renames.push_back(INDX_TRY(anchor_renames_from_json(rename)));
    plan.files = json.at("files").get<std::map<std::string, std::vector<std::string>>>();
    for (const auto& edit : json.at("edits"))
      plan.edits.push_back({edit.at(0).get<std::size_t>(), edit.at(1).get<std::size_t>(),
                            edit.at(2).get<std::string>()});
    plan.own_count = json.at("own_count").get<int>();
  } catch (const Json::exception& error) {
    return internal_error(cat("A stored plan of renamed headings cannot be read: ", error.what()));
  }
  return plan;
}

bool renames_anchors(const NoteChange& patch) {
  return std::any_of(patch.ops.begin(), patch.ops.end(), [](const PatchOp& op) {
    return op.kind == PatchKind::RenameHeading || op.kind == PatchKind::RenameBlock;
  });
}

Result<AnchorPlan> plan_anchors(Context& ctx, const NoteChange& patch, bool with_diff) {
  const auto file = INDX_TRY(ctx.notes().read(patch.path));
  auto steps = INDX_TRY(run_stepwise(patch, file.bytes));
  AnchorPlan plan;
  plan.etag = file.etag;
  plan.renames = std::move(steps.renames);
  if (plan.renames.empty()) return plan;
  const auto& path = file.path.str();  // as it is spelled on disk
  const auto ground = INDX_TRY(ctx.links().anchor_ground(file.path));
  plan.files = ground.files;
  const auto world = standing_world(plan.files);
  ParseOptions options;
  options.legacy_properties = ctx.config().legacy_properties;
  plan_own_links(path, steps.after, world, options, plan);
  const auto relinking = relinking_of(path, world, plan.renames);
  for (const auto& source : sources_of(ground, path, plan.renames))
    INDX_TRY(plan_source(ctx, source, relinking, with_diff, plan));
  return plan;
}

Result<std::size_t> count_anchor_sources(Context& ctx, const NoteChange& patch) {
  const auto file = INDX_TRY(ctx.notes().read(patch.path));
  const auto steps = INDX_TRY(run_stepwise(patch, file.bytes));
  if (steps.renames.empty()) return std::size_t{0};
  const auto ground = INDX_TRY(ctx.links().anchor_ground(file.path));
  return sources_of(ground, file.path.str(), steps.renames).size();
}

Result<RelinkResult> apply_anchors(Context& ctx, const NotePath& path, const AnchorPlan& plan) {
  const auto world = standing_world(plan.files);
  return apply_relinks(ctx, plan, relinking_of(path.str(), world, plan.renames));
}

}  // namespace indx
