#include "ops/ai/relate_pool.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "ops/links.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/retrieval.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr std::size_t kPoolDepth = 50, kFilteredDepth = 400;
constexpr int kWalkPage = 1000, kMostWalkPages = 5, kMostMentions = 50;
constexpr std::size_t kMostShared = 5;
constexpr std::size_t kRareTagNotes = 5, kRareTagShare = 20;  // of the notes: one in twenty

std::string folder_of_note(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

/// The text of the note without links and what is no prose, for the names that stand in it.
std::string unlinked_text(const AiNote& source) {
  std::string text = source.file.bytes;
  const auto blank = [&](std::size_t begin, std::size_t end) {
    for (auto i = begin; i < std::min(end, text.size()); ++i)
      if (text[i] != '\n') text[i] = ' ';
  };
  blank(0, source.note->frontmatter.body_begin);
  for (const auto& link : source.note->links) blank(link.begin, link.end);
  for (const auto& [begin, end] : masked_ranges(source.file.bytes)) blank(begin, end);
  return text;
}

class PoolBuilder {
 public:
  PoolBuilder(Context& lane, const AiNote& source, const RelateGround& ground, RelateMode mode)
      : lane_(lane), source_(source), ground_(ground), mode_(mode) {}

  Result<std::vector<PooledNote>> best(std::size_t most) {
    corpus_ = INDX_TRY(lane_.index().corpus());
    body_ = std::string_view(source_.file.bytes).substr(source_.note->frontmatter.body_begin);
    text_ = cat(title_of(*source_.note, source_.file.path), "\n", body_);
    cosines_ = corpus_->cosines(text_);
    if (mode_ != RelateMode::Lexical) INDX_TRY(look_at_vectors());
    INDX_TRY(look_at_links());
    if (mode_ != RelateMode::Semantic) {
      look_at_words();
      INDX_TRY(look_at_mentions());
    }
    return ranked(most);
  }

 private:
  const std::string& own_path() const { return source_.file.path.str(); }

  bool may_be_candidate(const std::string& path) const {
    if (path == own_path() || !path.ends_with(".md")) return false;
    if (ground_.may) return ground_.may->contains(path);
    return ai_may_read(lane_.config().ai, path);
  }

  PooledNote& add(const std::string& path) {
    auto& note = pool_[path];
    note.facts.path = path;
    return note;
  }

  void look_at_words() {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < cosines_.size(); ++i)
      if (cosines_[i] > 0 && may_be_candidate(corpus_->path(i))) found.push_back(i);
    const auto count = std::min(kPoolDepth, found.size());
    std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count),
                      found.end(), [&](std::size_t a, std::size_t b) {
                        return cosines_[a] != cosines_[b] ? cosines_[a] > cosines_[b]
                                                          : corpus_->path(a) < corpus_->path(b);
                      });
    for (std::size_t i = 0; i < count; ++i) add(corpus_->path(found[i]));
  }

  Status look_at_vectors() {
    NoteFilter filter;
    auto depth = kPoolDepth;
    if (ground_.asked && ground_.asked->kind == "glob")
      filter.path_glob = ground_.asked->path_glob;
    else if (ground_.asked && ground_.asked->kind == "tag")
      filter.tags = {plain_tag(ground_.asked->tag)};
    else if (ground_.asked)
      depth = kFilteredDepth;
    const auto chunks = lane_.retrieval().near_note(source_.file.path, std::move(filter), depth);
    if (!chunks && chunks.error().reason == Reason::NotFound) return {};  // not indexed yet
    if (!chunks) return chunks.error();
    std::size_t count = 0;
    for (const auto& chunk : *chunks) {
      if (!may_be_candidate(chunk.path)) continue;
      if (!pool_.contains(chunk.path) && ++count > kPoolDepth) break;
      auto& meaning = add(chunk.path).facts.meaning;
      if (!meaning) meaning = chunk.similarity;  // its nearest section came first
    }
    return {};
  }

  /// Links around the source that AI may know of; none for a note that is not indexed yet.
  Result<std::vector<std::pair<std::string, std::string>>> links_around() {
    std::vector<std::pair<std::string, std::string>> links;
    NeighborQuestion question;
    question.depth = 2;
    question.limit = kWalkPage;
    for (int page = 0; page < kMostWalkPages; ++page) {
      const auto found = lane_.links().neighbors(source_.file.path, question);
      if (!found && found.error().reason == Reason::NotFound) break;
      if (!found) return found.error();
      for (const auto& edge : found->edges)
        if (ai_may_read(lane_.config().ai, edge.source) &&
            ai_may_read(lane_.config().ai, edge.target))
          links.emplace_back(edge.source, edge.target);
      if (!found->page.next_cursor) break;
      question.cursor = *found->page.next_cursor;
    }
    return links;
  }

  Status look_at_links() {
    const auto links = INDX_TRY(links_around());
    for (const auto& [from, to] : links) {
      if (from == own_path()) linked_.insert(to);
      if (to == own_path()) linked_.insert(from);
    }
    overlaps_ = adamic_adar(own_path(), links);
    if (mode_ == RelateMode::Semantic) return {};
    std::vector<std::pair<double, std::string>> found;
    for (const auto& [path, overlap] : overlaps_)
      if (may_be_candidate(path)) found.emplace_back(-overlap.value, path);
    std::sort(found.begin(), found.end());
    if (found.size() > kPoolDepth) found.resize(kPoolDepth);
    for (const auto& [value, path] : found) add(path);
    return {};
  }

  Status look_at_mentions() {
    for (const auto& path : ground_.names.find(unlinked_text(source_)))
      if (may_be_candidate(path)) add(path).facts.is_mentioned = true;
    const auto found = lane_.links().mentions(source_.file.path, kMostMentions, "");
    if (!found && found.error().reason == Reason::NotFound) return {};
    if (!found) return found.error();
    for (const auto& row : found->rows)
      if (may_be_candidate(row.path)) add(row.path).facts.is_mentioned = true;
    return {};
  }

  bool is_rare(const std::string& folded_tag) const {
    const auto it = ground_.tag_counts.find(folded_tag);
    const auto most = std::max(kRareTagNotes, ground_.notes / kRareTagShare);
    return it != ground_.tag_counts.end() && static_cast<std::size_t>(it->second) <= most;
  }

  /// What is known of a note whichever way it came into the pool.
  void complete(PooledNote& note) const {
    auto& facts = note.facts;
    if (const auto overlap = overlaps_.find(facts.path); overlap != overlaps_.end())
      facts.links = overlap->second.value;
    const auto folder = folder_of_note(own_path());
    facts.is_same_folder = !folder.empty() && folder_of_note(facts.path) == folder;
    note.is_linked = linked_.contains(facts.path);
    if (note.is_linked) facts.is_mentioned = false;  // it is more than that
    if (const auto document = corpus_->find(facts.path)) facts.words = cosines_[*document];
  }

  /// What only the best are asked for.
  void explain(PooledNote& note) const {
    const auto& path = note.facts.path;
    note.shared_words = corpus_->shared_words(text_, path, kMostShared);
    if (const auto overlap = overlaps_.find(path); overlap != overlaps_.end())
      note.shared_links = overlap->second.via;
    if (note.shared_links.size() > kMostShared) note.shared_links.resize(kMostShared);
    const auto document = corpus_->find(path);
    if (!document) return;
    std::set<std::string> own, shared;
    for (const auto& use : source_.note->tags) own.insert(fold_case(use.tag));
    for (const auto& tag : corpus_->tags(*document))
      if (const auto folded = fold_case(tag); own.contains(folded) && is_rare(folded))
        if (shared.insert(folded).second) note.shared_tags.push_back(tag);
    std::sort(note.shared_tags.begin(), note.shared_tags.end());
  }

  std::vector<PooledNote> ranked(std::size_t most) {
    std::vector<RelateCandidate> candidates;
    for (auto& [path, note] : pool_) {
      complete(note);
      candidates.push_back(note.facts);
    }
    std::vector<PooledNote> notes;
    for (const auto& rank : rank_related(candidates, mode_, most)) {
      auto& note = pool_.at(candidates[rank.index].path);
      note.score = rank.score;
      note.similarity = rank.similarity;
      explain(note);
      notes.push_back(std::move(note));
    }
    return notes;
  }

  Context& lane_;
  const AiNote& source_;
  const RelateGround& ground_;
  const RelateMode mode_;
  std::shared_ptr<const Corpus> corpus_;  // shared: with the next who asks for it
  std::string_view body_;
  std::string text_;
  std::vector<double> cosines_;
  std::set<std::string> linked_;
  std::map<std::string, LinkOverlap> overlaps_;
  std::map<std::string, PooledNote> pool_;
};

}  // namespace

Result<RelateGround> relate_ground(Context& ctx, const std::optional<AiScope>& asked,
                                   const std::optional<std::vector<std::string>>& may) {
  RelateGround ground;
  ground.asked = asked;
  if (may) ground.may.emplace(may->begin(), may->end());
  const auto tags = INDX_TRY(ctx.index().tags());
  for (const auto& tag : tags) ground.tag_counts[fold_case(tag.tag)] += tag.count;
  const auto corpus = INDX_TRY(ctx.index().corpus());
  ground.notes = corpus->size();
  for (std::size_t i = 0; i < corpus->size(); ++i) {
    const auto& path = corpus->path(i);
    const bool is_wanted =
        ground.may ? ground.may->contains(path) : ai_may_read(ctx.config().ai, path);
    const auto note = NotePath::parse(path);
    if (is_wanted && note) ground.names.add(path, note->stem());
  }
  return ground;
}

Result<std::vector<PooledNote>> relate_pool(Context& lane, const AiNote& source,
                                            const RelateGround& ground, RelateMode mode,
                                            std::size_t most) {
  return PoolBuilder(lane, source, ground, mode).best(most);
}

}  // namespace indx
