#include "ops/ai/toc_moc.hpp"

#include "ai/extractive/clusters.hpp"
#include "ai/extractive/metadata_rules.hpp"
#include "ai/note_text.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "ops/ai/wikilink_target.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/retrieval.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace indx {
namespace {

constexpr std::size_t kMaxTopicBytes = 6000;    ///< of a note's prose that say its topic
constexpr std::size_t kMaxEmbeddedNotes = 400;  ///< more take too long
constexpr std::size_t kEmbeddedBytes = 1000;
constexpr std::size_t kTermsOfTopic = 2;

/// What a map shows of a note.
struct MocNote {
  std::string path, title;
  std::vector<std::string> labels;  ///< of its groups
  std::string topic_text;
  std::optional<AiCitation> evidence;
};
struct MocGroup {
  std::string label;
  std::vector<const MocNote*> notes;
};

std::string folder_label(const NotePath& path) {
  return path.folder().empty() ? "/" : std::string(path.folder());
}

std::vector<std::string> tag_labels(const ParsedNote& note) {
  std::vector<std::string> labels;
  for (const auto& use : note.tags) labels.push_back(use.tag);
  return labels;
}

std::vector<std::string> property_labels(const ParsedNote& note, const std::string& key) {
  const Json* value = find_property(note.frontmatter.values, key);
  if (value == nullptr) return {};
  std::vector<std::string> labels;
  for (const auto& item : value->is_array() ? *value : Json::array({*value})) {
    if (item.is_null() || item.is_structured()) continue;
    labels.push_back(plain_title(item.is_string() ? item.get<std::string>() : item.dump()));
  }
  std::erase(labels, "");
  return labels;
}

/// Title and beginning, where a note says what it is about.
std::string topic_text(const std::string& title, const NoteText& text) {
  const auto begin = text.body_begin();
  return cat(title, "\n\n",
             prefix_at_grapheme(std::string_view(text.prose()).substr(begin), kMaxTopicBytes));
}

MocNote read_for_moc(const AiNote& source, const MocOptions& options) {
  const auto& path = source.file.path;
  MocNote note;
  note.path = path.str();
  note.title = plain_title(title_of(*source.note, path));
  if (note.title.empty()) note.title = std::string(path.stem());
  if (options.group_by == "folder") note.labels = {folder_label(path)};
  if (options.group_by == "tag") note.labels = tag_labels(*source.note);
  if (options.group_by == "frontmatter")
    note.labels = property_labels(*source.note, options.group_by_key);
  const bool is_topic = options.group_by == "topic";
  if (!is_topic && !options.with_evidence) return note;
  const NoteText text(source.file.bytes);
  if (is_topic) note.topic_text = topic_text(note.title, text);
  if (const auto lead = options.with_evidence ? lead_sentence(text) : std::nullopt)
    note.evidence = to_citation(*lead, note.path, source.file.etag);
  return note;
}

/// Groups by label, whatever its case; the spelling that comes first counts.
std::vector<MocGroup> groups_by_label(const std::vector<MocNote>& notes) {
  std::map<std::string, MocGroup> by_key;
  for (const auto& note : notes) {
    std::set<std::string> seen;
    for (const auto& label : note.labels) {
      auto key = fold_case(label);
      if (!seen.insert(key).second) continue;
      auto& group = by_key[std::move(key)];
      if (group.label.empty()) group.label = label;
      group.notes.push_back(&note);
    }
  }
  // What every note has parts nothing.
  const auto has_all = [&](const auto& entry) { return entry.second.notes.size() == notes.size(); };
  if (!std::all_of(by_key.begin(), by_key.end(), has_all)) std::erase_if(by_key, has_all);
  std::vector<MocGroup> groups;
  for (auto& [key, group] : by_key) groups.push_back(std::move(group));
  return groups;
}

/// The vectors of the model, or nothing where there are none.
Result<std::vector<FeatureVector>> embedded_topics(Context& ctx,
                                                   const std::vector<MocNote>& notes) {
  std::vector<FeatureVector> vectors;
  if (notes.size() > kMaxEmbeddedNotes || INDX_TRY(ctx.retrieval().vectors()) == Vectors::Off)
    return vectors;
  std::vector<std::string> texts;
  for (const auto& note : notes)
    texts.emplace_back(prefix_at_grapheme(note.topic_text, kEmbeddedBytes));
  const auto embedded = ctx.retrieval().embed(texts);
  if (!embedded) {
    const auto reason = embedded.error().reason;
    if (reason == Reason::AiUnavailable || reason == Reason::AiProviderError) return vectors;
    return embedded.error();
  }
  for (const auto& vector : *embedded) vectors.push_back(feature_vector(vector));
  return vectors;
}

Result<std::vector<MocGroup>> groups_by_topic(Context& ctx, const std::vector<MocNote>& notes,
                                              std::size_t most, std::vector<Json>& warnings) {
  std::vector<std::string> texts;
  for (const auto& note : notes) texts.push_back(note.topic_text);
  auto vectors = INDX_TRY(embedded_topics(ctx, notes));
  if (vectors.empty()) {
    warnings.push_back("embeddings_unavailable");
    vectors = tf_idf_vectors(texts);
  }
  const auto clusters = topic_clusters(vectors, most);
  const auto terms = cluster_terms(texts, clusters, kTermsOfTopic);
  std::vector<MocGroup> groups(terms.size());
  for (std::size_t i = 0; i < notes.size(); ++i) groups[clusters[i]].notes.push_back(&notes[i]);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    auto label = plain_title(join(terms[i], ", "));
    if (!label.empty() && label[0] >= 'a' && label[0] <= 'z')
      label[0] = static_cast<char>(label[0] - 'a' + 'A');
    groups[i].label = label.empty() ? groups[i].notes.front()->title : label;
  }
  return groups;
}

/// The largest groups, and the notes that stand in none of them as one more.
std::vector<MocGroup> largest_groups(std::vector<MocGroup> groups,
                                     const std::vector<MocNote>& notes, const MocOptions& options) {
  std::stable_sort(groups.begin(), groups.end(), [](const MocGroup& a, const MocGroup& b) {
    return a.notes.size() > b.notes.size();
  });
  const auto left_out = [&] {
    std::set<const MocNote*> shown;
    for (const auto& group : groups) shown.insert(group.notes.begin(), group.notes.end());
    std::vector<const MocNote*> rest;
    for (const auto& note : notes)
      if (!shown.contains(&note)) rest.push_back(&note);
    return rest;
  };
  if (groups.size() > options.max_groups) groups.resize(options.max_groups);
  if (groups.size() == options.max_groups && !left_out().empty()) groups.pop_back();
  auto rest = left_out();
  if (rest.empty()) return groups;
  const bool has_labels = std::any_of(rest.begin(), rest.end(),
                                      [](const MocNote* note) { return !note->labels.empty(); });
  const auto none =
      options.group_by == "tag" ? std::string("Untagged") : cat("No ", options.group_by_key);
  groups.push_back({has_labels || options.group_by == "folder" ? "Other" : none, std::move(rest)});
  return groups;
}

/// The notes of the scope that are still as they were.
Result<std::vector<MocNote>> read_moc_notes(Context& ctx, const std::vector<ScopedNote>& scoped,
                                            const MocOptions& options, TocPlan& plan) {
  std::vector<MocNote> notes;
  for (const auto& one : scoped) {
    if (ctx.cancel().is_cancelled())
      return make_error(Reason::Cancelled, "Cancelled while the notes were read.");
    const auto source = read_scoped(ctx, one);
    if (source) {
      plan.total_tokens += estimate_tokens(source->file.bytes);
      notes.push_back(read_for_moc(*source, options));
      continue;
    }
    const auto reason = source.error().reason;
    const bool is_gone = reason == Reason::EtagMismatch || reason == Reason::NotFound;
    if (scoped.size() == 1 || !is_gone) return source.error();
    plan.warnings.push_back(ai_warning(source.error().name(), one.path, source.error().message));
  }
  return notes;
}

Status add_moc_group(Context& ctx, MocGroup& group, const MocOptions& options,
                     std::map<std::string, std::string>& links, TocPlan& plan) {
  const auto order = [](const MocNote* note) {
    return std::pair(fold_case(note->title), std::string_view(note->path));
  };
  std::sort(group.notes.begin(), group.notes.end(),
            [&](const MocNote* a, const MocNote* b) { return order(a) < order(b); });
  TocEntry head;
  head.title = plain_title(group.label);
  head.is_group = true;
  plan.entries.push_back(std::move(head));
  for (std::size_t i = 0; i < std::min(group.notes.size(), options.max_per_group); ++i) {
    const MocNote& note = *group.notes[i];
    if (options.with_links && !links.contains(note.path)) {
      const NotePath path = INDX_TRY(NotePath::parse(note.path));
      links[note.path] = INDX_TRY(wikilink_target(ctx, options.source, path));
    }
    TocEntry entry;
    entry.title = note.title;
    entry.level = 1;
    entry.path = note.path;
    entry.link = links[note.path];
    entry.evidence = note.evidence;
    plan.entries.push_back(std::move(entry));
  }
  if (group.notes.size() > options.max_per_group)
    plan.warnings.push_back(
        Json{{"code", "truncated"},
             {"key", group.label},
             {"reason", cat(group.notes.size() - options.max_per_group, " more notes are in it")}});
  return {};
}

}  // namespace

Result<TocPlan> plan_moc(Context& ctx, const std::vector<ScopedNote>& scoped,
                         const MocOptions& options) {
  TocPlan plan;
  const auto notes = INDX_TRY(read_moc_notes(ctx, scoped, options, plan));
  if (notes.empty()) return plan;
  auto groups = options.group_by == "topic"
                    ? groups_by_topic(ctx, notes, options.max_groups, plan.warnings)
                    : Result<std::vector<MocGroup>>(groups_by_label(notes));
  if (!groups) return groups.error();
  std::map<std::string, std::string> links;
  for (auto& group : largest_groups(std::move(*groups), notes, options))
    INDX_TRY(add_moc_group(ctx, group, options, links, plan));
  return plan;
}

}  // namespace indx
