#include "store/link_index.hpp"

#include "base/unicode.hpp"
#include "tests/store/index_fixture.hpp"
#include "vault/link_mentions.hpp"

#include <algorithm>
#include <functional>

namespace indx {
namespace {

/// All rows of a paged list, three at a time.
template <typename Row>
std::vector<Row> all_pages(
    const std::function<Result<Page<Row>>(int limit, const std::string& cursor)>& page_after) {
  std::vector<Row> rows;
  std::string cursor;
  do {
    auto page = page_after(3, cursor).value();
    CHECK(page.rows.size() <= 3);
    for (auto& row : page.rows) rows.push_back(std::move(row));
    cursor = page.next_cursor.value_or("");
  } while (!cursor.empty());
  return rows;
}

std::vector<ResolvedLink> forward_of(const IndexFixture& index, const std::string& path) {
  return index.links().forward(path).value()->links;
}

PathList orphan_paths(const IndexFixture& index, OrphanKind kind, const PathScope& scope = {}) {
  PathList paths;
  for (const auto& row : all_pages<OrphanRow>([&](int limit, const std::string&cursor) {
         return index.links().orphans(kind, scope, limit, cursor);
       }))
    paths.push_back(row.path);
  return paths;
}

}  // namespace

TEST_CASE("backlinks name each source once, with every place", "[store][A44]") {
  IndexFixture index;
  index.put({{"n.md", "[[n]] to itself\n"},
             {"b/s.md", "intro\n\nsee [[n]] and ![[n#H]]\n"},
             {"a.md", "---\nup: \"[[n]]\"\n---\n[t](n.md) é\n"},
             {"secret/x.md", "[[n]]\n"}});

  const auto found = index.links().backlinks("n.md", {{}, {"secret/**"}}, 10, "").value();

  CHECK(found.total == 2);
  REQUIRE(found.page.rows.size() == 2);
  const auto& first = found.page.rows[0];
  CHECK(first.path == "a.md");
  CHECK(first.count == 2);
  REQUIRE(first.occurrences.size() == 2);
  CHECK(first.occurrences[0].link.kind == LinkKind::Property);
  CHECK(first.occurrences[0].context == "up: \"[[n]]\"");
  CHECK(first.occurrences[0].link.line == 2);
  CHECK(first.occurrences[0].link.column == 6);
  CHECK(first.occurrences[1].link.syntax == LinkSyntax::Markdown);
  const auto& second = found.page.rows[1];
  CHECK(second.path == "b/s.md");
  REQUIRE(second.occurrences.size() == 2);
  CHECK(second.occurrences[0].link.line == 3);
  CHECK(second.occurrences[0].link.column == 5);
  CHECK(second.occurrences[0].context == "see [[n]] and ![[n#H]]");
  CHECK(second.occurrences[1].link.kind == LinkKind::Embed);
  CHECK(index.links().backlinks("none.md", {}, 10, "").error().reason == Reason::NotFound);
}

TEST_CASE("a walk over backlinks stays right when sources come and go", "[store][A26][A44]") {
  IndexFixture index;
  index.put("n.md", "x\n");
  for (const auto* path : {"b.md", "d.md", "f.md"}) index.put(path, "[[n]]\n");

  const auto first = index.links().backlinks("n.md", {}, 2, "").value();
  index.put("a.md", "[[n]]\n");
  index.put("e.md", "[[n]]\n");
  index.remove("d.md");
  const auto second =
      index.links().backlinks("n.md", {}, 2, first.page.next_cursor.value()).value();

  REQUIRE(second.page.rows.size() == 2);
  CHECK(second.page.rows[0].path == "e.md");
  CHECK(second.page.rows[1].path == "f.md");
  CHECK_FALSE(index.links().backlinks("a.md", {}, 2, first.page.next_cursor.value()).has_value());
}

TEST_CASE("unresolved links are grouped by target, whatever its case", "[store][A46][L-06][L-14]") {
  IndexFixture index;
  index.put({{"Solar Eclipse.md", "---\naliases: [SE]\n---\n[[Ghost]]\n"},
             {"s.md", "[[SE]] [[ghost]] [g](Ghost.md) [[https://a.b]] [[secret/x]]\n"},
             {"secret/x.md", "[[Hidden]]\n"}});

  const auto all = index.links().unresolved({}, 10, "").value().rows;
  const auto seen = index.links().unresolved({{}, {"secret/**"}}, 10, "").value().rows;

  REQUIRE(all.size() == 3);
  CHECK(all[0].target == "Ghost");
  CHECK(all[0].count == 3);
  CHECK(all[0].source_count == 2);
  CHECK(all[0].uses[0].path == "Solar Eclipse.md");
  CHECK(all[0].uses[1].link.line == 1);
  CHECK(all[1].target == "Hidden");
  CHECK(all[2].target == "SE");
  CHECK(all[2].alias_of == PathList{"Solar Eclipse.md"});
  REQUIRE(seen.size() == 3);  // a link to what is hidden is as good as unresolved
  CHECK(seen[0].target == "Ghost");
  CHECK(seen[1].target == "SE");
  CHECK(seen[2].target == "secret/x");
  index.put("Ghost.md", "x\n");
  CHECK(index.links().unresolved({}, 10, "").value().rows.size() == 2);
}

TEST_CASE("orphans follow every change of the links around them", "[store][A47][L-15]") {
  IndexFixture index;
  index.put({{"a.md", "[[b]] [[a]]\n"},
             {"b.md", "x\n"},
             {"c.md", "![[p.png]] [[none]] [[#h]]\n"},
             {"p.png", ""}});

  CHECK(orphan_paths(index, OrphanKind::Orphans) == PathList{"c.md"});
  CHECK(orphan_paths(index, OrphanKind::NoIncoming) == PathList{"a.md", "c.md"});
  CHECK(orphan_paths(index, OrphanKind::NoOutgoing) == PathList{"b.md", "c.md"});
  CHECK(orphan_paths(index, OrphanKind::Orphans, {{"[bc].md"}, {}}) == PathList{"b.md", "c.md"});
  index.put("none.md", "x\n");
  CHECK(orphan_paths(index, OrphanKind::Orphans).empty());
  index.remove("b.md");
  CHECK(orphan_paths(index, OrphanKind::Orphans) == PathList{"a.md"});
}

TEST_CASE("a link text is resolved with its candidates and its line", "[store][A45]") {
  IndexFixture index;
  index.put({{"n.md", "# A\ntext\n## B\npara ^x1\n"}, {"d/n.md", "x\n"}, {"secret/n.md", "x\n"}});
  const auto ask = [&](const std::string& source, const std::string& text) {
    return index.links().resolve({source, links_in_text(text).at(0)}, {{}, {"secret/**"}}).value();
  };

  CHECK(ask("", "[[n#A#B]]").path == "n.md");
  CHECK(ask("", "[[n#A#B]]").line == 3);
  CHECK(ask("", "[[n#^X1]]").line == 4);
  CHECK(ask("", "[[n]]").candidates == PathList{"n.md", "d/n.md"});
  CHECK(ask("d/s.md", "[x](./n.md)").path == "d/n.md");
  CHECK_FALSE(ask("", "[[n#C]]").subpath_resolved);
  CHECK_FALSE(ask("", "[[secret/n]]").path.has_value());
  CHECK(ask("", "[[n]]").subpath_resolved);
  for (const auto* lost : {"[[missing]]", "[[missing#A]]", "[[secret/n]]"})
    CHECK_FALSE(ask("", lost).subpath_resolved);
}

TEST_CASE("mentions are whole words outside of links and code", "[store][A44]") {
  IndexFixture index;
  index.put({{"Café.md", "---\naliases: [coffee house]\n---\nCafé itself\n"},
             {"a.md", "a CAFÉ and `Café` and [[Café]] and Cafés\nthe Coffee House\n"},
             {"b.md", "```\nCafé\n```\n[x](Café.md)\n"},
             {"secret/c.md", "Café\n"},
             {"京.md", "x\n"},
             {"d.md", "東京都\n"}});

  const auto page = index.links().mentions("Café.md", {{}, {"secret/**"}}, 10, "").value();

  REQUIRE(page.rows.size() == 1);
  CHECK(page.rows[0].path == "a.md");
  REQUIRE(page.rows[0].occurrences.size() == 2);
  CHECK(page.rows[0].occurrences[0].name == "CAFÉ");
  CHECK(page.rows[0].occurrences[0].column == 3);
  CHECK(page.rows[0].occurrences[1].line == 2);
  CHECK(page.rows[0].occurrences[1].context == "the Coffee House");
  CHECK(find_mentions("東京都\n", {"京"}).size() == 1);
}

TEST_CASE("links of a random vault look from both ends as a scan of all notes says",
          "[store][A44][A46][A47][A48][A67]") {
  SeededRandom random(7);
  for (int round = 0; round < 15; ++round) {
    IndexFixture index;
    std::map<std::string, std::string> files;
    const auto name = [&] { return cat("n", random.next() % 12); };
    for (int step = 0; step < 40; ++step) {
      const auto path = cat(random.next() % 3 == 0 ? "d/" : "", name(), ".md");
      if (random.next() % 5 == 0) {
        files.erase(path);
        index.remove(path);
        continue;
      }
      std::string text;
      for (auto links = random.next() % 3; links > 0; --links) text += cat("[[", name(), "]] ");
      files[path] = text;
      index.put(path, text);
    }

    std::map<std::string, std::map<std::string, int>> reached;  // source, target
    std::map<std::string, int> missing;
    for (const auto& [path, text] : files)
      for (const auto& link : forward_of(index, path)) {
        if (link.path)
          ++reached[path][*link.path];
        else
          ++missing[target_key(link.link.target)];
      }
    std::map<std::string, std::set<std::string>> around;
    for (const auto& [path, text] : files) {
      std::map<std::string, std::int64_t> wanted, found;
      for (const auto& [source, targets] : reached)
        if (source != path && targets.contains(path)) wanted[source] = targets.at(path);
      std::string cursor;
      do {
        const auto page = index.links().backlinks(path, {}, 3, cursor).value();
        CHECK(page.total == static_cast<std::int64_t>(wanted.size()));
        for (const auto& row : page.page.rows) found[row.path] = row.count;
        cursor = page.page.next_cursor.value_or("");
      } while (!cursor.empty());
      CHECK(found == wanted);
      for (const auto& [source, count] : wanted) {
        around[path].insert(source);
        around[source].insert(path);
      }
    }
    std::map<std::string, int> groups;
    for (const auto& row : all_pages<UnresolvedTarget>([&](int limit, const std::string&cursor) {
           return index.links().unresolved({}, limit, cursor);
         }))
      groups[target_key(row.target)] = static_cast<int>(row.count);
    CHECK(groups == missing);
    PathList lonely;
    for (const auto& [path, text] : files)
      if (around[path].empty()) lonely.push_back(path);
    CHECK(orphan_paths(index, OrphanKind::Orphans) == lonely);
    if (files.empty()) continue;
    const auto start = files.begin()->first;
    std::map<std::string, int> distance = {{start, 0}};
    for (int hop = 1; hop <= 2; ++hop)
      for (const auto& [path, at] : std::map<std::string, int>(distance))
        if (at == hop - 1)
          for (const auto& other : around[path]) distance.try_emplace(other, hop);
    std::map<std::string, int> walked;
    NeighborQuestion question;
    question.depth = 2;
    question.limit = 3;
    do {
      const auto page = index.links().neighbors(start, question, {}).value();
      for (const auto& row : page.page.rows) walked[row.path] = row.distance;
      question.cursor = page.page.next_cursor.value_or("");
    } while (!question.cursor.empty());
    CHECK(walked == distance);
  }
}

TEST_CASE("a context is one readable line around the link", "[vault][A44]") {
  const std::string text = "first\n  " + std::string(300, 'a') + " [[n]] é" + std::string(300, 'b');
  const auto at = text.find("[[");

  const auto context = link_context(text, at, at + 5);

  CHECK(context.size() < 230);
  CHECK(context.starts_with("…a"));
  CHECK(context.find("[[n]]") != std::string::npos);
  CHECK(is_valid_utf8(context));
  CHECK(link_context("a\r\n x [[n]] y \r\nb", 6, 11) == "x [[n]] y");
}

}  // namespace indx
