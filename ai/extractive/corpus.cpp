#include "ai/extractive/corpus.hpp"

#include "base/unicode.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace indx {
namespace {

constexpr std::size_t kMaxWordBytes = 64;

bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }

/// The end of the word that begins at `at`: letters, digits, marks, and an apostrophe between
/// letters; spaced scripts only.
std::size_t word_end(std::string_view text, std::size_t at, bool* is_ascii) {
  *is_ascii = true;
  while (at < text.size()) {
    const char c = text[at];
    if (is_ascii_letter(c) || is_ascii_digit(c)) {
      ++at;
    } else if (c == '\'' && at + 1 < text.size() && is_ascii_letter(text[at + 1])) {
      ++at;
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      const auto point = decode_at(text, at);
      const bool is_part =
          (is_letter(point.value) || is_digit(point.value) || is_mark(point.value)) &&
          !is_unspaced_script(point.value);
      if (!is_part && point.value != 0x2019) return at;
      at += point.length;
      *is_ascii = false;
    } else {
      return at;
    }
  }
  return at;
}

/// Folded, with a typographic apostrophe as a plain one and without a final 's.
std::string folded_word(std::string_view word, bool is_ascii) {
  std::string folded;
  if (is_ascii) {
    folded.assign(word);
    for (char& c : folded)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  } else {
    folded = fold_case(word);
    for (auto at = folded.find("\u2019"); at != folded.npos; at = folded.find("\u2019", at))
      folded.replace(at, 3, "'");
  }
  while (folded.ends_with('\'')) folded.pop_back();
  if (folded.ends_with("'s") && !is_stop_word(folded)) folded.resize(folded.size() - 2);
  return folded;
}

bool is_number(std::string_view word) {
  return std::all_of(word.begin(), word.end(), is_ascii_digit);
}

using UseWord = std::function<void(std::string&&)>;

/// Gives the overlapping pairs of the run of unspaced script at `at`, or its only character;
/// returns the end of the run.
std::size_t for_each_bigram(std::string_view text, std::size_t at, const UseWord& use) {
  auto previous = at;
  at += decode_at(text, at).length;
  bool is_alone = true;
  while (at < text.size()) {
    const auto point = decode_at(text, at);
    if (!is_unspaced_script(point.value)) break;
    use(fold_case(text.substr(previous, at + point.length - previous)));
    is_alone = false;
    previous = at;
    at += point.length;
  }
  if (is_alone) use(fold_case(text.substr(previous, at - previous)));
  return at;
}

/// Calls `use(word)` for each content word of the text.
void for_each_word(std::string_view text, const UseWord& use) {
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (static_cast<unsigned char>(c) < 0x80 && !is_ascii_letter(c) && !is_ascii_digit(c)) {
      ++at;
      continue;
    }
    const auto point = decode_at(text, at);
    if (is_unspaced_script(point.value)) {
      at = for_each_bigram(text, at, use);
      continue;
    }
    bool is_ascii = true;
    const auto end = word_end(text, at, &is_ascii);
    if (end == at) {
      at += point.length;
      continue;
    }
    auto word = folded_word(text.substr(at, end - at), is_ascii);
    at = end;
    if (word.size() >= 2 && word.size() <= kMaxWordBytes && !is_number(word) && !is_stop_word(word))
      use(std::move(word));
  }
}

}  // namespace

std::vector<std::string> content_words(std::string_view text) {
  std::vector<std::string> words;
  for_each_word(text, [&](std::string&& word) { words.push_back(std::move(word)); });
  return words;
}

void Corpus::add(const std::string& path, std::string_view text, std::vector<std::string> tags) {
  const auto id = static_cast<std::uint32_t>(documents_.size());
  documents_.push_back({path, std::move(tags), 0});
  by_path_.emplace(path, id);
  for_each_word(text, [&](std::string&& word) {
    auto& list = postings_[std::move(word)];
    if (!list.empty() && list.back().document == id)
      list.back().weight += 1;
    else
      list.push_back({id, 1});
  });
}

void Corpus::finish() {
  for (auto& [word, list] : postings_) {
    const double idf =
        std::log((1.0 + static_cast<double>(size())) / (1.0 + static_cast<double>(list.size()))) +
        1;
    for (auto& posting : list) {
      const double weight = (1 + std::log(static_cast<double>(posting.weight))) * idf;
      posting.weight = static_cast<float>(weight);
      documents_[posting.document].norm += weight * weight;
    }
    list.shrink_to_fit();
  }
  for (auto& document : documents_) document.norm = std::sqrt(document.norm);
}

int Corpus::document_frequency(const std::string& word) const {
  const auto it = postings_.find(word);
  return it == postings_.end() ? 0 : static_cast<int>(it->second.size());
}

double Corpus::inverse_document_frequency(const std::string& word) const {
  return std::log((1.0 + static_cast<double>(size())) / (1.0 + document_frequency(word))) + 1;
}

std::vector<std::pair<std::string, double>> Corpus::weights(std::string_view text) const {
  auto words = content_words(text);
  std::sort(words.begin(), words.end());  // a fixed order of summing
  std::vector<std::pair<std::string, double>> weighted;
  for (auto it = words.begin(); it != words.end();) {
    const auto next =
        std::find_if(it, words.end(), [&](const std::string& word) { return word != *it; });
    weighted.emplace_back(
        *it, (1 + std::log(static_cast<double>(next - it))) * inverse_document_frequency(*it));
    it = next;
  }
  return weighted;
}

std::optional<std::size_t> Corpus::find(const std::string& path) const {
  const auto it = by_path_.find(path);
  return it == by_path_.end() ? std::nullopt : std::optional<std::size_t>(it->second);
}

std::vector<double> Corpus::cosines(std::string_view text) const {
  std::vector<double> scores(documents_.size(), 0);
  double norm = 0;
  for (const auto& [word, weight] : weights(text)) {
    norm += weight * weight;
    if (const auto it = postings_.find(word); it != postings_.end())
      for (const auto& posting : it->second)
        scores[posting.document] += weight * static_cast<double>(posting.weight);
  }
  norm = std::sqrt(norm);
  for (std::size_t id = 0; id < scores.size(); ++id)
    if (scores[id] > 0) scores[id] = std::min(1.0, scores[id] / (norm * documents_[id].norm));
  return scores;
}

std::vector<Neighbour> Corpus::nearest(std::string_view text, std::size_t k,
                                       const std::string& except) const {
  return nearest(text, k, [&](const std::string& path) { return path != except; });
}

std::vector<Neighbour> Corpus::nearest(
    std::string_view text, std::size_t k,
    const std::function<bool(const std::string& path)>& may) const {
  const auto scores = cosines(text);
  std::vector<std::uint32_t> found;
  for (std::uint32_t id = 0; id < scores.size(); ++id)
    if (scores[id] > 0 && may(documents_[id].path)) found.push_back(id);
  const auto count = std::min(k, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count), found.end(),
                    [&](std::uint32_t a, std::uint32_t b) {
                      return scores[a] != scores[b] ? scores[a] > scores[b]
                                                    : documents_[a].path < documents_[b].path;
                    });
  std::vector<Neighbour> nearest;
  for (std::size_t i = 0; i < count; ++i)
    nearest.push_back({documents_[found[i]].path, scores[found[i]], documents_[found[i]].tags});
  return nearest;
}

std::vector<std::string> Corpus::shared_words(std::string_view text, const std::string& path,
                                              std::size_t limit) const {
  const auto document = find(path);
  if (!document) return {};
  const auto id = static_cast<std::uint32_t>(*document);
  std::vector<std::pair<double, std::string>> shared;
  for (const auto& [word, weight] : weights(text)) {
    const auto list = postings_.find(word);
    if (list == postings_.end()) continue;
    const auto posting = std::lower_bound(
        list->second.begin(), list->second.end(), id,
        [](const Posting& p, std::uint32_t wanted) { return p.document < wanted; });
    if (posting != list->second.end() && posting->document == id)
      shared.emplace_back(-weight * static_cast<double>(posting->weight), word);
  }
  std::sort(shared.begin(), shared.end());
  std::vector<std::string> words;
  for (auto& [weight, word] : shared)
    if (words.size() < limit) words.push_back(std::move(word));
  return words;
}

}  // namespace indx
