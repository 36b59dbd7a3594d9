#include "ops/ai/wikilink_target.hpp"

#include "base/text.hpp"
#include "ops/links.hpp"
#include "vault/link_resolver.hpp"
#include "vault/markdown.hpp"

namespace indx {
namespace {

/// The link that the target makes, when it is read back as it is written.
std::optional<Link> as_wikilink(const std::string& target) {
  const auto text = cat("[[", target, "]]");
  auto links = links_in_text(text);
  const bool is_whole = links.size() == 1 && links[0].begin == 0 && links[0].end == text.size();
  if (!is_whole || links[0].target != target || !links[0].subpath.empty() || links[0].display ||
      links[0].external)
    return std::nullopt;
  return std::move(links[0]);
}

}  // namespace

Result<std::string> wikilink_target(Context& ctx, const std::string& source, const NotePath& path) {
  const auto& whole = path.str();
  const auto without_suffix = path.is_note() ? whole.substr(0, whole.size() - 3) : whole;
  const std::string name(path.stem());
  // A note that is still to be written may get the name itself.
  const bool is_own_name = name_key_of_path(source) == name_key_of_path(whole) && source != whole;
  for (const auto& target : {name, without_suffix, whole, "/" + whole}) {
    const auto link = as_wikilink(target);
    if (!link || (is_own_name && target == name && name != without_suffix)) continue;
    const auto answer = INDX_TRY(ctx.links().resolve({source, *link}));
    const bool is_clear = target != name || answer.candidates.size() == 1;
    if (answer.path == whole && (is_clear || target == without_suffix)) return target;
  }
  return std::string();
}

}  // namespace indx
