#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/link_rewrite.hpp"
#include "vault/note_path.hpp"

#include <algorithm>

namespace indx {
namespace {

std::string_view folder_part(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == path.npos ? std::string_view() : path.substr(0, slash);
}

std::string_view name_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool ends_in_md(std::string_view path) {
  return path.size() > 3 && fold_case(path.substr(path.size() - 3)) == ".md" &&
         path[path.size() - 4] != '/';
}

std::string folded(std::string_view path) { return fold_case(replace_all(path, "\xC2\xA0", " ")); }

/// Whether the text, with or without `.md`, is this path.
bool spells(std::string_view text, std::string_view path) {
  const auto key = folded(text), wanted = folded(path);
  return key == wanted || key + ".md" == wanted;
}

std::string collapsed(std::string_view folder, std::string_view path) {
  std::vector<std::string> parts;
  for (auto& part : split(folder.empty() ? std::string(path) : cat(folder, "/", path), '/')) {
    if (part.empty() || part == ".") continue;
    if (part == ".." && !parts.empty())
      parts.pop_back();
    else
      parts.push_back(std::move(part));
  }
  return join(parts, "/");
}

/// `to` as seen from a folder: `../x/y.md`.
std::string relative_path(std::string_view folder, std::string_view to) {
  const auto from = folder.empty() ? std::vector<std::string>() : split(folder, '/');
  const auto parts = split(to, '/');
  std::size_t common = 0;
  while (common < from.size() && common + 1 < parts.size() && from[common] == parts[common])
    ++common;
  std::string out;
  for (auto i = common; i < from.size(); ++i) out += "../";
  for (auto i = common; i < parts.size(); ++i) (out += i > common ? "/" : "") += parts[i];
  return out;
}

enum class PathStyle : std::uint8_t {
  Name,          ///< `Note`
  FromRoot,      ///< `a/Note`, the whole path
  Suffix,        ///< the last components of the path
  Slash,         ///< `/a/Note`
  Relative,      ///< `./Note`, `../Note`
  BareRelative,  ///< `sub/Note.md` in a Markdown link, from the note's folder
};

PathStyle style_of(const Link& link, const std::string& source, const std::string& reached) {
  const std::string_view target = link.target;
  if (target.starts_with("./") || target.starts_with("../")) return PathStyle::Relative;
  if (target.starts_with('/')) return PathStyle::Slash;
  if (target.find('/') == target.npos) return PathStyle::Name;
  if (spells(target, reached)) return PathStyle::FromRoot;
  if (link.syntax == LinkSyntax::Markdown &&
      spells(collapsed(folder_part(source), target), reached))
    return PathStyle::BareRelative;
  return PathStyle::Suffix;
}

/// How a path is written in one link.
struct Spelling {
  PathStyle style = PathStyle::Name;
  bool keeps_md = false;
  bool has_dot = false;  ///< `./`
  std::size_t components = 1;

  std::string of(const std::string& path, std::string_view source) const {
    std::string text = path;
    if (style == PathStyle::Name) {
      text = name_part(path);
    } else if (style == PathStyle::Slash) {
      text = "/" + path;
    } else if (style == PathStyle::Suffix) {
      auto parts = split(path, '/');
      if (parts.size() > components)
        parts.erase(parts.begin(), parts.end() - static_cast<std::ptrdiff_t>(components));
      text = join(parts, "/");
    } else if (style == PathStyle::Relative || style == PathStyle::BareRelative) {
      text = relative_path(folder_part(source), path);
      // From the root a bare path with `..` in it would be looked for by name.
      const bool needs_dot = has_dot || style == PathStyle::Relative;
      if (needs_dot && !text.starts_with("../")) text.insert(0, "./");
    }
    if (!keeps_md && ends_in_md(text)) text.resize(text.size() - 3);
    return text;
  }
};

/// Whether the text can stand in a link of this kind and is read back as it is.
bool can_be_written(std::string_view text, LinkSyntax syntax) {
  if (text.empty() || trim(text) != text) return false;
  if (syntax == LinkSyntax::Markdown) return true;  // what it cannot carry is encoded
  return text.find_first_of("#|\r\n") == text.npos && text.find("[[") == text.npos &&
         text.find("]]") == text.npos && text.back() != ']' && text.front() != '[' &&
         text.back() != '\\' && text.find("://") == text.npos;
}

}  // namespace

MoveWorld::ByKey MoveWorld::by_key(const std::map<std::string, std::vector<std::string>>& files) {
  ByKey result;
  for (const auto& [key, paths] : files) {
    std::vector<LinkCandidates::File> candidates;
    for (const auto& path : paths) candidates.push_back({0, path});
    result.emplace(key, LinkCandidates(std::move(candidates)));
  }
  return result;
}

MoveWorld::MoveWorld(const std::vector<FileMove>& moves,
                     const std::map<std::string, std::vector<std::string>>& files, PathScope scope)
    : scope_(std::move(scope)) {
  for (const auto& move : moves) moves_.emplace(move.from, move.to);
  before_ = by_key(files);
  std::map<std::string, std::vector<std::string>> moved;
  for (const auto& [key, paths] : files)
    for (const auto& path : paths)
      if (!moves_.contains(path)) moved[key].push_back(path);
  for (const auto& move : moves) moved[name_key_of_path(move.to)].push_back(move.to);
  after_ = by_key(moved);
}

const std::string& MoveWorld::place_after(const std::string& path) const {
  const auto found = moves_.find(path);
  return found == moves_.end() ? path : found->second;
}

std::optional<std::string> MoveWorld::before(std::string_view source, std::string_view target,
                                             LinkSyntax syntax) const {
  const auto found = before_.find(name_key_of_path(target));
  if (found == before_.end()) return std::nullopt;
  const auto* file = found->second.resolve(source, target, syntax);
  return file == nullptr ? std::nullopt : std::optional(file->path);
}

std::optional<std::string> MoveWorld::after(std::string_view source, std::string_view target,
                                            LinkSyntax syntax) const {
  const auto found = after_.find(name_key_of_path(target));
  if (found == after_.end()) return std::nullopt;
  const auto* file = found->second.resolve(source, target, syntax);
  return file == nullptr ? std::nullopt : std::optional(file->path);
}

Result<std::optional<NewTarget>> new_target(const Link& link, const std::string& source,
                                            const MoveWorld& world) {
  const std::optional<NewTarget> stays;
  if (link.external || link.target.empty()) return stays;
  const auto reached = world.before(source, link.target, link.syntax);
  if (!reached) return stays;
  const std::string& new_source = world.place_after(source);
  const std::string& wanted = world.place_after(*reached);
  const bool still_reaches = world.after(new_source, link.target, link.syntax) == wanted;

  Spelling spelling;
  spelling.style = style_of(link, source, *reached);
  spelling.keeps_md = link.syntax == LinkSyntax::Markdown || ends_in_md(link.target);
  spelling.has_dot = link.target.starts_with("./");
  spelling.components = split(link.target, '/').size();
  const bool is_relative =
      spelling.style == PathStyle::Relative || spelling.style == PathStyle::BareRelative;
  if (still_reaches) {
    // Relative links are kept relative to where the note is now, even where a search by name would
    // still find the file; and a new case is followed by links that had the old one.
    const bool is_respelled = wanted != *reached && folded(wanted) == folded(*reached);
    const bool was_exact = spelling.of(*reached, source) == link.target ||
                           (link.syntax == LinkSyntax::Markdown && !ends_in_md(link.target) &&
                            spelling.of(*reached, source) == link.target + ".md");
    const bool may_be_stale =
        is_relative && was_exact && (new_source != source || wanted != *reached);
    if (!(is_respelled && was_exact) && !may_be_stale) return stays;
  }
  if (!world.may_name(wanted))
    return make_error(Reason::Forbidden, "The link reaches a file outside of the caller's globs.");

  std::vector<Spelling> choices = {spelling};
  if (spelling.style == PathStyle::BareRelative)
    choices.push_back({PathStyle::Relative, spelling.keeps_md, false, 1});
  choices.push_back({PathStyle::FromRoot, spelling.keeps_md, false, 1});
  choices.push_back({PathStyle::FromRoot, true, false, 1});
  choices.push_back({PathStyle::Slash, true, false, 1});
  for (const auto& choice : choices) {
    auto text = choice.of(wanted, new_source);
    if (!can_be_written(text, link.syntax) || world.after(new_source, text, link.syntax) != wanted)
      continue;
    if (text == link.target) return stays;
    return std::optional(NewTarget{std::move(text), wanted, *reached});
  }
  return make_error(Reason::Conflict,
                    cat("No ", link.syntax == LinkSyntax::Wiki ? "wikilink" : "link", " can reach ",
                        wanted, "; rename what breaks links in its path."),
                    {{"target", link.target}, {"path", wanted}});
}

}  // namespace indx
