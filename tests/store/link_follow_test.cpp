#include "base/json.hpp"
#include "base/unicode.hpp"
#include "tests/store/index_fixture.hpp"
#include "vault/link_rewrite.hpp"

#include <algorithm>

namespace indx {
namespace {

using LinkedFiles = std::map<std::string, std::string>;

/// A vault of random notes, canvases and attachments whose links follow moves as `note_move` does
/// it: sources and candidates come from the index.
class FollowedVault {
 public:
  explicit FollowedVault(SeededRandom& random) : random_(random) {
    for (int i = 0; i < 9; ++i) files_[pick(kFolders) + pick(kNames)] = "x\n";
    for (const auto& [path, text] : files_) all_.push_back(path);
    for (int i = 0; i < 3; ++i) files_[cat(pick(kFolders), "s", i, ".md")] = random_note();
    for (int i = 0; i < 3; ++i) files_[cat(pick(kFolders), "c", i, ".canvas")] = random_canvas();
    index_.put(files_);
  }

  /// Empty when the move cannot be made.
  std::vector<FileMove> random_moves() {
    auto it = files_.begin();
    std::advance(it, static_cast<std::ptrdiff_t>(random_.next() % files_.size()));
    const auto from = it->first;
    const auto name = from.substr(from.rfind('/') + 1);
    std::vector<FileMove> moves;
    switch (random_.next() % 4) {
      case 0: {
        const auto slash = from.find('/');
        if (slash == from.npos) return {};
        const auto folder = from.substr(0, slash + 1);
        const auto to = random_.next() % 3 == 0 ? upper_case(folder)
                                                : cat(pick(kFolders), "m", random_.next() % 3, "/");
        if (to.starts_with(folder)) return {};
        for (const auto& [path, text] : files_)
          if (path.starts_with(folder)) moves.push_back({path, to + path.substr(folder.size())});
        break;
      }
      case 1:
        moves = {{from, from.substr(0, from.size() - name.size()) + upper_case(name)}};
        break;
      case 2:
        moves = {{from, pick(kFolders) + name}};
        break;
      default:
        moves = {{from, pick(kFolders) + other_name(name)}};
    }
    const auto is_taken = [&](const FileMove& move) {
      return std::any_of(files_.begin(), files_.end(), [&](const auto& file) {
        const bool moves_too = std::any_of(moves.begin(), moves.end(), [&](const FileMove& other) {
          return other.from == file.first;
        });
        return !moves_too && fold_case(file.first) == fold_case(move.to);
      });
    };
    if (std::any_of(moves.begin(), moves.end(), is_taken)) return {};
    return moves;
  }

  void move_and_check(const std::vector<FileMove>& moves) {
    const auto ground = index_.links().move_ground(moves).value();
    const MoveWorld world(moves, ground.files);
    std::map<std::string, PathList> before;
    for (const auto& [path, text] : files_) before[path] = index_.reached(path);
    const auto old_files = files_;
    LinkedFiles now;
    for (const auto& [path, text] : files_) {
      const bool is_source = std::binary_search(ground.sources.begin(), ground.sources.end(), path);
      now[world.place_after(path)] = is_source ? relinked(path, text, world) : text;
    }
    put_changed(now);
    for (const auto& [path, wanted] : before) {
      const auto& place = world.place_after(path);
      const auto found = index_.reached(place);
      INFO("moved " << moves.front().from << " to " << moves.front().to << " of " << moves.size()
                    << "\n"
                    << path << " (" << place << ")\n"
                    << old_files.at(path) << "\n=>\n"
                    << now.at(place));
      REQUIRE(found.size() == wanted.size());
      for (std::size_t i = 0; i < wanted.size(); ++i)
        if (wanted[i] != "-") CHECK(found[i] == world.place_after(wanted[i]));
    }
  }

 private:
  static inline const PathList kFolders = {"", "a/", "b/", "a/b/", "Deep folder/"};
  static inline const PathList kNames = {"n.md",  "m.md", "x y.md", "n.m.md",  "$d (1).md",
                                         "p.png", "é.md", "50%.md", "it's.md", "q).pdf"};

  const std::string& pick(const PathList& from) { return from[random_.next() % from.size()]; }

  static std::string upper_case(std::string path) {
    const auto end = path.find_last_of('.') == path.npos ? path.size() : path.find_last_of('.');
    for (std::size_t i = 0; i < end; ++i)
      if (path[i] >= 'a' && path[i] <= 'z') path[i] = static_cast<char>(path[i] - 'a' + 'A');
    return path;
  }
  /// Another name with the same extension.
  std::string other_name(const std::string& name) {
    const auto extension = name.substr(name.rfind('.'));
    return cat("new ", random_.next() % 5, extension);
  }

  std::string random_target() {
    auto path = pick(all_);
    if (random_.next() % 2 == 0) path = path.substr(path.rfind('/') + 1);
    if (random_.next() % 8 == 0) path = "gone " + path;
    return path;
  }
  std::string random_link() {
    const auto path = random_target();
    const bool is_bare = path.ends_with(".md") && random_.next() % 2 == 0;
    const auto written = is_bare ? path.substr(0, path.size() - 3) : path;
    switch (random_.next() % 5) {
      case 0:
        return cat("[[", written, "]] and `[[", written, "]]` ");
      case 1:
        return cat("![[", written, "#H|shown]] ");
      case 2:
        return cat("[t](", encode_destination(path, false), ") ");
      case 3:
        return cat("![t](<", encode_destination(path, true), "#x> \"title\")\n");
      default:
        return cat("[[", written, "#^id]]\n\n");
    }
  }
  std::string random_note() {
    std::string text;
    if (random_.next() % 2 == 0)
      text = cat("---\nup: \"[[", random_target(), "]]\"\nl:\n  - see [[", random_target(),
                 "|x]]\n---\n");
    for (int i = 0; i < 6; ++i) text += random_link();
    return text;
  }
  std::string random_canvas() {
    Json nodes = Json::array();
    for (int i = 0; i < 5; ++i) {
      Json node{{"id", std::to_string(i)}};
      switch (random_.next() % 4) {
        case 0:
          node.update({{"type", "group"}, {"label", "l"}, {"background", pick(all_)}});
          break;
        case 1:
          node.update({{"type", "text"}, {"text", cat("\"q\"\n\t", random_link(), random_link())}});
          break;
        default:
          node.update({{"type", "file"}, {"file", pick(all_)}, {"subpath", "#H"}});
      }
      nodes.push_back(std::move(node));
    }
    return Json{{"nodes", std::move(nodes)}}.dump(static_cast<int>(random_.next() % 3) - 1);
  }

  static std::string relinked(const std::string& path, const std::string& text,
                              const MoveWorld& world) {
    const auto rewrite = rewrite_links(text, path, world);
    INFO(path << ": " << text);
    REQUIRE(rewrite.has_value());
    return apply_edits(text, rewrite->edits);
  }

  void put_changed(const LinkedFiles& now) {
    index_.writer.begin().value();
    for (const auto& [path, text] : files_)
      if (!now.contains(path)) index_.writer.remove(path).value();
    for (const auto& [path, text] : now) {
      const auto old = files_.find(path);
      if (old == files_.end() || old->second != text) index_.put_open(path, text);
    }
    index_.writer.commit().value();
    files_ = now;
  }

  SeededRandom& random_;
  LinkedFiles files_;
  PathList all_;  ///< what the links were written for
  IndexFixture index_;
};

}  // namespace

TEST_CASE("random moves of a random vault with notes and canvases keep every link's target",
          "[store][A22][A43][A53][M-09]") {
  SeededRandom random(29);
  int moved = 0;
  for (int round = 0; round < 40; ++round) {
    FollowedVault vault(random);
    for (int step = 0; step < 4; ++step) {
      const auto moves = vault.random_moves();
      if (moves.empty()) continue;
      ++moved;
      vault.move_and_check(moves);
    }
  }
  CHECK(moved > 80);
}

}  // namespace indx
