#pragma once
#include "base/clock.hpp"
#include "base/json.hpp"
#include "vault/markdown.hpp"

#include <optional>
#include <string>
#include <vector>

namespace indx {

/// Questions to the index and their answers, as values: the store answers them, operations ask
/// them.

/// Path restriction of the caller: a row is visible if it matches one of `any_of` (when not empty)
/// and none of `none_of`.
struct PathScope {
  std::vector<std::string> any_of;
  std::vector<std::string> none_of;
  bool allows(std::string_view path) const;
  bool restricts() const { return !any_of.empty() || !none_of.empty(); }
};

struct NoteFilter {
  std::string path_glob;              ///< empty: all
  std::vector<std::string> tags;      ///< all must match, nested included, without `#`
  Json frontmatter = Json::object();  ///< {key: value}: property equals, or list contains, value
  PathScope scope;                    ///< what the caller may see
  PathScope narrower = {};            ///< what of that may be looked at
  std::optional<std::vector<std::string>> only = {};  ///< sorted paths; nullopt: any
};

struct NoteRow {
  std::string path, title, etag;
  std::size_t size = 0;
  Timestamp modified;
  std::vector<std::string> tags;
};

template <typename Row>
struct Page {
  std::vector<Row> rows;
  std::optional<std::string> next_cursor;  ///< opaque; nullopt at the end
};

enum class SearchMatch : std::uint8_t { AllThenAny, All, Any };

struct SearchRequest {
  std::string q;
  SearchMatch match = SearchMatch::AllThenAny;
  NoteFilter filter;
  int limit = 20;
  std::string cursor;
  bool explain = false;  ///< each hit says how its score came about
};

/// A note, or any file that was asked for by its name; such a one has no snippet.
struct SearchHit {
  std::string path, title;
  double score = 0;     ///< larger is better; deterministic for a vault state
  std::string snippet;  ///< matches in **bold**
  std::vector<std::string> tags;
  std::vector<std::string> matched_in;  ///< of title, body, tags, frontmatter
  std::string matched;                  ///< `all` or `some` of the words
  int line = 0;                      ///< 1-based, of the snippet's first match; 0: not in the text
  std::string heading = {};          ///< of the section with that line; empty: none
  std::optional<Json> explain = {};  ///< parts of the score, when asked for
};

struct SearchPage : Page<SearchHit> {
  std::vector<std::string> suggestions;  ///< indexed words near to those that no note has
  bool has_bad_pattern = false;          ///< a /regex/ was not one that is known: literal text
};

struct TagCount {
  std::string tag;       ///< spelled as in its first use by (path, offset)
  int count = 0;         ///< notes with exactly this tag
  int count_nested = 0;  ///< notes with it or one below it
};

struct ResolvedLink {
  Link link;
  std::optional<std::string> path;  ///< reached file; nullopt: unresolved
  bool subpath_resolved = true;     ///< false without a path
  std::vector<std::string> alias_of;
  std::string context = {};  ///< the line that holds it
};

struct IndexCounts {
  int notes = 0, files = 0, headings = 0, tags = 0, links = 0, unresolved_links = 0, chunks = 0;
  std::int64_t bytes = 0;
  std::string generation;  ///< `<epoch>-<counter>`, moves with every change
  std::vector<std::string> warnings;
};

}  // namespace indx
