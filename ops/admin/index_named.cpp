#include "ops/admin/index_named.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace indx {
namespace {

/// So many are read again after a crash at most; each slice costs a commit of either database.
constexpr std::size_t kFilesASlice = 200;

Json to_json(const Index::NamedFiles& named) {
  return {
      {"to_index", named.to_index}, {"unchanged", named.unchanged}, {"unmatched", named.unmatched}};
}

void add_counts(Json& counts, const Json& some) {
  for (const auto* name : {"created", "updated", "deleted", "unchanged", "failed", "took_ms"})
    counts[name] = counts.value(name, std::int64_t{0}) + some.value(name, std::int64_t{0});
}

}  // namespace

Result<std::vector<std::string>> vault_patterns(const std::vector<std::string>& paths) {
  std::vector<std::string> patterns;
  for (const auto& path : paths)
    patterns.push_back(
        path.find_first_of("*?[{") == path.npos ? INDX_TRY(NotePath::parse(path)).str() : path);
  return patterns;
}

Result<Json> index_named(Context& ctx, const std::string& key,
                         const std::vector<std::string>& patterns, bool rebuild) {
  const Json named = INDX_TRY(ctx.step(
      cat(key, "find"), Json{{"paths", patterns}, {"rebuild", rebuild}}, [&]() -> Result<Json> {
        return to_json(INDX_TRY(ctx.index().find_named(patterns, rebuild)));
      }));
  const auto files = named["to_index"].get<std::vector<std::string>>();
  Json counts{{"unmatched", named["unmatched"]}};
  add_counts(counts, Json{{"unchanged", named["unchanged"]}});
  JobProgress progress{
      .total = static_cast<std::int64_t>(files.size()), .unit = "files", .phase = "index"};
  for (std::size_t first = 0; first < files.size(); first += kFilesASlice) {
    if (ctx.cancel().is_cancelled())
      return make_error(Reason::Cancelled, "Indexing was cancelled.", counts);
    const auto from = files.begin() + static_cast<std::ptrdiff_t>(first);
    const std::vector<std::string> slice(
        from, from + static_cast<std::ptrdiff_t>(std::min(kFilesASlice, files.size() - first)));
    progress.current = slice.front();
    add_counts(counts, INDX_TRY(ctx.step(cat(key, "index/", slice.front()),
                                         Json{{"paths", slice}, {"rebuild", rebuild}},
                                         [&] { return ctx.index().index_files(slice, rebuild); })));
    progress.done += static_cast<std::int64_t>(slice.size());
    ctx.progress(progress);
  }
  return counts;
}

}  // namespace indx
