#pragma once
#include "vault/markdown.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace indx {

/// A link as a base sees it.
struct BaseRowLink {
  LinkKind kind = LinkKind::Link;
  bool is_external = false;
  std::string target, subpath;
  std::optional<std::string> display;
  std::optional<std::string> path;  ///< of the file it reaches; nullopt: none that the caller sees
};

/// One file of the vault as a base sees it.
struct BaseFileRow {
  std::string path;
  bool is_candidate = true;  ///< false: it cannot be in the result; only its path is filled in
  std::size_t size = 0;
  std::int64_t modified_ms = 0;  ///< since 1970 UTC
  std::optional<std::int64_t> created_ms;
  std::string properties;         ///< JSON object; empty: none
  std::vector<std::string> tags;  ///< without `#`, inline and of the property
  std::vector<BaseRowLink> links;
};

/// What a query has to know of the files: the rest is left out.
struct BaseRowNeeds {
  bool properties = false, tags = false, links = false, created = false;
  /// Conditions that each result fulfils: a file that does not may be marked as no candidate.
  std::vector<std::string> all_tags;  ///< folded, without `#`; nested tags count
  std::optional<std::string> folder;  ///< without slashes around; sub-folders count
  std::optional<std::string> extension;
};

/// Where the files come from. In order of their paths, each once, hidden ones left out.
using BaseRowVisitor = std::function<void(BaseFileRow row)>;
using BaseRowSource = std::function<Status(const BaseRowNeeds& needs, const BaseRowVisitor& visit)>;

}  // namespace indx
