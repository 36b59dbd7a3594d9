#pragma once
#include "vault/link_resolver.hpp"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace indx {

/// The files of an index while a scan brings many new ones: those that are there, and those that
/// will come, each with the id that it has or will get. So a link resolves once, even before its
/// target came.
class ExpectedFiles {
 public:
  ExpectedFiles(std::vector<LinkCandidates::File> present, const std::vector<std::string>& coming);

  struct Arrival {
    std::int64_t id = 0;
    bool was_expected = false;
  };
  /// The id for a file that is new to the index.
  Arrival arrive(const std::string& path);
  void forget(const std::string& path);
  std::vector<LinkCandidates::File> with_key(const std::string& key) const;
  /// Paths that did not come.
  std::vector<std::string> missing() const;

 private:
  std::unordered_map<std::string, std::int64_t> coming_;  ///< path to id
  std::unordered_map<std::string, std::vector<LinkCandidates::File>> by_key_;
  std::int64_t next_id_ = 1;
};

}  // namespace indx
