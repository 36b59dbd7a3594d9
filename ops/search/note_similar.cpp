#include "base/text.hpp"
#include "base/unicode.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"
#include "ops/search/retrieval.hpp"

#include <algorithm>

namespace indx {
namespace note_similar_op {

constexpr std::size_t kSnippetBytes = 200;

struct Input {
  std::string path, path_glob;
  int limit = 10;
};
struct Row {
  std::string path, title;
  double similarity = 0;
  std::optional<std::string> heading;
  int line = 1;
  std::string snippet;
  static Fields<Row> fields() {
    return {field("path", &Row::path, "Vault-relative path."),
            field("title", &Row::title, "Its title."),
            field("similarity", &Row::similarity,
                  "Cosine of its nearest section with the whole note, at most 1."),
            field("heading", &Row::heading, "Heading of that section; left out: none."),
            field("line", &Row::line, "1-based line where the section begins."),
            field("snippet", &Row::snippet, "How the section begins.")};
  }
};
struct Output {
  std::string path;
  std::vector<Row> notes;
  std::vector<std::string> warnings;
};

std::string beginning_of(const std::string& content) {
  std::string text(trim(prefix_at_grapheme(content, kSnippetBytes)));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return text;
}

Result<Output> run(Context& ctx, const Input& in) {
  const NotePath path = INDX_TRY(NotePath::parse(in.path));
  NoteFilter filter;
  filter.path_glob = in.path_glob;
  auto& retrieval = ctx.retrieval();
  const auto vectors = INDX_TRY(retrieval.vectors());
  Output out{path.str(), {}, warnings_of(vectors)};
  const auto chunks =
      INDX_TRY(retrieval.near_note(path, filter, static_cast<std::size_t>(in.limit)));
  for (const auto& chunk : chunks) {
    const bool is_there = std::any_of(out.notes.begin(), out.notes.end(),
                                      [&](const Row& row) { return row.path == chunk.path; });
    if (is_there) continue;  // its nearest section came first
    Row& row = out.notes.emplace_back();
    row.path = chunk.path;
    row.title = chunk.title;
    row.similarity = chunk.similarity;
    if (!chunk.heading_path.empty()) row.heading = chunk.heading_path.back();
    row.line = chunk.line;
    row.snippet = beginning_of(chunk.content);
  }
  return out;
}

}  // namespace note_similar_op

Operation note_similar() {
  using namespace note_similar_op;
  return define<Input, Output>({
      .name = "note_similar",
      .summary = "Find the notes that are nearest in meaning to a note.",
      .guidance =
          "Compares vectors that are there already and asks no model. For a question in words use "
          "vault_search with mode hybrid; for notes that link to this one, link_backlinks.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/similar/{path}"},
      .cli_positional = {"path"},
      .is_idempotent = true,
      .reads_index = true,
      .tool_group = "note_explore",
      .input = {path_field(&Input::path),
                field("path_glob", &Input::path_glob,
                      "Only paths that match, such as `Projects/**`.", optional, length(0, 1024)),
                field("limit", &Input::limit, "Most notes.", optional, between(1, 50))},
      .output = {field("path", &Output::path, "The note asked for."),
                 field("notes", &Output::notes, "Nearest first, without the note itself."),
                 field("warnings", &Output::warnings,
                       "Codes: `embeddings_unavailable`: none can be found; "
                       "`embedding_model_changed`; `embeddings_incomplete`.")},
      .failures = {{Reason::NotFound, "No note has that path."},
                   {Reason::Forbidden, "The path is outside your globs."}},
      .handler = run,
  });
}

}  // namespace indx
