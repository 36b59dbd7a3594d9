#include "vault/section.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/line_ends.hpp"
#include "vault/link_resolver.hpp"

#include <algorithm>
#include <map>

namespace indx {
namespace {

constexpr std::size_t kMaxCandidates = 20;
constexpr std::size_t kNoHeading = static_cast<std::size_t>(-1);

std::string_view plain_text_of(const Heading& heading) {
  return trim(without_block_id(heading.text));
}

/// One heading as a caller writes it.
struct WantedHeading {
  std::string raw, text, key;  ///< as given; without marks and id; for rule 5.3
  int level = 0;               ///< 0: any

  explicit WantedHeading(std::string_view given) : raw(trim(given)) {
    std::string_view rest = raw;
    const std::size_t marks = std::min(rest.find_first_not_of('#'), rest.size());
    if (marks >= 1 && marks <= 6 && marks < rest.size() &&
        (rest[marks] == ' ' || rest[marks] == '\t')) {
      level = static_cast<int>(marks);
      rest = trim(rest.substr(marks));
      std::size_t end = rest.size();
      while (end > 0 && rest[end - 1] == '#') --end;
      if (end < rest.size() && end > 0 && (rest[end - 1] == ' ' || rest[end - 1] == '\t'))
        rest = trim(rest.substr(0, end));
    }
    text = trim(without_block_id(rest));
    key = heading_key(text);
  }

  bool is_literally(const Heading& heading) const {
    return raw == plain_text_of(heading) || raw == heading.text;
  }
  bool is_exactly(const Heading& heading) const {
    return is_literally(heading) ||
           ((level == 0 || level == heading.level) && text == plain_text_of(heading));
  }
  bool is_like(const Heading& heading) const {
    return !key.empty() && (level == 0 || level == heading.level) &&
           heading_key(plain_text_of(heading)) == key;
  }
};

/// For each heading the one whose section holds it.
std::vector<std::size_t> parents_of(const ParsedNote& note) {
  std::vector<std::size_t> parents(note.headings.size(), kNoHeading), open;
  for (std::size_t i = 0; i < note.headings.size(); ++i) {
    if (note.headings[i].nested) continue;
    while (!open.empty() && note.headings[open.back()].level >= note.headings[i].level)
      open.pop_back();
    if (!open.empty()) parents[i] = open.back();
    open.push_back(i);
  }
  return parents;
}

std::vector<std::string> path_of(const ParsedNote& note, const std::vector<std::size_t>& parents,
                                 std::size_t index) {
  std::vector<std::string> path;
  for (std::size_t at = index; at != kNoHeading; at = parents[at])
    path.emplace_back(plain_text_of(note.headings[at]));
  std::reverse(path.begin(), path.end());
  return path;
}

struct Matches {
  std::vector<std::size_t> whole, partial;  ///< paths that name each heading above, and all
  const std::vector<std::size_t>& best() const { return whole.empty() ? partial : whole; }
};

template <typename IsMatch>
Matches matches_of(const ParsedNote& note, const std::vector<WantedHeading>& wanted, bool is_path,
                   const std::vector<std::size_t>& parents, const IsMatch& is_match) {
  Matches found;
  for (std::size_t i = 0; i < note.headings.size(); ++i) {
    if (note.headings[i].nested || !is_match(wanted.back(), note.headings[i])) continue;
    std::size_t left = wanted.size() - 1;
    bool gap = false;
    std::size_t at = parents[i];
    for (; at != kNoHeading && left > 0; at = parents[at]) {
      if (is_match(wanted[left - 1], note.headings[at]))
        --left;
      else
        gap = true;
    }
    if (left > 0) continue;
    found.partial.push_back(i);
    if (is_path && !gap && at == kNoHeading) found.whole.push_back(i);
  }
  return found;
}

Json heading_candidates(const ParsedNote& note, const std::vector<std::size_t>& parents,
                        const std::vector<std::size_t>& indexes, bool counted) {
  Json list = Json::array();
  for (std::size_t i = 0; i < indexes.size() && i < kMaxCandidates; ++i) {
    const Heading& heading = note.headings[indexes[i]];
    Json one{{"line", heading.line},
             {"level", heading.level},
             {"text", std::string(plain_text_of(heading))},
             {"path", path_of(note, parents, indexes[i])}};
    if (counted) one["occurrence"] = i + 1;
    list.push_back(std::move(one));
  }
  return list;
}

std::string spoken(const HeadingAddress& address) {
  return replace_invalid_utf8(address.heading_path.empty() ? address.heading
                                                           : join(address.heading_path, " > "));
}

/// All headings that can be meant, those with similar words first.
Error no_such_heading(const ParsedNote& note, const HeadingAddress& address,
                      const std::vector<std::size_t>& parents, const WantedHeading& wanted) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < note.headings.size(); ++i)
    if (!note.headings[i].nested) all.push_back(i);
  if (!wanted.key.empty())
    std::stable_partition(all.begin(), all.end(), [&](std::size_t i) {
      const std::string key = heading_key(plain_text_of(note.headings[i]));
      return !key.empty() && (key.find(wanted.key) != key.npos || wanted.key.find(key) != key.npos);
    });
  return make_error(
      Reason::TargetNotFound,
      cat("The note has no heading `", spoken(address),
          "`; take one of the candidates. A heading is never made by an edit inside a section."),
      Json{{"heading", spoken(address)},
           {"candidates", heading_candidates(note, parents, all, false)},
           {"total", all.size()}});
}

}  // namespace

Result<std::size_t> find_heading(const ParsedNote& note, const HeadingAddress& address) {
  const bool is_path = !address.heading_path.empty();
  if (address.is_empty()) return invalid("A heading, or a heading_path, is needed.");
  std::vector<WantedHeading> wanted;
  for (const std::string& name : address.heading_path) wanted.emplace_back(name);
  if (!is_path) wanted.emplace_back(address.heading);
  const auto parents = parents_of(note);
  // A text that ends like a block id, or begins like marks, is first taken as it stands.
  Matches found = matches_of(
      note, wanted, is_path, parents,
      [](const WantedHeading& one, const Heading& heading) { return one.is_literally(heading); });
  if (found.partial.empty())
    found = matches_of(
        note, wanted, is_path, parents,
        [](const WantedHeading& one, const Heading& heading) { return one.is_exactly(heading); });
  if (found.partial.empty())
    found = matches_of(
        note, wanted, is_path, parents,
        [](const WantedHeading& one, const Heading& heading) { return one.is_like(heading); });
  const std::vector<std::size_t>& best = found.best();
  if (best.empty()) return no_such_heading(note, address, parents, wanted.back());
  if (address.occurrence > 0) {
    const auto place = static_cast<std::size_t>(address.occurrence);
    if (place <= best.size()) return best[place - 1];
    return make_error(Reason::TargetNotFound,
                      cat("`", spoken(address), "` occurs ", best.size(), " times, not ",
                          address.occurrence, "."),
                      Json{{"heading", spoken(address)},
                           {"candidates", heading_candidates(note, parents, best, true)},
                           {"total", best.size()}});
  }
  if (best.size() == 1) return best.front();
  return make_error(Reason::Ambiguous,
                    cat("`", spoken(address), "` names ", best.size(),
                        " headings; add `occurrence`, or name the headings above in "
                        "`heading_path`."),
                    Json{{"heading", spoken(address)},
                         {"candidates", heading_candidates(note, parents, best, true)},
                         {"total", best.size()}});
}

std::string_view plain_block_id(std::string_view id) {
  id = trim(id);
  if (id.starts_with('^')) id.remove_prefix(1);
  return id;
}

Result<const Block*> find_block(const ParsedNote& note, std::string_view id) {
  id = plain_block_id(id);
  const std::string key = fold_case(id);
  for (const Block& block : note.blocks)
    if (fold_case(block.id) == key) return &block;
  Json candidates = Json::array();
  for (std::size_t i = 0; i < note.blocks.size() && i < kMaxCandidates; ++i)
    candidates.push_back(Json{{"block_id", note.blocks[i].id}, {"line", note.blocks[i].line}});
  return make_error(
      Reason::TargetNotFound,
      cat("The note has no block `^", replace_invalid_utf8(id), "`; take one of the candidates."),
      Json{{"block_id", replace_invalid_utf8(id)},
           {"candidates", std::move(candidates)},
           {"total", note.blocks.size()}});
}

std::vector<std::string> heading_path_of(const ParsedNote& note, std::size_t index) {
  return path_of(note, parents_of(note), index);
}

std::vector<HeadingAddress> heading_addresses(const ParsedNote& note) {
  const auto parents = parents_of(note);
  std::vector<HeadingAddress> addresses(note.headings.size());
  std::map<std::vector<std::string>, std::vector<std::size_t>> uses;
  for (std::size_t i = 0; i < note.headings.size(); ++i) {
    if (note.headings[i].nested) continue;
    addresses[i].heading_path = path_of(note, parents, i);
    uses[addresses[i].heading_path].push_back(i);
  }
  for (const auto& [path, indexes] : uses)
    for (std::size_t n = 0; indexes.size() > 1 && n < indexes.size(); ++n)
      addresses[indexes[n]].occurrence = static_cast<int>(n) + 1;
  return addresses;
}

NoteSection section_at(const ParsedNote& note, std::size_t size, std::size_t index,
                       bool own_text_only) {
  const Heading& heading = note.headings[index];
  NoteSection section{index, heading.begin, std::min(heading.content, size), size, {}};
  for (std::size_t i = index + 1; i < note.headings.size(); ++i) {
    const Heading& other = note.headings[i];
    if (other.nested || (!own_text_only && other.level > heading.level)) continue;
    section.end = other.begin;
    section.next = i;
    break;
  }
  return section;
}

Result<Anchor> find_anchor(const ParsedNote& note, std::size_t size, std::string_view text) {
  text = trim(text);
  if (text.starts_with('#')) text.remove_prefix(1);
  if (text.starts_with('^')) {
    const Block* block = INDX_TRY(find_block(note, text));
    return Anchor{Anchor::Kind::Block, static_cast<std::size_t>(block - note.blocks.data()),
                  block->line, block->begin, block->end};
  }
  NoteAnchors anchors;
  for (const Heading& heading : note.headings)
    anchors.headings.push_back(
        {heading.level, heading_key(without_block_id(heading.text)), heading.line});
  const std::optional<int> line = find_subpath(text, anchors);
  const std::string slug = fold_case(text);
  for (std::size_t i = 0; i < note.headings.size(); ++i) {
    const Heading& heading = note.headings[i];
    if (line ? heading.line != *line : fold_case(heading.slug) != slug) continue;
    const std::size_t end = heading.nested ? heading.content : section_at(note, size, i).end;
    return Anchor{Anchor::Kind::Heading, i, heading.line, heading.begin, end};
  }
  return no_such_heading(note, {.heading = std::string(text)}, parents_of(note),
                         WantedHeading(text));
}

int last_line_before(std::string_view bytes, std::size_t begin, int line, std::size_t end) {
  int last = line;
  for (std::size_t at = begin; at < end;) {
    at = next_line_of(bytes, line_end_of(bytes, at));
    if (at < end) ++last;
  }
  return last;
}

}  // namespace indx
