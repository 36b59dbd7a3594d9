#include "base/word_stem.hpp"

#include <string_view>
#include <utility>

namespace indx {

std::string singular(std::string word) {
  const auto ends = [&](std::string_view ending) {
    return word.size() > ending.size() + 1 && word.ends_with(ending);
  };
  if (ends("ies") && word.size() > 4) return word.replace(word.size() - 3, 3, "y");
  if (ends("sses") || ends("xes") || ends("ches") || ends("shes"))
    return word.substr(0, word.size() - 2);
  if (ends("s") && word.size() > 3 && !ends("ss") && !ends("us") && !ends("is")) word.pop_back();
  return word;
}

std::string word_stem(std::string word) {
  auto stem = singular(std::move(word));
  for (const std::string_view ending : {"ing", "edly", "ed", "ly", "es", "e"})
    if (stem.size() >= ending.size() + 3 && stem.ends_with(ending)) {
      stem.resize(stem.size() - ending.size());
      break;
    }
  const auto size = stem.size();
  const bool is_doubled = size > 3 && stem[size - 1] == stem[size - 2] &&
                          std::string_view("bdgmnprt").find(stem.back()) != std::string_view::npos;
  if (is_doubled) stem.pop_back();  // planning, planned
  return stem;
}

}  // namespace indx
