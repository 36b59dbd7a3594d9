#pragma once
#include "vault/markdown.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace indx {

class BasePrefilter;

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

/// What a query has to know of the files: the rest may be left out.
struct BaseRowNeeds {
  bool properties = false, tags = false, links = false, created = false;
  bool size_and_time = false;
  /// Where `properties` is set: those that are read, as expressions write them; nullopt: any.
  std::optional<std::vector<std::string>> property_names;
  /// What expressions may look at of other files than their own.
  enum class Others : std::uint8_t {
    Linked,  ///< paths, and only where a property of a candidate `may_hold_link`
    Paths,   ///< paths: a file that is no candidate has to be there
    All      ///< everything: each file is a candidate
  };
  Others others = Others::All;
  /// Files that it drops may be marked as no candidate; null: each file is one.
  const BasePrefilter* prefilter = nullptr;
};

/// False: no value in this JSON is a link, whatever a base makes of texts.
bool may_hold_link(std::string_view json);

/// Where the files come from. In order of their paths, each once, hidden ones left out.
using BaseRowVisitor = std::function<void(BaseFileRow row)>;
using BaseRowSource = std::function<Status(const BaseRowNeeds& needs, const BaseRowVisitor& visit)>;

}  // namespace indx
