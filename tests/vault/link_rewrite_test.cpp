#include "vault/link_rewrite.hpp"

#include "base/random.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/property_text.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

namespace indx {
namespace {

using Files = std::map<std::string, std::string>;

MoveWorld world_of(const Files& files, const std::vector<FileMove>& moves) {
  std::map<std::string, std::vector<std::string>> by_key;
  for (const auto& [path, text] : files) by_key[name_key_of_path(path)].push_back(path);
  for (const auto& move : moves) by_key[name_key_of_path(move.to)];
  return MoveWorld(moves, by_key);
}

/// The vault after the move, with every note's links rewritten.
Files moved(const Files& files, const std::vector<FileMove>& moves) {
  const auto world = world_of(files, moves);
  Files result;
  for (const auto& [path, text] : files) {
    auto bytes = text;
    if (path.ends_with(".md")) {
      const auto rewrite = rewrite_links(text, path, world);
      INFO(path << ": " << text);
      REQUIRE(rewrite.has_value());
      bytes = apply_edits(text, rewrite->edits);
    }
    result[world.place_after(path)] = bytes;
  }
  return result;
}

/// What one note's text becomes when a file of a small vault moves.
std::string after_move(const std::string& text, const std::string& from, const std::string& to,
                       Files others = {}, const std::string& source = "s.md") {
  others[source] = text;
  others.try_emplace(from, "x\n");
  const auto result = moved(others, {{from, to}});
  return result.at(from == source ? to : source);
}

/// Rule 5.2 read aloud: every step looks at all files.
std::string reach(const Files& files, const std::string& source, std::string target,
                  bool is_markdown) {
  const auto fold = [](const std::string& text) { return fold_case(text); };
  const auto folder = [](const std::string& path) {
    return path.substr(0, path.rfind('/') == path.npos ? 0 : path.rfind('/') + 1);
  };
  const auto exact = [&](const std::string& wanted) -> std::string {
    for (const auto& suffix : {"", ".md"}) {
      std::string best;
      for (const auto& [file, text] : files) {
        if (fold(file) != fold(wanted + suffix)) continue;
        if (file == wanted + suffix) return file;
        if (best.empty() || file < best) best = file;
      }
      if (!best.empty()) return best;
    }
    return {};
  };
  const auto from_folder = [&](std::string rest) -> std::string {
    auto base = folder(source);
    while (true) {
      if (rest.starts_with("./")) {
        rest = rest.substr(2);
      } else if (rest.starts_with("../")) {
        if (base.empty()) return {};
        base = folder(base.substr(0, base.size() - 1));
        rest = rest.substr(3);
      } else {
        return exact(base + rest);
      }
    }
  };
  if (target.empty()) return source;
  if (target[0] == '/') return exact(target.substr(1));
  if (target.starts_with("./") || target.starts_with("../")) return from_folder(target);
  if (const auto found = exact(target); !found.empty()) return found;
  if (is_markdown || target.find('/') == target.npos)
    if (const auto found = from_folder(target); !found.empty()) return found;
  std::string best;
  for (const auto& [file, text] : files) {
    const auto key = fold("/" + file);
    if (!key.ends_with(fold("/" + target)) && !key.ends_with(fold("/" + target + ".md"))) continue;
    const auto size = [](const std::string& path) { return count_code_points(path); };
    const bool is_better =
        best.empty() || size(file) < size(best) || (size(file) == size(best) && file < best);
    if (is_better) best = file;
  }
  return best;
}

std::vector<std::string> reached(const Files& files, const std::string& source) {
  std::vector<std::string> paths;
  for (const auto& link : parse_note(files.at(source)).links)
    paths.push_back(link.external
                        ? "external"
                        : reach(files, source, link.target, link.syntax == LinkSyntax::Markdown));
  return paths;
}

/// The text with every target and display taken out: what a move must not touch.
std::string frame_of(const std::string& text) {
  std::vector<TextEdit> cuts;
  const auto note = parse_note(text);
  for (const auto& link : note.links) {
    if (link.kind == LinkKind::Property) continue;
    if (link.target_end > link.target_begin)
      cuts.push_back({link.target_begin, link.target_end, ""});
    if (link.display_end > link.display_begin)
      cuts.push_back({link.display_begin, link.display_end, ""});
  }
  std::sort(cuts.begin(), cuts.end(),
            [](const TextEdit& a, const TextEdit& b) { return a.begin < b.begin; });
  const auto out = apply_edits(text, cuts);
  return out.substr(parse_frontmatter(out).body_begin);
}

}  // namespace

TEST_CASE("a move rewrites the links that would break, each in its own style",
          "[vault][A22][M-01][M-02][M-04][M-07][M-10]") {
  CHECK(after_move("[[inbox/idea]] ![[idea#H|h]] [link](inbox/idea.md#H)\n", "inbox/idea.md",
                   "projects/idea.md") ==
        "[[projects/idea]] ![[idea#H|h]] [link](projects/idea.md#H)\n");
  CHECK(after_move("[[Old]] [[old|x]] [[Old#H]] [[Old#^b|y]] ![[Old]] [[Old.md]] [Old](Old.md) "
                   "[t](Old.md)\n",
                   "Old.md", "New.md") ==
        "[[New]] [[New|x]] [[New#H]] [[New#^b|y]] ![[New]] [[New.md]] [New](New.md) [t](New.md)\n");
  const std::string others = "`[[Old]]` [[Older]] [[x/Old]]\n";
  CHECK(after_move(others, "Old.md", "New.md", {{"Older.md", ""}, {"x/Old.md", ""}}) == others);
  CHECK(after_move("[x](<a b.md>) [y](a%20b.md)\n", "a b.md", "c d.md") ==
        "[x](<c d.md>) [y](c%20d.md)\n");
  CHECK(after_move("---\nup: \"[[A]]\" # parent\n---\n", "A.md", "B.md") ==
        "---\nup: \"[[B]]\" # parent\n---\n");
  CHECK(after_move("| a |\n| - |\n| [[Old\\|x]] |\n", "Old.md", "New.md") ==
        "| a |\n| - |\n| [[New\\|x]] |\n");
  CHECK(after_move("[r] text\n\n[r]: Old.md \"t\"\n", "Old.md", "d/New.md") ==
        "[r] text\n\n[r]: New.md \"t\"\n");
  CHECK(after_move("[[Old|Old]] [[ Old | shown ]]\n", "Old.md", "New.md") ==
        "[[New|New]] [[ New | shown ]]\n");
  CHECK(after_move("![[p.png|100]] ![p](p.png)\n", "p.png", "img/q.png") ==
        "![[q.png|100]] ![q](q.png)\n");
}

TEST_CASE("names that come to mean two files get the whole path", "[vault][A22]") {
  CHECK(after_move("[[b]]\n", "a.md", "b.md", {{"d/b.md", "x\n"}}) == "[[d/b]]\n");
  CHECK(after_move("[b](b.md)\n", "a.md", "b.md", {{"d/b.md", "x\n"}}) == "[b](d/b.md)\n");
  CHECK(after_move("[[x]]\n", "x.md", "d/y.md", {{"y.md", "x\n"}}) == "[[d/y]]\n");
  CHECK(after_move("[[c/x]]\n", "a/c/x.md", "a/d/x.md", {{"b/d/x.md", "x\n"}}) == "[[d/x]]\n");
}

TEST_CASE("the relative links of a moved note stay relative", "[vault][A22]") {
  const Files others = {{"p/img/a.png", ""}, {"p/n.md", ""}, {"q/o.md", ""}};

  CHECK(after_move("[i](img/a.png) [[./n]] [n](../q/o.md) [[#H]]\n", "p/s.md", "q/r/s.md", others,
                   "p/s.md") == "[i](../../p/img/a.png) [[../../p/n]] [n](../o.md) [[#H]]\n");
  CHECK(after_move("[i](img/a.png) [[./n]]\n", "p/s.md", "s.md", others, "p/s.md") ==
        "[i](p/img/a.png) [[./p/n]]\n");
  CHECK(after_move("[[s]] [[s#H]]\n", "p/s.md", "t.md", others, "p/s.md") == "[[t]] [[t#H]]\n");
}

TEST_CASE("a change of case is followed by links that had the old one", "[vault][A22]") {
  CHECK(after_move("[[Log]] [[log|x]] [l](Log.md)\n", "Log.md", "LOG.md") ==
        "[[LOG]] [[log|x]] [l](LOG.md)\n");
}

TEST_CASE("names are data, whatever they hold", "[vault][A22]") {
  CHECK(after_move("[[a]] [t](a.md) [u](<a.md>)\n", "a.md", "$1 (x).md") ==
        "[[$1 (x)]] [t]($1%20(x).md) [u](<$1 (x).md>)\n");
  CHECK(after_move("[t](a.md)\n", "a.md", "50% 日(本.md") == "[t](50%%20日%28本.md)\n");
  CHECK(encode_destination("a%20b#c.md", true) == "a%2520b%23c.md");
  CHECK(encode_destination("ab: c.md", true) == "ab%3A c.md");
  // A wikilink cannot hold this folder, so no text would reach the note: it is told.
  const Files files = {{"a/x.md", ""}, {"x.md", ""}, {"s.md", "[[a/x]]\n"}};
  const auto rewrite =
      rewrite_links(files.at("s.md"), "s.md", world_of(files, {{"a/x.md", "C#/x.md"}}));
  REQUIRE(rewrite.has_value());
  CHECK(rewrite->count == 0);
  REQUIRE(rewrite->problem.has_value());
  CHECK(rewrite->problem->reason == Reason::Conflict);
}

TEST_CASE("links in properties change inside of their value only", "[vault][A22][M-10]") {
  const auto block = [](const std::string& yaml) { return "---\n" + yaml + "\n---\nx\n"; };
  const auto check = [&](const std::string& before, const std::string& after,
                         const std::string& to = "it's.md") {
    CHECK(after_move(block(before), "A.md", to) == block(after));
  };

  check("l:\n  - '[[A]]' # c\n  - plain [[A|x]] text",
        "l:\n  - '[[it''s]]' # c\n  - plain [[it's|x]] text");
  check("f: [\"[[A]]\", b]\nn: {k: \"[[A#H]]\"}", "f: [\"[[it's]]\", b]\nn: {k: \"[[it's#H]]\"}");
  check("t: |-\n  one [[A]]\n  two", "t: |-\n  one [[it's]]\n  two");
  check("a: &x \"[[A]]\"\nb: *x", "a: &x \"[[B]]\"\nb: *x", "B.md");
  check("t: \"[[\\x41]] \\u00e9\"", "t: \"[[B]] \u00e9\"", "B.md");
  check("bad: [[A]]", "bad: [[A]]");
}

TEST_CASE("bytes that are no text are never rewritten", "[vault][A22][M-15]") {
  const Files files = {{"Old.md", ""}, {"bad.md", "[[Old]]\xFF"}};
  const auto world = world_of(files, {{"Old.md", "New.md"}});

  const auto bad = rewrite_links(files.at("bad.md"), "bad.md", world);

  REQUIRE_FALSE(bad.has_value());
  CHECK(bad.error().reason == Reason::NotUtf8);
  CHECK(rewrite_links("[[Other]]\xFF", "bad.md", world)->count == 0);
}

TEST_CASE("after random moves every link reaches the file it reached before",
          "[vault][A22][A43][A67]") {
  SeededRandom random(11);
  const auto pick = [&](const auto& from) { return from[random.next() % from.size()]; };
  const std::vector<std::string> folders = {"",     "a/",           "b/",    "a/b/",
                                            "b/a/", "Deep folder/", "a/b/c/"};
  const std::vector<std::string> names = {"n.md",      "m.md",   "x y.md",  "n.m.md",  "$d (1).md",
                                          "p.png",     "n",      "é.md",    "it's.md", "50%.md",
                                          "100%25.md", "q).pdf", "a.png.md"};
  const std::vector<std::string> prefixes = {"", "", "", "./", "../", "/", "a/", "b/", "a/b/"};
  for (int round = 0; round < 400; ++round) {
    Files files;
    for (int i = 0; i < 10; ++i) files[pick(folders) + pick(names)] = "x\n";
    std::vector<std::string> all;
    for (const auto& [path, text] : files) all.push_back(path);
    for (int i = 0; i < 4; ++i) {
      std::string text;
      if (random.next() % 2 == 0)
        text +=
            cat("---\nup: \"[[", pick(names), "]]\"\nl:\n  - see [[", pick(all), "|x]] ok\n---\n");
      for (int link = 0; link < 8; ++link) {
        auto path = random.next() % 2 == 0 ? pick(all) : pick(prefixes) + pick(names);
        if (random.next() % 3 == 0) path = path.substr(path.rfind('/') + 1);
        const bool has_md = path.ends_with(".md") && random.next() % 2 == 0;
        const auto bare = has_md ? path.substr(0, path.size() - 3) : path;
        switch (random.next() % 6) {
          case 0:
            text += cat("- [[", bare, "]] and `[[", bare, "]]`\n");
            break;
          case 1:
            text += cat("> ![[", bare, "#H|shown]]\n");
            break;
          case 2:
            text += cat("[t](", encode_destination(path, false), ") ");
            break;
          case 3:
            text += cat("![t](<", encode_destination(path, true), "#x> \"title\")\n\n");
            break;
          case 4:
            text += cat("\n[r", link, "]: ", encode_destination(path, false), "\n\n");
            break;
          default:
            text += cat("| [[", bare, "\\|y]] | b |\n");
            break;
        }
      }
      files[cat(pick(folders), "s", i, ".md")] = text;
    }

    for (int step = 0; step < 3; ++step) {
      std::vector<FileMove> moves;
      auto it = files.begin();
      std::advance(it, static_cast<std::ptrdiff_t>(random.next() % files.size()));
      const auto from = it->first;
      const auto folder = from.substr(0, from.find('/') == from.npos ? 0 : from.find('/') + 1);
      switch (random.next() % 4) {
        case 0: {  // a folder
          if (folder.empty()) continue;
          const auto to = pick(folders) + cat("moved", step, "/");
          if (to.starts_with(folder)) continue;
          for (const auto& [path, text] : files)
            if (path.starts_with(folder)) moves.push_back({path, to + path.substr(folder.size())});
          break;
        }
        case 1: {  // case only
          auto to = from;
          for (auto at = to.rfind('/') + 1; at < to.size(); ++at)
            if (to[at] >= 'a' && to[at] <= 'z') to[at] = static_cast<char>(to[at] - 'a' + 'A');
          if (to.ends_with(".MD")) to.replace(to.size() - 3, 3, ".md");
          moves.push_back({from, to});
          break;
        }
        default:
          moves.push_back(
              {from, pick(folders) + (random.next() % 2 == 0 ? from.substr(from.rfind('/') + 1)
                                                             : pick(names))});
      }
      const auto is_taken = [&](const FileMove& move) {
        return std::any_of(files.begin(), files.end(), [&](const auto& file) {
          return file.first != move.from && fold_case(file.first) == fold_case(move.to);
        });
      };
      if (std::any_of(moves.begin(), moves.end(), is_taken)) continue;
      const auto world = world_of(files, moves);
      const auto now = moved(files, moves);
      for (const auto& [path, text] : files) {
        if (!path.ends_with(".md")) continue;
        const auto& place = world.place_after(path);
        auto wanted = reached(files, path);
        const auto before = wanted;
        for (auto& target : wanted)
          if (!target.empty() && target != "external") target = world.place_after(target);
        auto found = reached(now, place);
        REQUIRE(found.size() == wanted.size());
        for (std::size_t i = 0; i < wanted.size(); ++i)
          if (wanted[i].empty()) found[i].clear();  // a link that reached nothing may find one now
        INFO("moved " << moves.front().from << " to " << moves.front().to << " of " << moves.size()
                      << "\n"
                      << path << " (" << place << ")\n"
                      << text << "\n=>\n"
                      << now.at(place));
        CHECK(found == wanted);
        CHECK(frame_of(now.at(place)) == frame_of(text));
      }
      files = now;
    }
  }
}

}  // namespace indx
