#pragma once
#include "store/search_rank.hpp"

#include <list>
#include <memory>
#include <mutex>
#include <string>

namespace indx {

/// What searches of one generation of the index found out and would have to read again: the rows of
/// words that are in many notes, and the lengths of all notes. Safe from any thread.
class SearchMemory {
 public:
  /// Null where nothing is known at that generation.
  std::shared_ptr<const NoteLengths> lengths(const std::string& generation);
  std::shared_ptr<const PhraseCounts> rows(const std::string& generation,
                                           const std::string& phrase);

  /// Shared: a search goes on with what it took. Rows of rare phrases are not kept; of the others,
  /// those used last, up to `kMostBytes`.
  void keep(const std::string& generation, std::shared_ptr<const NoteLengths> lengths);
  void keep(const std::string& generation, const std::string& phrase,
            std::shared_ptr<const PhraseCounts> rows);

  static constexpr std::size_t kManyRows = 2000;
  static constexpr std::size_t kMostBytes = std::size_t{32} << 20U;

 private:
  struct Kept {
    std::string phrase;
    std::shared_ptr<const PhraseCounts> rows;
  };
  void turn_to(const std::string& generation);

  std::mutex mutex_;
  std::string generation_;
  std::shared_ptr<const NoteLengths> lengths_;
  std::list<Kept> kept_;  ///< last used first
  std::size_t bytes_ = 0;
};

}  // namespace indx
