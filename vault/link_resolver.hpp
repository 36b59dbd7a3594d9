#pragma once
#include "vault/markdown.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace indx {

/// The key under which a file is found by links: its last component, folded, without `.md` (repeats
/// too).
std::string name_key_of_path(std::string_view path);
/// The name key of the files a link target may reach; nullopt when the target is the note itself.
std::optional<std::string> name_key_of_target(std::string_view target);

/// The key under which links to files that are not there are grouped: the target folded, without
/// `.md`.
std::string target_key(std::string_view target);

/// The files that share one name key, ready to be asked for links (vault-rules 5.2). A value: no
/// SQL.
class LinkCandidates {
 public:
  struct File {
    std::int64_t id = 0;
    std::string path;
  };
  explicit LinkCandidates(std::vector<File> files);
  LinkCandidates(LinkCandidates&&) =
      default;  // by_path_ points into entries_: moved together, never copied

  /// The file a link of the note `source` reaches; all of its candidates must be here. `target` is
  /// not empty.
  const File* resolve(std::string_view source, std::string_view target, LinkSyntax syntax) const;
  /// Every file that the name or partial path may mean, shortest path first.
  std::vector<const File*> matches(std::string_view target) const;

 private:
  struct Entry {
    File file;
    std::string folded;
    std::size_t length = 0;  ///< code points of `folded`
  };
  const File* exact(const std::string& folded, std::string_view written) const;
  const File* exact_or_note(const std::string& folded, std::string_view written) const;
  const File* shortest_ending(const std::string& folded, std::string_view written) const;
  const File* by_spelling(const Entry& found, std::string_view written) const;

  std::vector<Entry> entries_;  ///< shortest first, then by bytes
  std::unordered_multimap<std::string_view, const Entry*> by_path_;
};

/// Rule 5.3: the form in which headings are compared.
std::string heading_key(std::string_view text);

/// What a subpath can point to in one note.
struct NoteAnchors {
  struct Heading {
    int level = 1;
    std::string key;  ///< heading_key of the text without a block id
    int line = 0;
  };
  struct Block {
    std::string id;  ///< folded
    int line = 0;
  };
  std::vector<Heading> headings;  ///< in document order
  std::vector<Block> blocks;
};
/// The text of a heading without the block id at its end.
std::string_view without_block_id(std::string_view heading);
/// The line of the heading or block that a link's subpath (without the first `#`) reaches; nullopt:
/// none.
std::optional<int> find_subpath(std::string_view subpath, const NoteAnchors& anchors);

}  // namespace indx
