#include "ops/ai/relate_steps.hpp"

#include "ai/extractive/relation_rules.hpp"
#include "ai/note_text.hpp"
#include "ai/relation.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "ops/ai/ai_grounding.hpp"
#include "ops/ai/relate_links.hpp"
#include "ops/notes/note_view.hpp"
#include "vault/link_mentions.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace indx {
namespace {

constexpr std::size_t kMostReasonParts = 5;

/// Four digits say all that there is to say, and make equal what differs in nothing else.
double rounded(double value) { return std::round(value * 1e4) / 1e4; }

/// A candidate that was read.
struct RelatedNote {
  PooledNote pooled;
  AiNote note;
  const std::string& path() const { return note.file.path.str(); }
};

std::string_view body_of(const AiNote& note) {
  return std::string_view(note.file.bytes).substr(note.note->frontmatter.body_begin);
}
std::string stem_of(const AiNote& note) { return std::string(note.file.path.stem()); }
std::string folder_of(const AiNote& note) {
  const auto& path = note.file.path.str();
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

std::vector<RelateReason> reasons_of(const PooledNote& pooled, const AiNote& source) {
  std::vector<RelateReason> reasons;
  const auto& facts = pooled.facts;
  if (!pooled.shared_words.empty())
    reasons.push_back({"words", pooled.shared_words, rounded(facts.words)});
  if (facts.meaning) reasons.push_back({"meaning", {}, rounded(*facts.meaning)});
  if (!pooled.shared_links.empty())
    reasons.push_back({"links", pooled.shared_links, rounded(facts.links)});
  if (pooled.is_linked) reasons.push_back({"linked", {}, std::nullopt});
  if (facts.is_mentioned) reasons.push_back({"mention", {}, std::nullopt});
  if (!pooled.shared_tags.empty()) reasons.push_back({"tags", pooled.shared_tags, std::nullopt});
  if (facts.is_same_folder) reasons.push_back({"folder", {folder_of(source)}, std::nullopt});
  return reasons;
}

/// Those that are gone since they were indexed are left out.
Result<std::vector<RelatedNote>> read_related(Context& lane, std::vector<PooledNote> pooled) {
  std::vector<RelatedNote> notes;
  for (auto& one : pooled) {
    const NotePath path = INDX_TRY(NotePath::parse(one.facts.path));
    auto file = lane.notes().read(path);
    if (!file && file.error().reason == Reason::NotFound) continue;
    if (!file) return file.error();
    auto parsed = lane.notes().parse(*file);
    notes.push_back({std::move(one), {std::move(*file), std::move(parsed)}});
  }
  return notes;
}

void cite_text(const AiNote& note, const std::optional<Evidence>& evidence,
               std::vector<AiCitation>& citations) {
  if (evidence && is_grounded(*evidence, note.file, *note.note))
    citations.push_back(to_citation(*evidence, note.file.path.str(), note.file.etag));
}

/// The sentence of `note` that names `named`; nullopt: none does.
std::optional<Evidence> mention_of(const AiNote& note, const AiNote& named) {
  std::vector<std::string> names = named.note->aliases;
  names.push_back(stem_of(named));
  if (!named.note->title.empty()) names.push_back(named.note->title);
  const auto places = find_mentions(note.file.bytes, names);
  if (places.empty()) return std::nullopt;
  return NoteText(note.file.bytes).sentence_around(places[0].begin, places[0].end);
}

/// What the two notes themselves show: a mention, else the sentence of each with most of the words
/// that they share.
std::vector<AiCitation> quoted_evidence(const AiNote& source, const RelatedNote& other) {
  std::vector<AiCitation> citations;
  if (other.pooled.facts.is_mentioned) {
    cite_text(source, mention_of(source, other.note), citations);
    cite_text(other.note, mention_of(other.note, source), citations);
  }
  const auto& words = other.pooled.shared_words;
  if (!citations.empty() || words.empty()) return citations;
  cite_text(other.note, sentence_with(other.note.file.bytes, words), citations);
  cite_text(source, sentence_with(source.file.bytes, words), citations);
  return citations;
}

void give_relation(RelatedEdge& edge, std::string relation, double confidence,
                   const std::string& rationale) {
  edge.relation = std::move(relation);
  edge.confidence = rounded(confidence);
  if (!rationale.empty()) edge.rationale = rationale;
}
void take_relation(RelatedEdge& edge) {
  edge.relation.reset();
  edge.confidence.reset();
  edge.rationale.reset();
}

RelationClues clues_of(const AiNote& source, const RelatedNote& other,
                       const std::vector<ReachedLink>& links) {
  RelationClues clues;
  clues.source_name = stem_of(source);
  clues.other_name = stem_of(other.note);
  clues.source_folder = folder_of(source);
  clues.other_folder = folder_of(other.note);
  clues.source_text = body_of(source);
  clues.other_text = body_of(other.note);
  clues.similarity = other.pooled.similarity;
  clues.words = other.pooled.facts.words;
  for (const auto& [link, path] : links) {
    if (path != other.path()) continue;
    if (link.kind == LinkKind::Property)
      clues.link_keys.push_back(link.key);
    else
      clues.links_to = true;
  }
  clues.names_it = other.pooled.facts.is_mentioned && mention_of(source, other.note).has_value();
  return clues;
}

RelationNote to_relation_note(const AiNote& note) {
  return {note.file.path.str(), title_of(*note.note, note.file.path), note.file.etag,
          std::string(body_of(note))};
}

/// The edges of one source while they are made.
class Relater {
 public:
  Relater(Context& lane, const AiNote& source, const std::vector<RelatedNote>& others,
          const RelateCall& call, RelateResult& result)
      : lane_(lane), source_(source), others_(others), call_(call), result_(result) {}

  Status run() {
    links_ = INDX_TRY(reached_links(lane_, source_));
    for (const auto& other : others_) {
      RelatedEdge edge;
      edge.src_path = source_.file.path.str();
      edge.dst_path = other.path();
      edge.similarity = rounded(other.pooled.similarity);
      edge.score = rounded(other.pooled.score);
      edge.reasons = reasons_of(other.pooled, source_);
      result_.edges.push_back(std::move(edge));
    }
    const bool asks_model = call_.labels && lane_.models().can_generate();
    if (asks_model && !others_.empty())
      INDX_TRY(ask());
    else if (call_.labels)
      guess();
    if (call_.cite) cite(asks_model);
    if (call_.threshold)
      std::erase_if(result_.edges, [&](const RelatedEdge& edge) {
        return edge.confidence.value_or(edge.similarity) < *call_.threshold;
      });
    std::sort(result_.edges.begin(), result_.edges.end(), edge_comes_first);
    if (call_.propose_links) INDX_TRY(propose());
    return {};
  }

 private:
  void guess() {
    for (std::size_t i = 0; i < others_.size(); ++i) {
      auto guessed = guess_relation(clues_of(source_, others_[i], links_), call_.relations);
      if (guessed)
        give_relation(result_.edges[i], std::move(guessed->relation), guessed->confidence,
                      guessed->rationale);
    }
  }

  /// One call for the source with all its candidates.
  Status ask() {
    RelationQuestion question;
    question.source = to_relation_note(source_);
    for (const auto& other : others_) question.candidates.push_back(to_relation_note(other.note));
    question.labels = call_.relations;
    question.language = call_.language;
    const auto request =
        INDX_TRY(relation_prompt(question, lane_.config().ai, call_.seed, call_.max_tokens));
    const auto reply =
        INDX_TRY(ask_model(lane_, request, question.source.path, result_.cost, result_.warnings));
    const auto claims = INDX_TRY(parse_relation_reply(question, reply));
    AiSources sources;
    sources.add(source_);
    for (const auto& other : others_) sources.add(other.note);
    for (const auto& claim : claims)
      for (auto& edge : result_.edges)
        if (edge.dst_path == claim.path) take_claim(claim, sources, edge);
    return {};
  }

  void take_claim(const ClaimedRelation& claim, const AiSources& sources, RelatedEdge& edge) {
    give_relation(edge, claim.relation, claim.confidence, claim.rationale);
    if (!call_.cite) return;
    for (const auto& support : claim.support) {
      const auto named = claim_from_json(support);
      if (named.path != edge.src_path && named.path != edge.dst_path) {
        refuse(named.path, edge, "It is neither of the two notes.");
        continue;
      }
      auto verdict = sources.verify(named, edge.dst_path);
      if (verdict.citation)
        edge.evidence.push_back(std::move(*verdict.citation));
      else
        result_.warnings.push_back(std::move(verdict.warning));
    }
  }

  void refuse(const std::string& path, const RelatedEdge& edge, const char* reason) {
    Json warning = ai_warning("citation_invalid", path, reason);
    warning["key"] = edge.dst_path;
    result_.warnings.push_back(std::move(warning));
  }

  /// Leaves the relations of a model that are cited, and gives every other edge what the notes
  /// show.
  void cite(bool is_model) {
    std::vector<AiCitation> all;
    for (std::size_t i = 0; i < result_.edges.size(); ++i) {
      auto& edge = result_.edges[i];
      const bool is_claimed = is_model && edge.relation;
      if (!is_claimed) edge.evidence = quoted_evidence(source_, others_[i]);
      if (is_claimed && edge.evidence.empty()) drop_claim(edge, others_[i]);
      all.insert(all.end(), edge.evidence.begin(), edge.evidence.end());
    }
    const auto before = all.size();
    drop_drifted(lane_, all, result_.warnings);
    if (all.size() == before) return;
    std::set<std::pair<std::string, std::string>> current;
    for (const auto& citation : all) current.emplace(citation.path, citation.etag);
    for (auto& edge : result_.edges) {
      const bool was_cited = !edge.evidence.empty();
      std::erase_if(edge.evidence, [&](const AiCitation& citation) {
        return !current.contains({citation.path, citation.etag});
      });
      if (was_cited && edge.evidence.empty() && edge.relation) tell_dropped(edge);
    }
  }

  void drop_claim(RelatedEdge& edge, const RelatedNote& other) {
    tell_dropped(edge);
    edge.evidence = quoted_evidence(source_, other);
  }

  void tell_dropped(RelatedEdge& edge) {
    Json warning = ai_warning("ungrounded_dropped", edge.src_path,
                              "No text of the two notes supports this relation.");
    warning["key"] = cat(*edge.relation, " ", edge.dst_path);
    result_.warnings.push_back(std::move(warning));
    take_relation(edge);
  }

  Status propose() {
    const ScopedNote scoped{source_.file.path.str(), source_.file.etag};
    if (has_drifted(lane_, scoped)) {
      result_.warnings.push_back(drift_warning(scoped.path));
      return {};
    }
    std::set<std::string> linked;
    for (const auto& link : links_) linked.insert(link.path);
    std::vector<std::string> targets;
    for (const auto& edge : result_.edges)
      if (!linked.contains(edge.dst_path)) targets.push_back(edge.dst_path);
    auto proposal = INDX_TRY(propose_links(lane_, source_, targets, result_.warnings));
    if (!proposal) return {};
    result_.patch = RelatePatch{scoped.path, scoped.etag, std::move(proposal->ops),
                                reason_for(proposal->linked), proposal->linked};
    return {};
  }

  std::string reason_for(const std::vector<std::string>& linked) const {
    std::vector<std::string> parts;
    for (const auto& edge : result_.edges) {
      if (parts.size() == kMostReasonParts) break;
      if (std::find(linked.begin(), linked.end(), edge.dst_path) == linked.end()) continue;
      parts.push_back(edge.relation
                          ? cat(edge.dst_path, " (", *edge.relation, " ", *edge.confidence, ")")
                          : cat(edge.dst_path, " (similarity ", edge.similarity, ")"));
    }
    const bool has_more = linked.size() > parts.size();
    return cat("No link yet to ", join(parts, ", "), has_more ? " and others." : ".");
  }

  Context& lane_;
  const AiNote& source_;
  const std::vector<RelatedNote>& others_;
  const RelateCall& call_;
  RelateResult& result_;
  std::vector<ReachedLink> links_;
};

}  // namespace

Fields<RelateReason> RelateReason::fields() {
  return {field("kind", &RelateReason::kind,
                "words: shared ones; meaning: near vectors; links: notes that both link with; "
                "linked: a link between the two; mention: one names the other without a link; "
                "tags: shared rare ones; folder: the same.",
                one_of({"words", "meaning", "links", "linked", "mention", "tags", "folder"})),
          field("items", &RelateReason::items, "Those words, notes, tags, or that folder."),
          field("value", &RelateReason::value,
                "words, meaning: cosine; links: Adamic-Adar; else left out.")};
}
Fields<RelatedEdge> RelatedEdge::fields() {
  return {field("src_path", &RelatedEdge::src_path, "The source."),
          field("dst_path", &RelatedEdge::dst_path, "The related note."),
          field("similarity", &RelatedEdge::similarity,
                "0 to 1: cosine of vectors or words, the larger that the mode looks at."),
          field("relation", &RelatedEdge::relation,
                "How the source stands to the other note; left out: none was found.",
                one_of(relation_labels())),
          field("confidence", &RelatedEdge::confidence, "0 to 1, where there is a relation."),
          field("rationale", &RelatedEdge::rationale,
                "One or two sentences; `extractive: …` names a rule."),
          field("evidence", &RelatedEdge::evidence, "Text of the two notes."),
          field("reasons", &RelatedEdge::reasons, "Why it was chosen, from the index."),
          field("score", &RelatedEdge::score,
                "What it was chosen by; comparable within one source only.")};
}
Fields<RelatePatch> RelatePatch::fields() {
  return {field("path", &RelatePatch::path, "The source."),
          field("if_match", &RelatePatch::if_match, "Etag to guard it with."),
          field("ops", &RelatePatch::ops, "Steps for note_patch."),
          field("reason", &RelatePatch::reason, "Why."),
          field("related_to", &RelatePatch::related_to, "The notes that the steps link to.")};
}
Fields<RelateResult> RelateResult::fields() {
  return {field("edges", &RelateResult::edges, ""), field("patch", &RelateResult::patch, ""),
          field("warnings", &RelateResult::warnings, ""), field("cost", &RelateResult::cost, "")};
}

bool edge_comes_first(const RelatedEdge& a, const RelatedEdge& b) {
  const auto key = [](const RelatedEdge& edge) {
    return std::tuple(-edge.confidence.value_or(-1), -edge.similarity);
  };
  if (key(a) != key(b)) return key(a) < key(b);
  return std::tie(a.dst_path, a.src_path) < std::tie(b.dst_path, b.src_path);
}

Result<RelateResult> relate_note(Context& lane, const ScopedNote& scoped, const RelateCall& call,
                                 const RelateGround& ground) {
  const AiNote source = INDX_TRY(read_scoped(lane, scoped));
  auto pooled = INDX_TRY(relate_pool(lane, source, ground, call.mode, call.top_k));
  const auto others = INDX_TRY(read_related(lane, std::move(pooled)));
  RelateResult result;
  INDX_TRY(Relater(lane, source, others, call, result).run());
  return result;
}

}  // namespace indx
