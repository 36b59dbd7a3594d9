#pragma once
#include "ai/tagging.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace indx {

/// Words of a text in order: folded, without stop words when asked; CJK runs give bigrams.
std::vector<std::string> content_words(std::string_view text);
bool is_stop_word(std::string_view folded_word);

/// TF-IDF statistics of a set of notes. Built once, then read-only and safe from several threads.
/// Deterministic: the same notes in the same order give the same numbers.
class Corpus {
 public:
  void add(const std::string& path, std::string_view text, std::vector<std::string> tags);
  void finish();

  std::size_t size() const { return documents_.size(); }
  const std::string& path(std::size_t document) const { return documents_[document].path; }
  const std::vector<std::string>& tags(std::size_t document) const {
    return documents_[document].tags;
  }
  /// The note at a path, as an index below `size`.
  std::optional<std::size_t> find(const std::string& path) const;
  /// Notes that hold the folded word.
  int document_frequency(const std::string& word) const;
  /// ln((1 + N) / (1 + df)) + 1
  double inverse_document_frequency(const std::string& word) const;
  /// Cosine of the text's log-TF-IDF vector with that of each note, 0..1, by index. Costs the
  /// postings of the text's words and one number a note.
  std::vector<double> cosines(std::string_view text) const;
  /// The k notes nearest to the text by cosine of log-TF-IDF vectors, best first, ties by path;
  /// `except` is left out.
  std::vector<Neighbour> nearest(std::string_view text, std::size_t k,
                                 const std::string& except) const;
  /// The same of the notes at paths that `may` allows.
  std::vector<Neighbour> nearest(std::string_view text, std::size_t k,
                                 const std::function<bool(const std::string& path)>& may) const;
  /// Words of the text that the note at `path` holds too, those that make the two alike most first.
  std::vector<std::string> shared_words(std::string_view text, const std::string& path,
                                        std::size_t limit) const;

 private:
  struct Document {
    std::string path;
    std::vector<std::string> tags;
    double norm = 0;
  };
  struct Posting {
    std::uint32_t document;
    float weight;
  };
  /// The distinct words of a text in order of bytes, each with its log-TF-IDF weight.
  std::vector<std::pair<std::string, double>> weights(std::string_view text) const;

  std::vector<Document> documents_;
  std::unordered_map<std::string, std::uint32_t> by_path_;
  std::unordered_map<std::string, std::vector<Posting>> postings_;
};

}  // namespace indx
