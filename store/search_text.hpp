#pragma once
#include "store/search_query.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// Whether every exact piece of the text stands in `folded` (fold_for_search of a note) as whole
/// words.
bool holds_exact(const QueryText& text, std::string_view folded);

/// Where the texts of a query occur in one text, in order.
struct TextMatch {
  std::size_t begin = 0, end = 0;
  std::size_t text = 0;  ///< index of the QueryText
};
/// Stops after `max` matches.
std::vector<TextMatch> find_texts(std::string_view text,
                                  const std::vector<const QueryText*>& wanted, std::size_t max);
/// Adds where the patterns match, numbered from `first` on; keeps the order.
void add_pattern_matches(std::string_view text, const std::vector<const Regex*>& patterns,
                         std::size_t first, std::size_t max, std::vector<TextMatch>& matches);
/// The match that a snippet begins with: where most of the wanted texts are near. Needs a match.
std::size_t best_match(const std::vector<TextMatch>& matches);

/// About 200 bytes around the place that holds most of the wanted texts, white space collapsed,
/// matches in **bold**. Never cuts a grapheme. Without matches: the beginning.
std::string make_snippet(std::string_view text, const std::vector<TextMatch>& matches);

}  // namespace indx
