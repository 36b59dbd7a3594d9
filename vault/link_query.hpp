#pragma once
#include "vault/note_query.hpp"

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// Questions about the links between files and their answers, as values: the store answers them,
/// operations ask them.

/// The links of one note in document order.
struct NoteLinks {
  std::string etag;  ///< of the bytes that the positions belong to
  std::vector<ResolvedLink> links;
};

/// One link where it stands.
struct LinkUse {
  Link link;
  std::string context;  ///< its line, cut to a readable length
};

/// One file that links to the note asked for.
struct Backlink {
  std::string path, title;
  std::int64_t count = 0;            ///< all links
  std::vector<LinkUse> occurrences;  ///< the first `kMaxUsesOfOne`
};
struct BacklinkPage {
  Page<Backlink> page;
  std::int64_t total = 0;  ///< visible files that link to the note
};
inline constexpr std::size_t kMaxUsesOfOne = 100;

struct UnresolvedUse {
  std::string path;
  Link link;
};
/// A link target that no file answers to.
struct UnresolvedTarget {
  std::string target;  ///< as first written
  std::int64_t count = 0, source_count = 0;
  std::vector<UnresolvedUse> uses;    ///< the first `kMaxUsesOfOne`
  std::vector<std::string> alias_of;  ///< notes that have the target as an alias
};

enum class OrphanKind : std::uint8_t { Orphans, NoIncoming, NoOutgoing };
struct OrphanRow {
  std::string path, title;
  bool has_incoming = false, has_outgoing = false;
};

/// Where one link text leads from one note.
struct LinkQuestion {
  std::string source;  ///< path of the note it stands in; need not exist
  Link link;
};
struct LinkAnswer {
  std::optional<std::string> path;
  bool subpath_resolved = true;  ///< false without a path
  int line = 0;                  ///< of what is reached in a note; 0: no note
  std::vector<std::string> candidates, alias_of;
};

/// A place where a note is named without a link.
struct MentionUse {
  std::string name;  ///< as it stands there
  int line = 0, column = 0;
  std::string context;
};
struct Mention {
  std::string path, title;
  std::int64_t count = 0;
  std::vector<MentionUse> occurrences;  ///< the first `kMaxUsesOfOne`
};

/// The links to one note that have a subpath, and what tells which links those are.
struct AnchorGround {
  struct Use {
    std::string source, subpath;
    auto operator<=>(const Use&) const = default;
  };
  std::map<std::string, std::vector<std::string>> files;  ///< as MoveWorld needs them
  std::vector<Use> uses;                                  ///< each once, by source
};

enum class LinkDirection : std::uint8_t { Both, Outgoing, Incoming };
struct NeighborQuestion {
  int depth = 1;
  LinkDirection direction = LinkDirection::Both;
  bool include_attachments = false;
  int limit = 100;
  std::string cursor;
};
struct Neighbor {
  std::string path, title;
  int distance = 0;
};
struct GraphEdge {
  std::string source, target;
  std::int64_t count = 0;
  auto operator<=>(const GraphEdge&) const = default;
};
struct Neighborhood {
  Page<Neighbor> page;           ///< by distance, then path; the note itself first
  std::vector<GraphEdge> edges;  ///< walked links of the page's notes with notes up to them
  bool is_truncated = false;     ///< there are more notes than a walk looks at
};

/// The line of bytes[begin, end) without white space at its ends, cut at grapheme borders to about
/// 200 bytes around it.
std::string link_context(std::string_view bytes, std::size_t begin, std::size_t end);

}  // namespace indx
