#pragma once
#include "base/json.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace indx {

/// URIs of resources as values (mcp.md section 10, point 10). They are read from the raw text: a
/// general parser folds `..`, takes folders for hosts, and cuts names at `#` and `?`.
struct ResourceUri {
  enum class Kind : std::uint8_t {
    File,       ///< vault://Folder/Note.md, vault:///search/Note.md
    Glob,       ///< vault://Folder/**; only to subscribe to
    Search,     ///< vault://search?q=…
    Graph,      ///< vault://graph
    Backlinks,  ///< vault://graph/backlinks/<path>
    Forward,    ///< vault://graph/forward/<path>
    Tags,       ///< vault://tags
    Canvas,     ///< vault://canvas/<path>
    Base,       ///< vault://base/<path>
    Summary,    ///< ai://summary/<AiScope>
    Map         ///< ai://moc/<AiScope>
  };
  Kind kind = Kind::File;
  std::string path;  ///< of a file, decoded and in NFC; of Glob the pattern (glob_match)
  std::vector<std::pair<std::string, std::string>> query;  ///< decoded, in order
  Json scope;                                              ///< of Summary and Map: an object
};

/// `vault://Daily/A%20b.md`; `vault:///path` where the first folder is named like a synthetic
/// resource.
std::string vault_uri(std::string_view path);
/// `ai://summary/…` or `ai://moc/…` of a scope.
std::string ai_uri(ResourceUri::Kind kind, const Json& scope);

/// What resources/read may be asked for. Encoded and raw forms are accepted. `not_found`: another
/// scheme, or a synthetic resource that there is not; `validation_failed`: no file can be meant.
Result<ResourceUri> parse_resource_uri(std::string_view uri);
/// What can be subscribed to: the same, and globs. A glob has a `*` that is not percent-encoded, or
/// ends in `/`: all that is below; an encoded character always stands for itself.
Result<ResourceUri> parse_watched_uri(std::string_view uri);

}  // namespace indx
