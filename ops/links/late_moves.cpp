#include "ops/links/link_apply.hpp"
#include "vault/link_resolver.hpp"

#include <algorithm>
#include <set>

namespace indx {
namespace {

std::vector<FileMove> moves_after_plan(const NotePath& from, const NotePath& to,
                                       const std::vector<std::string>& moved,
                                       const MovePlan& plan) {
  std::set<std::string> planned;
  for (const auto& move : plan.moves) planned.insert(move.from);
  std::vector<FileMove> late;
  for (const auto& file : moved) {
    FileMove move{from.str() + "/" + file, to.str() + "/" + file};
    if (!planned.contains(move.from)) late.push_back(std::move(move));
  }
  return late;
}

void add_file(std::vector<std::string>& paths, const std::string& path) {
  const auto at = std::lower_bound(paths.begin(), paths.end(), path);
  if (at == paths.end() || *at != path) paths.insert(at, path);
}

/// The plan with the late moves, made when the index knows all files at their new places.
Result<MovePlan> with_late_moves(Context& ctx, MovePlan plan, const std::vector<FileMove>& late) {
  // Asked at both places: who links to a late file names the old one, its own links are known at
  // the new one.
  std::vector<FileMove> asked = late;
  for (const auto& move : late) asked.push_back({move.to, move.to});
  const auto ground = INDX_TRY(ctx.links().move_ground(asked));
  plan.moves.insert(plan.moves.end(), late.begin(), late.end());
  std::map<std::string, std::string> old_places;
  for (const auto& move : plan.moves) old_places[move.to] = move.from;
  const auto old_place = [&](const std::string& path) {
    const auto found = old_places.find(path);
    return found == old_places.end() ? path : found->second;
  };
  for (const auto& [key, paths] : ground.files) {
    auto& known = plan.files[key];
    for (const auto& path : paths) add_file(known, old_place(path));
  }
  std::set<std::string> planned;
  for (const auto& source : plan.sources) planned.insert(source.path);
  for (const auto& now : ground.sources) {
    const auto before = old_place(now);
    if (planned.contains(before)) continue;
    const auto file = ctx.notes().read(INDX_TRY(NotePath::parse(now)));
    if (file.has_value())
      plan.sources.push_back({before, file->etag, "", 0, ""});  // counted when it is written
    else if (file.error().reason == Reason::Forbidden)
      plan.has_hidden_sources = true;
    else if (file.error().reason != Reason::NotFound)
      plan.failed.push_back({now, std::string(file.error().name()), file.error().message});
  }
  return plan;
}

}  // namespace

Status add_late_moves(Context& ctx, const NotePath& from, const NotePath& to,
                      const std::vector<std::string>& moved, MovePlan& plan) {
  const auto late = moves_after_plan(from, to, moved, plan);
  if (late.empty()) return {};
  const Json stored = INDX_TRY(ctx.step(
      "late", Json{{"from", from.str()}, {"to", to.str()}},
      [&]() -> Result<Json> { return to_json(INDX_TRY(with_late_moves(ctx, plan, late))); }));
  plan = INDX_TRY(move_plan_from_json(stored));
  return {};
}

}  // namespace indx
