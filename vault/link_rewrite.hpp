#pragma once
#include "base/result.hpp"
#include "vault/link_resolver.hpp"
#include "vault/markdown.hpp"
#include "vault/note_query.hpp"
#include "vault/text_edit.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace indx {

/// One file that goes from one path to another.
struct FileMove {
  std::string from, to;
  bool operator==(const FileMove&) const = default;
};

/// A file, or a folder with all its files, that is to move.
struct MoveTree {
  bool is_folder = false;
  std::vector<std::string> files;  ///< paths before the move
};
/// What the index knows about the links that a move may break.
struct MoveGround {
  std::map<std::string, std::vector<std::string>> files;  ///< as MoveWorld needs them
  std::vector<std::string> sources;  ///< files with links that the move may change, sorted
};

/// Where links lead before and after a move (vault-rules 5.5). A value; safe to share between
/// threads once made.
class MoveWorld {
 public:
  /// `files`: the paths before the move of every file with a name key that a moved file has or
  /// gets, or that a link of a moved note looks for, by that key. `scope`: which files a new link
  /// may name; one that reaches another file is left alone, for its text would show where that is.
  MoveWorld(const std::vector<FileMove>& moves,
            const std::map<std::string, std::vector<std::string>>& files, PathScope scope = {});

  /// The path after the move of a file that had this one before.
  const std::string& place_after(const std::string& path) const;
  bool is_moved(const std::string& path) const { return moves_.contains(path); }
  bool may_name(const std::string& path) const { return scope_.allows(path); }
  /// The file that a link reaches, by its path at that time; `target` is not empty.
  std::optional<std::string> before(std::string_view source, std::string_view target,
                                    LinkSyntax syntax) const;
  std::optional<std::string> after(std::string_view source, std::string_view target,
                                   LinkSyntax syntax) const;

 private:
  using ByKey = std::unordered_map<std::string, LinkCandidates>;
  static ByKey by_key(const std::map<std::string, std::vector<std::string>>& files);

  PathScope scope_;
  std::unordered_map<std::string, std::string> moves_;
  ByKey before_, after_;
};

/// What becomes of the target of one link.
struct NewTarget {
  std::string target;  ///< plain text: not encoded, without the subpath
  std::string wanted;  ///< path of the file that it must reach after the move
  std::string old_path;
};
/// nullopt: the link stays as it is. `conflict` when no text of that kind of link reaches the file,
/// `forbidden` when it would have to name a file outside the scope.
Result<std::optional<NewTarget>> new_target(const Link& link, const std::string& source,
                                            const MoveWorld& world);

struct LinkRewrite {
  std::vector<TextEdit> edits;   ///< in order
  int count = 0;                 ///< links rewritten
  std::optional<Error> problem;  ///< `conflict`: a link that no text keeps on its file, left alone
  bool has_hidden_targets = false;  ///< links to files outside the scope were left alone
};
/// The edits that keep every link of one note or canvas on its file. `source`: its path before the
/// move. Display text, subpath, embed mark, typed `.md`, style of the path, escapes and brackets
/// stay; a display text that equals the old name follows it. Fails with `not_utf8` and
/// `parse_failed` (a property block that cannot be edited, a file that is no canvas).
Result<LinkRewrite> rewrite_links(std::string_view bytes, const std::string& source,
                                  const MoveWorld& world, const ParseOptions& options = {});
/// The same for Markdown, whatever the name of the file it stands in.
Result<LinkRewrite> rewrite_text_links(std::string_view bytes, const std::string& source,
                                       const MoveWorld& world, const ParseOptions& options);

/// A path as the destination of a Markdown link: only what Markdown cannot carry is encoded
/// (vault-rules 5.4). `is_careful` also encodes what begins code or math.
std::string encode_destination(std::string_view path, bool in_angle_brackets,
                               bool is_careful = false);

}  // namespace indx
