#include "base/text.hpp"
#include "base/unicode.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"
#include "ops/search/retrieval.hpp"

#include <iomanip>
#include <map>
#include <sstream>

namespace indx {
namespace vault_search_op {

struct Input {
  std::string q;
  std::string mode = "lexical";
  std::optional<std::string> match;
  std::vector<std::string> tag;
  std::string path_glob;
  JsonObject frontmatter;
  int limit = 20;
  bool explain = false;
  std::string cursor;
};
struct Hit {
  std::string path, title;
  double score = 0;
  std::string snippet;
  std::vector<std::string> tags, matched_in;
  std::string matched;
  std::optional<int> line;
  std::optional<std::string> heading;
  std::optional<Json> explain;
  static Fields<Hit> fields() {
    return {field("path", &Hit::path, "Vault-relative path."),
            field("title", &Hit::title, "Title of the note; of any other file its name."),
            field("score", &Hit::score, "Larger is better."),
            field("snippet", &Hit::snippet,
                  "Text around the matches, which are in **bold**; empty for files without text."),
            field("tags", &Hit::tags, "Tags without `#`."),
            field("matched_in", &Hit::matched_in, "Where it matched.",
                  one_of({"title", "body", "tags", "frontmatter"})),
            field("matched", &Hit::matched,
                  "Whether all words were found, some, or none: near in meaning only.",
                  one_of({"all", "some", "none"})),
            field("line", &Hit::line, "1-based line of the snippet's first match."),
            field("heading", &Hit::heading, "Heading of the section with that line."),
            field("explain", &Hit::explain,
                  "Parts of the score: per word its score, how many notes have it, and how often "
                  "each part of this note does. Of a semantic or hybrid search, what each stage "
                  "made of the note: rank by words, nearest chunk, fusion, links, rank again.")};
  }
};
struct Output {
  std::vector<Hit> results;
  std::optional<std::string> next_cursor;
  std::string mode_used;
  std::vector<std::string> suggestions, warnings;
};

SearchMatch to_match(const std::optional<std::string>& match) {
  if (!match) return SearchMatch::AllThenAny;
  return *match == "all" ? SearchMatch::All : SearchMatch::Any;
}

Hit to_hit(const SearchHit& hit) {
  Hit out{hit.path,       hit.title,   hit.score, hit.snippet, hit.tags,
          hit.matched_in, hit.matched, {},        {},          hit.explain};
  if (hit.line > 0) out.line = hit.line;
  if (!hit.heading.empty()) out.heading = hit.heading;
  return out;
}

NoteFilter to_filter(const Input& in) {
  NoteFilter filter;
  filter.path_glob = in.path_glob;
  for (const auto& tag : in.tag) filter.tags.push_back(plain_tag(tag));
  filter.frontmatter = in.frontmatter.value;
  return filter;
}

Result<Output> search_words(Context& ctx, const Input& in) {
  SearchRequest request;
  request.q = in.q;
  request.match = to_match(in.match);
  request.filter = to_filter(in);
  request.limit = in.limit;
  request.cursor = in.cursor;
  request.explain = in.explain;
  const SearchPage page = INDX_TRY(ctx.index().search(request));
  Output out;
  for (const auto& hit : page.rows) out.results.push_back(to_hit(hit));
  out.suggestions = page.suggestions;
  out.next_cursor = page.next_cursor;
  out.mode_used = "lexical";
  if (page.has_bad_pattern) out.warnings.push_back("regex_not_supported");
  return out;
}

/// The hits of what was found by meaning: one page, for the order has no end to go on from.
Result<Output> show(const Retrieved& found, bool explains) {
  std::vector<RetrievalSource::Shown> shown;
  std::map<std::string, const RetrievedNote*> notes;
  for (const auto& note : found.notes) {
    shown.push_back({note.path, note.score, note.chunks.empty() ? nullptr : &note.chunks.front()});
    notes[note.path] = &note;
  }
  Output out;
  out.mode_used = found.mode_used;
  out.warnings = found.warnings;
  for (auto& hit : INDX_TRY(found.source->hits(shown))) {
    if (explains) hit.explain = explain(*notes.at(hit.path));
    out.results.push_back(to_hit(hit));
  }
  return out;
}

Result<Output> run(Context& ctx, const Input& in) {
  // A cursor comes from a search by words, and goes on with it.
  if (in.mode == "lexical" || !in.cursor.empty()) return search_words(ctx, in);
  const Retrieved found = INDX_TRY(retrieve_by_meaning(
      ctx, {{in.q, to_filter(in)}, in.mode, static_cast<std::size_t>(in.limit)}));
  if (found.source) return show(found, in.explain);
  Output out = INDX_TRY(search_words(ctx, in));
  out.warnings.insert(out.warnings.begin(), found.warnings.begin(), found.warnings.end());
  return out;
}

/// `Found 1 result for 'runbook' (hybrid). Top hit: Ops/Runbook.md (score 0.81).`
std::string told(const Json& input, const Json& output) {
  constexpr std::size_t kMaxShownQuery = 80;
  const Json& results = output["results"];
  const std::string q = input.value("q", "");
  const std::string_view shown = prefix_at_grapheme(q, kMaxShownQuery);
  std::string line =
      cat("Found ", results.size(), results.size() == 1 ? " result" : " results", " for '", shown,
          shown.size() < q.size() ? "…" : "", "' (", output.value("mode_used", ""), ").");
  if (results.empty()) return line;
  std::ostringstream score;
  score << std::fixed << std::setprecision(2) << results.front().value("score", 0.0);
  line += cat(" Top hit: ", results.front().value("path", ""), " (score ", score.str(), ").");
  if (output.contains("next_cursor")) line += " Pass next_cursor as cursor for more.";
  return line;
}

}  // namespace vault_search_op

Operation vault_search() {
  using namespace vault_search_op;
  return define<Input, Output>({
      .name = "vault_search",
      .title = "Search the vault",
      .summary = "Search the notes for words, best first.",
      .guidance =
          "Use it before note_read when the path is not known; to list by folder, tag or property "
          "use note_list. Notes with all words come first. Syntax: word* \"phrase\" OR -not "
          "(group) tag:a path:x file:x content:x line:(a b) block: section: task: task-todo: "
          "task-done: match-case:X /regex/ [prop] [prop:value] [prop:<5]; anything else is "
          "literal. `mode` "
          "hybrid also finds notes that say the same in other words, semantic only by meaning; "
          "both give one page. path: and file: alone also find other files.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/search"},
      .cli = "search",
      .cli_positional = {"q"},
      .example = "'quarterly plan'",
      .is_idempotent = true,
      .reads_index = true,
      .input = {field("q", &Input::q, "Words to look for, or a query.", length(1, 4096)),
                field("mode", &Input::mode,
                      "By words, by meaning, or both; without embeddings it is lexical, with a "
                      "warning.",
                      optional, one_of({"lexical", "semantic", "hybrid"})),
                field("match", &Input::match,
                      "Only notes with all words, or any; left out: all first, then any.",
                      one_of({"all", "any"})),
                field("tag", &Input::tag, "Only notes with each of these tags or ones below them.",
                      optional, length(0, 50), comma_separated),
                field("path_glob", &Input::path_glob,
                      "Only paths that match, such as `Projects/**`.", optional, length(0, 1024)),
                field("frontmatter", &Input::frontmatter,
                      "Only notes whose properties have these values.", optional),
                field("limit", &Input::limit, "Most hits in one answer.", optional,
                      between(1, 200)),
                field("explain", &Input::explain,
                      "Show how each score came about; a token with path globs is told no counts "
                      "of notes.",
                      for_programs, optional),
                cursor_field(&Input::cursor)},
      .output = {field("results", &Output::results, "Hits, best first."),
                 next_cursor_field(&Output::next_cursor),
                 field("mode_used", &Output::mode_used, "How the search was done.",
                       one_of({"lexical", "semantic", "hybrid"})),
                 field("suggestions", &Output::suggestions,
                       "When nothing was found: indexed words near to those that no note has."),
                 field("warnings", &Output::warnings,
                       "Codes: `embeddings_unavailable`; `embedding_model_changed`: they are of "
                       "another model (see vault_embed); `embeddings_incomplete`: some notes are "
                       "found by words only, as yet; `regex_not_supported`: the /regex/ was "
                       "looked for as plain text.")},
      .list = "results",
      .told = told,
      .failures = {{Reason::ValidationFailed,
                    "The cursor is not one of this search, or the index was made anew since, or "
                    "the vault changed after more than 1,000 hits were read."}},
      .handler = run,
  });
}

}  // namespace indx
