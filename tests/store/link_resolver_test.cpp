#include "vault/link_resolver.hpp"

#include "base/unicode.hpp"
#include "tests/store/index_fixture.hpp"

namespace indx {
namespace {

/// Rule 5.2 read aloud: every step looks at all files.
std::string brute_force(const std::vector<std::string>& files, const std::string& source,
                        const std::string& target) {
  const auto fold = [](const std::string& text) { return fold_case(text); };
  const auto folder = [](const std::string& path) {
    return path.substr(0, path.rfind('/') == path.npos ? 0 : path.rfind('/') + 1);
  };
  const auto exact = [&](const std::string& wanted) -> std::string {
    for (const auto& suffix : {"", ".md"}) {
      std::string best;
      for (const auto& file : files) {
        if (fold(file) != fold(wanted + suffix)) continue;
        if (file == wanted + suffix) return file;
        if (best.empty() || file < best) best = file;
      }
      if (!best.empty()) return best;
    }
    return {};
  };
  if (target.empty()) return source;
  if (target[0] == '/') return exact(target.substr(1));
  if (target.starts_with("./") || target.starts_with("../")) {
    auto base = folder(source);
    auto rest = target;
    while (true) {
      if (rest.starts_with("./"))
        rest = rest.substr(2);
      else if (rest.starts_with("../")) {
        if (base.empty()) return {};
        base = folder(base.substr(0, base.size() - 1));
        rest = rest.substr(3);
      } else
        break;
    }
    return exact(base + rest);
  }
  if (const auto found = exact(target); !found.empty()) return found;
  const bool has_folder = target.find('/') != target.npos;
  if (!has_folder)
    if (const auto found = exact(folder(source) + target); !found.empty()) return found;
  std::string best;
  for (const auto& file : files) {
    const auto key = fold("/" + file);
    if (!key.ends_with(fold("/" + target)) && !key.ends_with(fold("/" + target + ".md"))) continue;
    const bool is_better =
        best.empty() || file.size() < best.size() || (file.size() == best.size() && file < best);
    if (is_better) best = file;
  }
  return best;
}

}  // namespace

TEST_CASE("the nearest name wins, whatever the order of indexing", "[store][A45][L-01]") {
  IndexFixture index;
  const std::map<std::string, std::string> sources = {
      {"s.md", "[[Note]]\n"}, {"zzzz/s.md", "[[Note]]\n"}, {"zzzz/deep/s.md", "[[Note]]\n"}};
  index.put(sources);
  for (const auto* path : {"zzzz/Note.md", "a/b/Note.md", "Note.md", "b/Note.md"})
    index.put(path, "x\n");

  for (const auto& [source, text] : sources) CHECK(index.reached(source) == PathList{"Note.md"});
  index.remove("Note.md");
  CHECK(index.reached("s.md") == PathList{"b/Note.md"});
  CHECK(index.reached("zzzz/s.md") == PathList{"zzzz/Note.md"});
  CHECK(index.reached("zzzz/deep/s.md") == PathList{"b/Note.md"});
}

TEST_CASE("links compare without case, with or without the note suffix",
          "[store][A45][L-03][L-13][L-14]") {
  IndexFixture index;
  index.put({{"Log.md", ""},
             {"Release 1.2.md", ""},
             {"img/Fig 1.png", ""},
             {"sub/Ünï.md", ""},
             {"s.md",
              "[[log]] [[LOG.MD]] [[Release 1.2]] ![[Fig 1.png]] [[Fig 1]] [[u\xCC\x88NI\xCC\x88]] "
              "![x](img/Fig%201.png)\n"}});

  CHECK(index.reached("s.md") == PathList{"Log.md", "Log.md", "Release 1.2.md", "img/Fig 1.png",
                                          "-", "sub/Ünï.md", "img/Fig 1.png"});
}

TEST_CASE("Markdown destinations are decoded and tried beside the note", "[store][A45][L-10]") {
  IndexFixture index;
  index.put({{"Sub/My Note.md", ""},
             {"a/dir/x.md", ""},
             {"b/dir/x.md", ""},
             {"s.md", "[a](Sub/My%20Note.md) [b](<Sub/My Note.md>) [c](My%20Note.md)\n"},
             {"b/s.md", "[d](dir/x.md) [[dir/x]]\n"}});

  CHECK(index.reached("s.md") == PathList{"Sub/My Note.md", "Sub/My Note.md", "Sub/My Note.md"});
  CHECK(index.reached("b/s.md") == PathList{"b/dir/x.md", "a/dir/x.md"});
}

TEST_CASE("an alias is no target but is named", "[store][A45][L-06]") {
  IndexFixture index;
  index.put({{"Solar Eclipse.md", "---\naliases: [SE]\n---\n"},
             {"secret/S.md", "---\naliases: [SE]\n---\n"},
             {"s.md", "[[se]] [[Solar Eclipse|SE]]\n"}});

  const auto links = index.links().forward("s.md", {{}, {"secret/**"}}).value()->links;

  REQUIRE(links.size() == 2);
  CHECK_FALSE(links[0].path.has_value());
  CHECK_FALSE(links[0].subpath_resolved);
  CHECK(links[0].alias_of == PathList{"Solar Eclipse.md"});
  CHECK(links[1].path == "Solar Eclipse.md");
}

TEST_CASE("subpaths find headings by their words and blocks in any case",
          "[store][A45][L-15][L-18][L-20]") {
  IndexFixture index;
  index.put({{"n.md", "# Kites: A Guide\n## Input/Output Plan\ntext ^Ab-1\n# Other\n## Deep\n"},
             {"s.md",
              "# H\n[[n#Kites A Guide]] [[n#Input Output Plan]] [[n#input/output plan]] "
              "[[n#Kites]] [[n#^ab-1]] "
              "[[n#Other#Deep]] [[n#Other#Input Output Plan]] [[#H]] [[missing#x]]\n"}});

  std::vector<bool> resolved;
  const auto links = index.links().forward("s.md").value()->links;
  for (const auto& link : links) resolved.push_back(link.subpath_resolved);

  CHECK(resolved == std::vector<bool>{true, true, true, false, true, true, false, true, false});
  CHECK(index.reached("s.md")[7] == "s.md");
}

TEST_CASE("external links and properties", "[store][A45][A67][L-21][L-26]") {
  IndexFixture index;
  index.put({{"n.md", ""},
             {"s.md", "---\nrel: \"[[n]]\"\n---\n[x](https://a.b/c.md) [[https://a.b]]\n"}});

  const auto links = index.links().forward("s.md").value()->links;

  REQUIRE(links.size() == 3);
  CHECK(links[0].link.kind == LinkKind::Property);
  CHECK(links[0].link.key == "rel");
  CHECK(links[0].path == "n.md");
  const auto counts = index.reader->counts({}).value();
  CHECK(counts.links == 3);
  CHECK(counts.unresolved_links == 0);
}

TEST_CASE("in random vaults every link is where a brute-force search says", "[store][A45]") {
  SeededRandom random(42);
  const auto pick = [&](const std::vector<std::string>& from) {
    return from[random.next() % from.size()];
  };
  const std::vector<std::string> folders = {"", "a/", "b/", "a/b/", "b/a/", "a/b/c/", "A/"};
  const std::vector<std::string> names = {"n.md",   "N.md",  "m.md", "x y.md",
                                          "n.m.md", "p.png", "n",    "é.md"};
  const std::vector<std::string> prefixes = {"",  "",   "",   "./",   "../",
                                             "/", "a/", "b/", "a/b/", "../a/"};
  const std::vector<std::string> targets = {"n",   "N",     "n.md", "m", "M.MD", "x y",
                                            "n.m", "p.png", "p",    "É", "none"};
  for (int round = 0; round < 25; ++round) {
    IndexFixture index;
    std::map<std::string, std::string> sources;
    std::map<std::string, std::vector<std::string>> wanted;
    std::set<std::string> files;
    for (int i = 0; i < 4; ++i) {
      const auto path = cat(pick(folders), "s", i, ".md");
      files.insert(path);
      for (int link = 0; link < 12; ++link) {
        wanted[path].push_back(pick(prefixes) + pick(targets));
        sources[path] += cat("[[", wanted[path].back(), "]]\n");
      }
    }
    index.put(sources);
    for (int step = 0; step < 12;
         ++step) {  // files come and go, one commit each or several together
      index.writer.begin().value();
      for (auto n = random.next() % 4; n <= 3; ++n) {
        const auto path = pick(folders) + pick(names);
        if (files.contains(path)) {
          index.writer.remove(path).value();
          files.erase(path);
        } else {
          index.put_open(path, "x\n");
          files.insert(path);
        }
      }
      index.writer.commit().value();
    }
    const std::vector<std::string> all(files.begin(), files.end());
    for (const auto& [source, links] : wanted) {
      PathList expected;
      for (const auto& target : links) {
        const auto path = brute_force(all, source, target);
        expected.push_back(path.empty() ? "-" : path);
      }
      INFO(source << " " << sources[source] << " in " << join(all, ", "));
      CHECK(index.reached(source) == expected);
    }
  }
}

}  // namespace indx
