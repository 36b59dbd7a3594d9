#pragma once
#include "vault/frontmatter.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// Internal to `vault/frontmatter*`: YAML text as a tree of nodes that know where they stand in the
/// source.
struct YamlNode {
  enum class Kind : std::uint8_t { Scalar, Sequence, Mapping, Alias };

  Kind kind = Kind::Scalar;
  bool plain = false;         ///< unquoted scalar: typed by the core schema
  bool block_scalar = false;  ///< `|` or `>`
  bool flow = false;          ///< `[…]` or `{…}`
  bool decorated = false;     ///< it or something in it has an anchor, an alias or a tag
  bool closed =
      false;  ///< a collection that is complete: only such a node may be the target of an alias
  std::size_t
      begin = 0,
      end = 0;  ///< source bytes, quotes and block scalar header included; equal for an empty value
  std::string text;           ///< of a scalar, unescaped
  std::string tag;            ///< explicit tag such as `!!str`; empty if none
  std::vector<int> children;  ///< items, or keys and values in turn
  int target = -1;            ///< of an alias
};

struct YamlTree {
  std::vector<YamlNode> nodes;
  int root = -1;                          ///< -1: empty document
  std::optional<FrontmatterError> error;  ///< line and column count within the text, from 1
};

/// Reads one YAML document. Depth, size and the number of nodes are bounded.
YamlTree read_yaml(std::string_view text);

/// Types by the YAML 1.2 core schema (rule 3.3), with these choices where JSON has no answer: an
/// integer beyond 2^53, an infinity or a not-a-number stays the text of the source, so that no
/// reader changes it by rounding. Merge keys
/// (`<<`) are applied. Sets `*error` on duplicate keys, keys that are no scalars, and alias
/// expansion beyond a bound.
Json yaml_value(const YamlTree& tree, int node, std::string* error);

/// The type that a plain YAML scalar has under the core schema.
Json plain_yaml_scalar(std::string_view text);

/// What a value reads back as once it is written: integers beyond 2^53 are texts; numbers of the
/// top-level keys `id`, `created` and `updated` too (row A41).
Json as_read_back(std::string_view top_level_key, const Json& value);
bool is_text_only_key(std::string_view key);

/// Gives the new name of a tag without `#`, or nullopt where it stays.
using TagRename = std::function<std::optional<std::string>(std::string_view tag)>;
/// Applies a renaming to the `tags` property; only the bytes of the items change (rule 4.9).
Result<std::string> rename_property_tags(std::string_view bytes, const TagRename& rename);

inline constexpr std::size_t kMaxFrontmatterBytes = 1U << 20U;
inline constexpr int kMaxYamlDepth = 48;

}  // namespace indx
