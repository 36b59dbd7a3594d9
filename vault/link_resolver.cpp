#include "vault/link_resolver.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr std::string_view kNoteSuffix = ".md";

/// Rule 5.2 compares NFC and folded; rule 1.4 takes a no-break space for a space and `\` for `/`.
std::string fold_path(std::string_view path) {
  return fold_case(replace_all(path, "\xC2\xA0", " "));
}

std::string_view last_component(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string_view folder_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == path.npos ? std::string_view() : path.substr(0, slash);
}

std::string join_path(std::string_view folder, std::string_view name) {
  return folder.empty() ? std::string(name) : cat(folder, "/", name);
}

bool ends_with_components(std::string_view path, std::string_view tail) {
  if (!path.ends_with(tail)) return false;
  return path.size() == tail.size() || path[path.size() - tail.size() - 1] == '/';
}

/// `a/./b/../c` below `folder`; nullopt when it leaves the vault.
std::optional<std::string> collapse(std::string_view folder, std::string_view path) {
  std::vector<std::string> parts;
  for (const auto& part : split(join_path(folder, path), '/')) {
    if (part.empty() || part == ".") continue;
    if (part != "..")
      parts.push_back(part);
    else if (parts.empty())
      return std::nullopt;
    else
      parts.pop_back();
  }
  return join(parts, "/");
}

std::string strip_note_suffix(std::string key) {
  while (key.size() > kNoteSuffix.size() && key.ends_with(kNoteSuffix))
    key.resize(key.size() - kNoteSuffix.size());
  return key;
}

bool is_relative(std::string_view target) {
  return target.starts_with("./") || target.starts_with("../");
}

}  // namespace

std::string name_key_of_path(std::string_view path) {
  return strip_note_suffix(fold_path(last_component(path)));
}

std::optional<std::string> name_key_of_target(std::string_view target) {
  if (target.empty()) return std::nullopt;
  return name_key_of_path(target);
}

std::string target_key(std::string_view target) { return strip_note_suffix(fold_path(target)); }

LinkCandidates::LinkCandidates(std::vector<File> files) {
  for (auto& file : files) {
    auto folded = fold_path(file.path);
    const auto length = count_code_points(folded);
    entries_.push_back({std::move(file), std::move(folded), length});
  }
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return a.length != b.length ? a.length < b.length : a.file.path < b.file.path;
  });
  for (const auto& entry : entries_) by_path_.emplace(entry.folded, &entry);
}

// Among files that differ only by case or composition the exact spelling wins, then byte order.
const LinkCandidates::File* LinkCandidates::by_spelling(const Entry& found,
                                                        std::string_view written) const {
  const Entry* best = &found;
  const auto is_exact = [&](const Entry& entry) {
    const std::string_view path = entry.file.path;
    return ends_with_components(path, written) ||
           ends_with_components(path, cat(written, kNoteSuffix));
  };
  const auto [begin, end] = by_path_.equal_range(found.folded);
  for (auto it = begin; it != end; ++it) {
    const Entry& other = *it->second;
    const bool exact = is_exact(other), best_exact = is_exact(*best);
    if (exact != best_exact ? exact : other.file.path < best->file.path) best = &other;
  }
  return &best->file;
}

const LinkCandidates::File* LinkCandidates::exact(const std::string& folded,
                                                  std::string_view written) const {
  const auto found = by_path_.find(folded);
  return found == by_path_.end() ? nullptr : by_spelling(*found->second, written);
}

const LinkCandidates::File* LinkCandidates::exact_or_note(const std::string& folded,
                                                          std::string_view written) const {
  const File* file = exact(folded, written);
  return file != nullptr ? file : exact(cat(folded, kNoteSuffix), written);
}

const LinkCandidates::File* LinkCandidates::shortest_ending(const std::string& folded,
                                                            std::string_view written) const {
  const auto note = cat(folded, kNoteSuffix);
  for (const auto& entry : entries_)
    if (ends_with_components(entry.folded, folded) || ends_with_components(entry.folded, note))
      return by_spelling(entry, written);
  return nullptr;
}

const LinkCandidates::File* LinkCandidates::resolve(std::string_view source,
                                                    std::string_view target,
                                                    LinkSyntax syntax) const {
  if (entries_.empty()) return nullptr;
  if (syntax == LinkSyntax::Path) return exact(fold_path(target), target);
  const auto own_folder = folder_of(source);
  if (is_relative(target)) {
    const auto path = collapse(own_folder, target);
    return path ? exact_or_note(fold_path(*path), *path) : nullptr;
  }
  if (target.front() == '/') return exact_or_note(fold_path(target.substr(1)), target.substr(1));
  const auto folded = fold_path(target);
  if (const File* file = exact_or_note(folded, target)) return file;
  const auto beside = join_path(own_folder, target);
  if (target.find('/') == target.npos) {
    // Both spellings count alike in step 5: of two neighbours the shorter path, then bytes.
    if (const File* file = exact_or_note(fold_path(beside), beside)) return file;
  } else if (syntax == LinkSyntax::Markdown) {
    const auto path = collapse(own_folder, target);
    const File* file = path ? exact_or_note(fold_path(*path), *path) : nullptr;
    if (file != nullptr) return file;
  }
  return shortest_ending(folded, target);
}

std::vector<const LinkCandidates::File*> LinkCandidates::matches(std::string_view target) const {
  while (target.starts_with("../")) target.remove_prefix(3);
  if (target.starts_with("./")) target.remove_prefix(2);
  if (target.starts_with('/')) target.remove_prefix(1);
  const auto folded = fold_path(target);
  const auto note = cat(folded, kNoteSuffix);
  std::vector<const File*> found;
  for (const auto& entry : entries_)
    if (ends_with_components(entry.folded, folded) || ends_with_components(entry.folded, note))
      found.push_back(&entry.file);
  return found;
}

std::string heading_key(std::string_view text) {
  std::string spaced;
  for (std::size_t i = 0; i < text.size();) {
    const auto point = decode_at(text, i);
    const auto c = point.value;
    const bool kept =
        is_letter(c) || is_digit(c) || is_mark(c) || is_emoji_or_symbol(c) || c == '_' || c == '-';
    if (kept)
      append_utf8(spaced, c);
    else if (!spaced.empty() && spaced.back() != ' ')
      spaced += ' ';
    i += point.length;
  }
  return fold_case(trim(spaced));
}

std::string_view without_block_id(std::string_view heading) {
  constexpr std::string_view kIdCharacters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-";
  const auto mark = heading.rfind(" ^");
  const bool is_id = mark != heading.npos && mark + 2 < heading.size() &&
                     heading.find_first_not_of(kIdCharacters, mark + 2) == heading.npos;
  return is_id ? heading.substr(0, mark) : heading;
}

std::optional<int> find_subpath(std::string_view subpath, const NoteAnchors& anchors) {
  const auto id = trim(subpath);
  if (id.starts_with('^')) {
    const auto key = fold_case(id.substr(1));
    const auto found =
        std::find_if(anchors.blocks.begin(), anchors.blocks.end(),
                     [&](const NoteAnchors::Block& block) { return block.id == key; });
    return found == anchors.blocks.end() ? std::nullopt : std::optional(found->line);
  }
  std::size_t from = 0, end = anchors.headings.size();
  int above = 0;  // level of the heading found last
  std::optional<int> line;
  for (const auto& part : split(subpath, '#')) {
    const auto key = heading_key(part);
    if (key.empty()) continue;
    while (from < end &&
           !(anchors.headings[from].level > above && anchors.headings[from].key == key))
      ++from;
    if (from == end) return std::nullopt;
    above = anchors.headings[from].level;
    line = anchors.headings[from].line;
    ++from;
    auto section_end = from;
    while (section_end < end && anchors.headings[section_end].level > above) ++section_end;
    end = section_end;
  }
  return line;
}

}  // namespace indx
