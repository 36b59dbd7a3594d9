#include "store/retrieval_run.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "base/word_stem.hpp"
#include "store/embedding_index.hpp"
#include "store/note_index_reader.hpp"
#include "store/passage_words.hpp"
#include "store/question_words.hpp"
#include "store/search_filter.hpp"
#include "store/search_hit.hpp"
#include "store/search_text.hpp"
#include "store/vector_cache.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace indx {
namespace {

constexpr std::size_t kLeastLabels = 64;
constexpr std::size_t kWiderBy = 8;
constexpr int kMostLinks = 50, kMostPassages = 64;

/// Where a chunk begins and ends in a body of that size, by a column and the next.
std::pair<std::size_t, std::size_t> span_of(const Database::Statement& row, int column,
                                            std::size_t size) {
  const auto begin = std::min(static_cast<std::size_t>(row.integer(column)), size);
  return {begin, std::clamp(static_cast<std::size_t>(row.integer(column + 1)), begin, size)};
}

/// A word or phrase that the full-text index alone answers.
bool is_plain(const QueryNode& node) {
  return node.kind == QueryNode::Kind::Text && !node.text.words.empty() &&
         node.text.exact.empty() && !node.text.has_case;
}

bool says_something(const QueryText& text) {
  return !std::all_of(text.words.begin(), text.words.end(),
                      [](const std::string& word) { return is_question_word(word); });
}

/// Without the words that shape the question, unless there are no others.
std::vector<const QueryText*> content_texts(const std::vector<const QueryText*>& texts) {
  std::vector<const QueryText*> content;
  std::copy_if(texts.begin(), texts.end(), std::back_inserter(content),
               [](const QueryText* text) { return says_something(*text); });
  return content.empty() ? texts : content;
}

int line_at(std::string_view text, std::size_t at) {
  int line = 1;
  for (std::size_t i = 0; i < std::min(at, text.size()); ++i)
    if (text[i] == '\n' || (text[i] == '\r' && text.substr(i + 1, 1) != "\n")) ++line;
  return line;
}

std::vector<std::string> phrases_of(const std::vector<const QueryText*>& texts) {
  std::vector<std::string> phrases;
  for (const auto* text : texts)
    if (!text->words.empty()) phrases.push_back(fts_phrase(*text));
  return phrases;
}

/// Of all chunks of a note, of length 1; nullopt: none has a vector that says something.
Result<std::optional<Int8Vector>> mean_vector(Database& db, const std::string& path) {
  auto rows = db.prepare(
      "SELECT e.scale, e.vector FROM files f JOIN chunk_rows c ON c.file_id=f.id JOIN embeddings e "
      "ON e.embed_key=c.embed_key WHERE f.path=?1 AND e.vector<>x''");
  rows.bind(path);
  std::vector<float> sum;
  while (INDX_TRY(rows.step())) {
    const auto vector = int8_vector(static_cast<float>(rows.real(0)), rows.text(1));
    sum.resize(std::max(sum.size(), vector.values.size()), 0.0F);
    for (std::size_t i = 0; i < vector.values.size(); ++i)
      sum[i] += static_cast<float>(vector.values[i]) * vector.scale;
  }
  float length = 0;
  for (const float number : sum) length += number * number;
  if (length <= 0) return std::optional<Int8Vector>();
  for (auto& number : sum) number /= std::sqrt(length);
  return std::optional(to_int8(sum));
}

constexpr auto kIdOrder = [](const Found& a, const Found& b) { return a.id < b.id; };

}  // namespace

Result<std::string> text_of_question(std::string_view q) {
  const auto query = INDX_TRY(parse_query(q));
  const auto plan = plan_of(query);
  const bool has_operators =
      !plan.required.empty() || std::any_of(plan.words.begin(), plan.words.end(),
                                            [](const auto* node) { return !is_plain(*node); });
  if (!has_operators) return std::string(q);
  std::vector<std::string> words;
  for (const auto* text : plan.texts)
    words.insert(words.end(), text->spelled.begin(), text->spelled.end());
  return join(words, " ");
}

struct RetrievalRun::Impl {
  Impl(RetrievalQuestion asked, QueryNode parsed, IndexPool::Lease lease, SearchMemory& memory,
       const std::string& generation)
      : question(std::move(asked)),
        query(std::move(parsed)),
        db(std::move(lease)),
        run(*db, memory, generation),
        plan(plan_of(query)) {}

  const RetrievalQuestion question;
  const QueryNode query;
  const IndexPool::Lease db;
  SearchRun run;
  SearchPlan plan;
  std::optional<FilterCheck> check;
  std::optional<FileIds> required;  ///< of the query's own filters
  bool is_plain_question = false;
  std::vector<Found> any;  ///< notes with any of the words, by id
  std::optional<Int8Vector> vector;
  std::optional<VectorSpaceId> space;
  std::shared_ptr<const VectorIndex> graph;  // shared: a newer one may take its place meanwhile
  std::unordered_map<std::int64_t, std::string> bodies;  ///< read so far, by file

  Status prepare();
  Status find_space(const VectorCache* cache);
  bool is_filtered() const { return !check->allows_everything() || required.has_value(); }
  Result<bool> allows(std::int64_t id, const std::string& path);
  Result<std::optional<std::int64_t>> id_of(const std::string& path);
  Result<std::vector<std::int64_t>> allowed_labels();
  Result<std::vector<NearLabel>> near_labels(std::size_t most,
                                             const std::vector<std::int64_t>* allowed);
  /// Adds the chunks of a label that may be shown.
  Status add_chunks(const NearLabel& near, std::vector<NearChunk>& chunks);
  Result<NearChunk> chunk_of(const Database::Statement& row);
  /// The whole file of a note, read once.
  Result<std::string_view> body_of(std::int64_t id);
  struct Look;
  Result<Look> look_at(std::int64_t id, const PassageWords& words);
};

/// Finds the notes by words, once for everything that is asked then.
Status RetrievalRun::Impl::prepare() {
  check.emplace(INDX_TRY(FilterCheck::make(*db, question.filter)));
  if (!plan.required.empty()) {
    QueryNode node;
    node.children = plan.required;
    required = INDX_TRY(run.ids_of(node));
  }
  is_plain_question =
      !plan.words.empty() && std::all_of(plan.words.begin(), plan.words.end(),
                                         [](const auto* node) { return is_plain(*node); });
  if (is_plain_question) {
    plan.texts = content_texts(plan.texts);
    any = INDX_TRY(run.scores(phrases_of(plan.texts), false));
  } else {
    auto tiers = INDX_TRY(run.tiers(plan, true));
    any = std::move(tiers.all);
    any.insert(any.end(), tiers.some.begin(), tiers.some.end());
    std::sort(any.begin(), any.end(), kIdOrder);
  }
  if (required)
    std::erase_if(any, [&](const Found& found) {
      return !std::binary_search(required->begin(), required->end(), found.id);
    });
  return apply_filter(*db, *check, any);
}

/// Which vectors the question's one is compared with: none where they are of another size.
Status RetrievalRun::Impl::find_space(const VectorCache* cache) {
  space = INDX_TRY(vector_space_of(*db));
  if (space && space->dim != vector->values.size()) space.reset();
  auto known = cache != nullptr ? cache->graph() : nullptr;
  if (known && space == known->space()) graph = std::move(known);
  return {};
}

Result<bool> RetrievalRun::Impl::allows(std::int64_t id, const std::string& path) {
  if (required && !std::binary_search(required->begin(), required->end(), id)) return false;
  if (check->needs_path() && !check->allows_path(path)) return false;
  return check->allows_id(id);
}

Result<std::optional<std::int64_t>> RetrievalRun::Impl::id_of(const std::string& path) {
  auto row = db->prepare("SELECT id FROM files WHERE path=?1");
  if (!INDX_TRY(row.bind(path).step())) return std::optional<std::int64_t>();
  return std::optional(row.integer(0));
}

/// Of all chunks that may be shown, sorted. Begins with the smallest set of files that is known.
Result<std::vector<std::int64_t>> RetrievalRun::Impl::allowed_labels() {
  FileIds files;
  if (required)
    files = *required;
  else if (check->tagged() != nullptr)
    files = *check->tagged();
  else
    files = INDX_TRY(allowed_files(*db, *check));
  std::vector<std::int64_t> labels;
  for (const auto id : files) {
    if (!INDX_TRY(allows(id, check->needs_path() ? INDX_TRY(path_of(*db, id)) : std::string())))
      continue;
    auto rows = db->prepare(
        "SELECT e.id FROM chunk_rows c JOIN embeddings e ON e.embed_key=c.embed_key WHERE "
        "c.file_id=?1");
    rows.bind(id);
    while (INDX_TRY(rows.step())) labels.push_back(rows.integer(0));
  }
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  return labels;
}

/// From the graph, and from the rows that it does not have yet.
Result<std::vector<NearLabel>> RetrievalRun::Impl::near_labels(
    std::size_t most, const std::vector<std::int64_t>* allowed) {
  const std::int64_t after = graph ? graph->last_label() : 0;
  std::vector<NearLabel> all;
  if (graph && allowed != nullptr)
    all = graph->search_among(*vector, most, *allowed);
  else if (graph)
    all = INDX_TRY(graph->search(*vector, most));
  const auto newer = INDX_TRY(scan_vectors(*db, *vector, most, after, allowed));
  all.insert(all.end(), newer.begin(), newer.end());
  std::sort(all.begin(), all.end(), is_nearer);
  std::unordered_set<std::int64_t> seen;  // the graph may have grown in between
  std::erase_if(all, [&](const NearLabel& near) { return !seen.insert(near.label).second; });
  if (all.size() > most) all.resize(most);
  return all;
}

Result<std::string_view> RetrievalRun::Impl::body_of(std::int64_t id) {
  auto known = bodies.find(id);
  if (known == bodies.end()) {
    auto text = db->prepare("SELECT body FROM notes WHERE id=?1");
    const bool is_there = INDX_TRY(text.bind(id).step());
    known = bodies.emplace(id, is_there ? text.text(0) : std::string()).first;
  }
  return std::string_view(known->second);
}

/// Columns: file, path, title, etag, headings, begin, end.
Result<NearChunk> RetrievalRun::Impl::chunk_of(const Database::Statement& row) {
  const auto id = row.integer(0);
  const auto body = INDX_TRY(body_of(id));
  const auto [begin, end] = span_of(row, 5, body.size());
  NearChunk chunk{.path = row.text(1),
                  .title = row.text(2),
                  .etag = row.text(3),
                  .heading_path = headings_of(row.text(4)),
                  .content = replace_invalid_utf8(body.substr(begin, end - begin)),
                  .char_start = begin,
                  .char_end = end};
  chunk.line = line_at(body, begin);
  return chunk;
}

Status RetrievalRun::Impl::add_chunks(const NearLabel& near, std::vector<NearChunk>& chunks) {
  auto rows = db->prepare(
      "SELECT c.file_id, f.path, f.title, f.etag, c.heading_path_json, c.char_start, c.char_end "
      "FROM embeddings e JOIN chunk_rows c ON c.embed_key=e.embed_key JOIN files f ON "
      "f.id=c.file_id WHERE e.id=?1 ORDER BY f.path, c.position");
  rows.bind(near.label);
  while (INDX_TRY(rows.step())) {
    if (!INDX_TRY(allows(rows.integer(0), rows.text(1)))) continue;
    chunks.push_back(INDX_TRY(chunk_of(rows)));
    chunks.back().similarity = static_cast<double>(near.similarity);
  }
  return {};
}

RetrievalRun::RetrievalRun(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RetrievalRun::~RetrievalRun() = default;

Result<std::vector<RankedPath>> RetrievalRun::lexical(std::size_t most) {
  auto ranked = impl_->any;
  const auto is_better = [](const Found& a, const Found& b) {
    return a.score != b.score ? a.score > b.score : a.id < b.id;
  };
  const auto count = std::min(most, ranked.size());
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(count),
                    ranked.end(), is_better);
  ranked.resize(count);
  std::vector<RankedPath> rows;
  for (const auto& found : ranked)
    rows.push_back({INDX_TRY(path_of(*impl_->db, found.id)), found.score});
  std::sort(rows.begin(), rows.end(), [](const RankedPath& a, const RankedPath& b) {
    return a.score != b.score ? a.score > b.score : a.path < b.path;
  });
  return rows;
}

Result<std::vector<NearChunk>> RetrievalRun::nearest(std::size_t most_notes) {
  std::vector<NearChunk> chunks;
  if (!impl_->vector || !impl_->space || most_notes == 0) return chunks;
  std::optional<std::vector<std::int64_t>> allowed;
  // Most filters leave enough of the nearest ones; else all that they allow are looked through.
  for (auto most = std::max(kLeastLabels, 2 * most_notes);; most *= kWiderBy) {
    if (allowed) most = std::max<std::size_t>(allowed->size(), 1);
    const auto labels = INDX_TRY(impl_->near_labels(most, allowed ? &*allowed : nullptr));
    std::set<std::string> notes;
    chunks.clear();
    for (const auto& near : labels) {
      const auto before = chunks.size();
      INDX_TRY(impl_->add_chunks(near, chunks));
      for (auto i = before; i < chunks.size(); ++i) {
        notes.insert(chunks[i].path);
        if (notes.size() <= most_notes) continue;
        chunks.resize(i);
        return chunks;
      }
    }
    if (notes.size() == most_notes || labels.size() < most || allowed) return chunks;
    if (impl_->is_filtered()) allowed = INDX_TRY(impl_->allowed_labels());
  }
}

Result<std::vector<LinkedPath>> RetrievalRun::linked(const std::vector<std::string>& paths) {
  std::vector<LinkedPath> pairs;
  for (const auto& path : paths) {
    const auto id = INDX_TRY(impl_->id_of(path));
    if (!id) continue;
    std::set<std::string> reached;
    for (const auto* sql :
         {"SELECT DISTINCT f.id, f.path FROM links l JOIN files f ON f.id=l.target_id WHERE "
          "l.source_id=?1 AND f.kind=1 AND f.id<>?1 ORDER BY f.path LIMIT ?2",
          "SELECT DISTINCT f.id, f.path FROM links l JOIN files f ON f.id=l.source_id WHERE "
          "l.target_id=?1 AND f.kind=1 AND f.id<>?1 ORDER BY f.path LIMIT ?2"}) {
      auto rows = impl_->db->prepare(sql);
      rows.bind(*id, kMostLinks);
      while (INDX_TRY(rows.step()))
        if (INDX_TRY(impl_->allows(rows.integer(0), rows.text(1)))) reached.insert(rows.text(1));
    }
    for (const auto& other : reached) pairs.push_back({path, other});
  }
  return pairs;
}

Result<std::vector<RankedPath>> RetrievalRun::scores(const std::vector<std::string>& paths) {
  std::vector<RankedPath> rows;
  for (const auto& path : paths) {
    rows.push_back({path, 0});
    const auto id = INDX_TRY(impl_->id_of(path));
    if (!id) continue;
    const auto& any = impl_->any;
    const auto found = std::lower_bound(any.begin(), any.end(), Found{*id, 0}, kIdOrder);
    if (found != any.end() && found->id == *id) rows.back().score = found->score;
  }
  return rows;
}

/// Counts in the chunks of a note, and how near these are.
struct RetrievalRun::Impl::Look {
  std::vector<PassageWords::Counts> passages;
  std::optional<double> nearest, mean;
};

Result<RetrievalRun::Impl::Look> RetrievalRun::Impl::look_at(std::int64_t id,
                                                             const PassageWords& words) {
  Look look;
  auto rows = db->prepare(
      "SELECT f.title, c.heading_path_json, c.char_start, c.char_end, e.scale, e.vector "
      "FROM files f JOIN chunk_rows c ON c.file_id=f.id LEFT JOIN embeddings e ON "
      "e.embed_key=c.embed_key WHERE f.id=?1 ORDER BY c.position LIMIT ?2");
  rows.bind(id, kMostPassages);
  double sum = 0;
  int near = 0;
  while (INDX_TRY(rows.step())) {
    const auto body = INDX_TRY(body_of(id));
    const auto [begin, end] = span_of(rows, 2, body.size());
    auto& counts = look.passages.emplace_back();
    words.count(rows.text(0), counts);
    for (const auto& heading : headings_of(rows.text(1))) words.count(heading, counts);
    words.count(body.substr(begin, end - begin), counts);
    const auto bytes = rows.text(5);
    if (!vector || !space || bytes.size() != vector->values.size()) continue;
    const double cosine = static_cast<double>(
        similarity(*vector, int8_vector(static_cast<float>(rows.real(4)), bytes)));
    look.nearest = std::max(look.nearest.value_or(cosine), cosine);
    sum += cosine;
    ++near;
  }
  if (near > 0) look.mean = sum / near;
  return look;
}

Result<std::vector<NoteEvidence>> RetrievalRun::evidence(const std::vector<std::string>& paths) {
  const auto words = INDX_TRY(passage_words(content_texts(impl_->plan.texts), impl_->run));
  std::vector<Impl::Look> looks;
  std::size_t length = 0, passages = 0;
  for (const auto& path : paths) {
    const auto id = INDX_TRY(impl_->id_of(path));
    const bool may = id && INDX_TRY(impl_->allows(*id, path));
    looks.push_back(may ? INDX_TRY(impl_->look_at(*id, words)) : Impl::Look());
    for (const auto& counts : looks.back().passages) length += counts.length;
    passages += looks.back().passages.size();
  }
  const double mean_length =
      passages == 0 ? 0 : static_cast<double>(length) / static_cast<double>(passages);
  std::vector<NoteEvidence> rows;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    auto& row = rows.emplace_back();
    row.path = paths[i];
    row.nearest = looks[i].nearest;
    row.mean = looks[i].mean;
    for (const auto& counts : looks[i].passages)
      row.passage_words = std::max(row.passage_words, words.score(counts, mean_length));
  }
  return rows;
}

Result<std::vector<SearchHit>> RetrievalRun::hits(const std::vector<Shown>& shown) {
  auto& run = impl_->run;
  const auto with_all = impl_->is_plain_question
                            ? INDX_TRY(run.scores(phrases_of(impl_->plan.texts), true))
                            : INDX_TRY(run.tiers(impl_->plan, false)).all;
  const auto is_in = [](const std::vector<Found>& rows, std::int64_t id) {
    return std::binary_search(rows.begin(), rows.end(), Found{id, 0}, kIdOrder);
  };
  std::vector<SearchHit> hits;
  for (const auto& one : shown) {
    const auto id = INDX_TRY(impl_->id_of(one.path));
    if (!id) continue;
    auto hit =
        INDX_TRY(make_hit(*impl_->db, {{*id, one.score}, one.path}, impl_->query, impl_->plan));
    hit.matched = is_in(with_all, *id) ? "all" : is_in(impl_->any, *id) ? "some" : "none";
    if (hit.matched_in.empty() && one.chunk != nullptr) {
      hit.snippet = make_snippet(one.chunk->content, {});
      hit.line = one.chunk->line;
      if (!one.chunk->heading_path.empty()) hit.heading = one.chunk->heading_path.back();
    }
    hits.push_back(std::move(hit));
  }
  return hits;
}

Result<std::unique_ptr<RetrievalRun>> NoteIndexReader::retrieve(const RetrievalQuestion& question,
                                                                const std::vector<float>* vector,
                                                                const VectorCache* cache) {
  auto query = INDX_TRY(parse_query(question.q));
  auto lease = INDX_TRY(impl_->pool->take());
  const auto generation = INDX_TRY(read_generation(*lease));
  auto run = std::make_unique<RetrievalRun::Impl>(question, std::move(query), std::move(lease),
                                                  impl_->memory, generation);
  INDX_TRY(run->prepare());
  if (vector != nullptr) {
    run->vector = to_int8(*vector);
    INDX_TRY(run->find_space(cache));
  }
  return std::unique_ptr<RetrievalRun>(
      new RetrievalRun(std::move(run)));  // NOLINT: the constructor is private
}

Result<std::vector<NearChunk>> NoteIndexReader::near_note(const std::string& path,
                                                          const NoteFilter& filter,
                                                          std::size_t most_notes,
                                                          const VectorCache* cache) {
  auto lease = INDX_TRY(impl_->pool->take());
  const auto mean = INDX_TRY(mean_vector(*lease, path));
  if (!mean) return std::vector<NearChunk>();
  auto impl = std::make_unique<RetrievalRun::Impl>(RetrievalQuestion{"", filter}, QueryNode(),
                                                   std::move(lease), impl_->memory, "");
  impl->check.emplace(INDX_TRY(FilterCheck::make(*impl->db, impl->question.filter)));
  impl->vector = *mean;
  INDX_TRY(impl->find_space(cache));
  RetrievalRun run(std::move(impl));
  auto chunks = INDX_TRY(run.nearest(most_notes + 1));
  std::erase_if(chunks, [&](const NearChunk& chunk) { return chunk.path == path; });
  std::set<std::string> notes;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    notes.insert(chunks[i].path);
    if (notes.size() > most_notes) chunks.resize(i);
  }
  return chunks;
}

}  // namespace indx
