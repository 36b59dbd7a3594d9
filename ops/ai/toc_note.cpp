#include "ops/ai/toc_note.hpp"

#include "ai/extractive/metadata_rules.hpp"
#include "ai/extractive/tagger.hpp"
#include "ai/extractive/text_tiling.hpp"
#include "ai/note_text.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "ops/ai/wikilink_target.hpp"
#include "vault/link_resolver.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace indx {
namespace {

constexpr std::size_t kMaxTocEntries = 10000, kMaxTiles = 20;
constexpr std::size_t kPhrasesOfTile = 10, kMaxTileNameBytes = 60;

/// The headings that make sections.
std::vector<const Heading*> own_headings(const ParsedNote& note) {
  std::vector<const Heading*> headings;
  for (const auto& heading : note.headings)
    if (!heading.nested) headings.push_back(&heading);
  return headings;
}

/// Subpaths of links to the headings of one note.
class HeadingLinks {
 public:
  explicit HeadingLinks(const ParsedNote& note) {
    for (const auto& heading : note.headings) {
      anchors_.headings.push_back(
          {heading.level, heading_key(without_block_id(heading.text)), heading.line});
      first_line_.try_emplace(anchors_.headings.back().key, heading.line);
    }
  }

  /// The shortest that reaches the heading, from its own text to those of all headings above it;
  /// empty: none does. `above`: the headings over it, the top one first.
  std::string to(const Heading& heading, const std::vector<const Heading*>& above) const {
    const auto key = heading_key(without_block_id(heading.text));
    if (key.empty()) return {};
    auto subpath = written(heading);
    if (heading_key(subpath) != key || subpath.starts_with('^')) return {};  // `^`: a block
    const auto first = first_line_.find(key);
    if (first != first_line_.end() && first->second == heading.line) return subpath;
    for (auto it = above.rbegin(); it != above.rend(); ++it) {
      subpath = cat(written(**it), "#", subpath);
      if (find_subpath(subpath, anchors_) == heading.line) return subpath;
    }
    return {};
  }

 private:
  /// The text without what a wikilink cannot hold; links compare without it too.
  static std::string written(const Heading& heading) {
    const auto text = replace_invalid_utf8(without_block_id(heading.text));
    std::string out;
    for (const char c : text) {
      const bool is_kept = std::string_view("[]|#\\%$<>").find(c) == std::string_view::npos &&
                           static_cast<unsigned char>(c) >= 0x20;
      const char put = is_kept ? c : ' ';
      if (put != ' ' || (!out.empty() && out.back() != ' ')) out += put;
    }
    return std::string(trim(out));
  }

  NoteAnchors anchors_;
  std::map<std::string, int> first_line_;
};

class NoteToc {
 public:
  NoteToc(const AiNote& source, std::string target, const NoteTocOptions& options)
      : source_(source),
        target_(std::move(target)),
        options_(options),
        text_(source.file.bytes),
        links_(*source.note) {}

  TocPlan run() {
    plan_.total_tokens = estimate_tokens(source_.file.bytes);
    const auto headings = own_headings(*source_.note);
    add_headings(headings);
    if (headings.empty())
      add_tiles(text_.body_begin(), 0);
    else if (headings.size() == 1 && options_.depth > 1)
      add_tiles(headings[0]->content, 1);
    return std::move(plan_);
  }

 private:
  void add_headings(const std::vector<const Heading*>& headings) {
    int top = 6;
    for (const auto* heading : headings) top = std::min(top, heading->level);
    std::vector<const Heading*> above;
    for (std::size_t i = 0; i < headings.size(); ++i) {
      const auto& heading = *headings[i];
      while (!above.empty() && above.back()->level >= heading.level) above.pop_back();
      if (heading.level - top < options_.depth) {
        if (plan_.entries.size() == kMaxTocEntries) return tell_cut(headings.size());
        TocEntry entry;
        entry.title = plain_title(heading.text);
        if (entry.title.empty()) entry.title = heading.slug;
        entry.level = static_cast<int>(above.size());
        entry.anchor = heading.slug;
        entry.link = link_to(links_.to(heading, above));
        const auto end =
            i + 1 < headings.size() ? headings[i + 1]->begin : source_.file.bytes.size();
        if (options_.with_evidence) cite(lead_sentence(text_, heading.content, end), entry);
        plan_.entries.push_back(std::move(entry));
      }
      above.push_back(&heading);
    }
  }

  void tell_cut(std::size_t headings) {
    plan_.warnings.push_back(ai_warning(
        "truncated", source_.file.path.str(),
        cat("the note has ", headings, " headings; the first ", kMaxTocEntries, " are shown")));
  }

  /// What a text without headings is about, part by part. One part is no table of contents.
  void add_tiles(std::size_t begin, int level) {
    const auto tiles = text_tiles(text_.prose(), begin, source_.file.bytes.size(), kMaxTiles);
    if (tiles.size() < 2) return;
    std::set<std::string> used;
    for (const auto& tile : tiles) {
      TocEntry entry;
      const auto sentence = lead_sentence(text_, tile.begin, tile.end);
      entry.title = name_of(tile, used);
      if (entry.title.empty() && sentence)
        entry.title = plain_title(prefix_at_grapheme(sentence->quote, kMaxTileNameBytes));
      if (entry.title.empty()) continue;  // no words
      entry.level = level;
      cite(sentence, entry);  // there is no heading that says where it stands
      plan_.entries.push_back(std::move(entry));
    }
  }

  std::string name_of(const TextTile& tile, std::set<std::string>& used) const {
    const auto prose = std::string_view(text_.prose()).substr(tile.begin, tile.end - tile.begin);
    for (const auto& phrase : yake_keyphrases(prose, kPhrasesOfTile))
      if (used.insert(phrase.folded).second) return plain_title(phrase.text);
    return {};
  }

  void cite(const std::optional<Evidence>& evidence, TocEntry& entry) const {
    if (evidence && !evidence->quote.empty())
      entry.evidence = to_citation(*evidence, source_.file.path.str(), source_.file.etag);
  }

  std::string link_to(const std::string& subpath) const {
    return target_.empty() || subpath.empty() ? "" : cat(target_, "#", subpath);
  }

  const AiNote& source_;
  const std::string target_;
  const NoteTocOptions& options_;
  const NoteText text_;
  const HeadingLinks links_;
  TocPlan plan_;
};

}  // namespace

Result<TocPlan> plan_note_toc(Context& ctx, const ScopedNote& scoped,
                              const NoteTocOptions& options) {
  const AiNote source = INDX_TRY(read_scoped(ctx, scoped));
  std::string target;
  if (options.with_links) target = INDX_TRY(wikilink_target(ctx, "", source.file.path));
  return NoteToc(source, std::move(target), options).run();
}

}  // namespace indx
