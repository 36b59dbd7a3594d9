#pragma once
#include "vault/base_rows.hpp"
#include "vault/base_value.hpp"
#include "vault/link_resolver.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace indx {

/// The files of one query: looked up by path or link, their properties read when asked for. One
/// thread at a time.
class BaseFiles {
 public:
  explicit BaseFiles(std::vector<BaseFileRow> rows);

  const std::vector<BaseFileRow>& rows() const { return rows_; }
  const BaseFileRow& row(std::size_t index) const { return rows_[index]; }
  std::optional<std::size_t> find(std::string_view path) const;
  /// The file that a link reaches (vault-rules 5.2).
  std::optional<std::size_t> resolve(const BaseLink& link) const;
  /// Never null.
  std::shared_ptr<const Json> properties(std::size_t index) const;
  /// One of them, as `find_property` finds it; nullopt: none. Reads only its own text.
  std::optional<Json> property(std::size_t index, std::string_view name) const;
  /// The files that link to this one, in order.
  const std::vector<std::size_t>& backlinks(std::size_t index) const;

 private:
  std::vector<BaseFileRow> rows_;  // in order of their paths
  struct Parsed {
    std::size_t row = 0;
    std::shared_ptr<const Json> json;  // shared: outlives its place in the cache
  };
  mutable std::vector<Parsed> parsed_;
  mutable std::size_t next_parsed_ = 0;
  mutable std::optional<std::unordered_map<std::string, std::vector<std::size_t>>> by_name_;
  mutable std::unordered_map<std::string, LinkCandidates> candidates_;
  mutable std::optional<std::unordered_map<std::size_t, std::vector<std::size_t>>> backlinks_;
};

}  // namespace indx
