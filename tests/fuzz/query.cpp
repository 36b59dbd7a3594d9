#include "base/text.hpp"
#include "store/database.hpp"
#include "store/search_query.hpp"
#include "store/search_text.hpp"
#include "store/tokenizer.hpp"
#include "tests/fuzz/claims.hpp"

/// Input: query, note text. No query is an error of the full-text engine, and every word of a text
/// finds that text.

namespace indx::fuzz {
namespace {

Database& full_text() {
  static Database db = [] {
    auto opened = Database::open(":memory:", {});
    CLAIM(opened.has_value());
    CLAIM(opened->execute("CREATE VIRTUAL TABLE t USING fts5(body, tokenize='indx')").has_value());
    return std::move(opened).value();
  }();
  return db;
}

bool matches(const std::string& phrase) {
  auto query = full_text().prepare("SELECT count(*) FROM t WHERE t MATCH ?1");
  const auto stepped = query.bind(phrase).step();
  CLAIM(stepped.has_value());
  return query.integer(0) > 0;
}

void check_query(std::string_view q, std::string_view text) {
  const auto query = parse_query(q);
  if (!query.has_value()) {
    CLAIM(query.error().reason == Reason::ValidationFailed);
    return;
  }
  has_text(*query);
  std::vector<const QueryText*> texts;
  collect_texts(*query, texts);
  const auto folded = fold_for_search(text);
  for (const auto* one : texts) {
    if (!one->words.empty()) matches(fts_phrase(*one));
    holds_exact(*one, folded);
  }
  const auto found = find_texts(text, texts, 50);
  const bool is_utf8 = is_valid_utf8(text);
  for (const auto& match : found) {
    CLAIM(is_range(text, is_utf8, match.begin, match.end) && match.text < texts.size());
  }
  const auto snippet = make_snippet(text, found);
  CLAIM(!is_utf8 || is_valid_utf8(snippet));
}

void check_words(std::string_view text) {
  CLAIM(full_text().execute("DELETE FROM t").has_value());
  auto insert = full_text().prepare("INSERT INTO t VALUES (?1)");
  CLAIM(insert.bind(replace_invalid_utf8(text)).run().has_value());
  WordReader words(text);
  std::size_t last = 0;
  for (int i = 0; i < 40 && words.next(); ++i) {
    CLAIM(words.begin() >= last && words.begin() < words.end() && words.end() <= text.size());
    last = words.end();
    const auto query = parse_query(text.substr(words.begin(), words.end() - words.begin()));
    if (!query.has_value() || !is_valid_utf8(text)) continue;
    std::vector<const QueryText*> texts;
    collect_texts(*query, texts);
    for (const auto* one : texts) {
      if (one->words.empty()) continue;
      CLAIM(matches(fts_phrase(*one)));
      CLAIM(!find_texts(text, {one}, 1).empty());
    }
  }
}

}  // namespace
}  // namespace indx::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const indx::fuzz::Parts parts(FUZZ_INPUT(data, size));
  indx::fuzz::check_words(parts[1]);
  indx::fuzz::check_query(parts[0], parts[1]);
  return 0;
}
