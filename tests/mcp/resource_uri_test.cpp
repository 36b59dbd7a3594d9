#include "mcp/resource_uri.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

namespace indx {
namespace {

using UriKind = ResourceUri::Kind;

/// Characters that mean something to URIs, file systems, globs and JSON, and some of each script.
const std::vector<std::string> kNastyPieces = {
    " ",  "#", "?", "%", "%2F",  "%00",  "&", "=",    "+",         "@", ":",
    "[",  "]", "*", "{", "}",    "\"",   "'", "<",    ">",         "|", "^",
    "`",  "~", "!", "$", "(",    ")",    ",", ";",    "..",        ".", "\t",
    "\n", "a", "Z", "é", "日本", "🙂", "ß", "\x7F", "e\xCC\x81", "-", "_"};

std::string random_segment(std::mt19937& random) {
  std::string segment;
  const auto length = 1 + random() % 6;
  for (std::size_t i = 0; i < length; ++i) segment += kNastyPieces[random() % kNastyPieces.size()];
  return segment == "." || segment == ".." ? "x" + segment : segment;
}

/// As the URL parsers of clients read one: only these may stand behind the scheme.
bool is_plain_uri(const std::string& uri) {
  return std::all_of(uri.begin(), uri.end(), [](char c) { return c > ' ' && c < 0x7F; });
}

}  // namespace

TEST_CASE("every file name survives the way into a URI and back", "[mcp][B49]") {
  std::mt19937 random(7);
  const std::vector<std::string> folders = {"",        "search/", "graph/", "tags/",
                                            "canvas/", "base/",   "Ops/",   "graph/backlinks/"};
  for (int round = 0; round < 5000; ++round) {
    const std::string path =
        to_nfc(folders[random() % folders.size()] + random_segment(random) +
               (random() % 2 == 0 ? "/" + random_segment(random) : "") + ".md");
    const std::string uri = vault_uri(path);
    INFO(uri);
    const auto back = parse_resource_uri(uri);
    REQUIRE(back);
    CHECK(back->kind == UriKind::File);
    CHECK(back->path == path);
    CHECK(is_plain_uri(uri));
    const auto watched = parse_watched_uri(uri);
    REQUIRE(watched);
    CHECK(watched->kind == UriKind::File);
    CHECK(watched->path == path);
  }
}

TEST_CASE("whatever the text, a URI never leads out of the vault", "[mcp][B49]") {
  std::mt19937 random(11);
  std::vector<std::string> pieces = kNastyPieces;
  for (const char* more : {"/", "..", "%2e%2e", "%2E", "\\", "%5C", "vault:", "//", "%", "%FF",
                           "search", "graph", "canvas/", "base/", "?q=", "?cursor="})
    pieces.emplace_back(more);
  for (int round = 0; round < 20000; ++round) {
    std::string uri = random() % 4 == 0 ? "" : "vault://";
    for (std::size_t i = random() % 8; i > 0; --i) uri += pieces[random() % pieces.size()];
    INFO(uri);
    for (const auto& parsed : {parse_resource_uri(uri), parse_watched_uri(uri)}) {
      if (!parsed || parsed->path.empty()) continue;
      CHECK(is_valid_utf8(parsed->path));
      CHECK(parsed->path.find('\0') == std::string::npos);
      for (const auto& segment : split(parsed->path, '/')) {
        CHECK_FALSE(segment.empty());
        CHECK(segment != "..");
        CHECK(segment != ".");
        CHECK(segment.find('\\') == std::string::npos);
      }
    }
  }
}

TEST_CASE("a URI encodes each segment, and says path where a folder has a name of ours",
          "[mcp][B49]") {
  CHECK(vault_uri("Daily/A b#c?.md") == "vault://Daily/A%20b%23c%3F.md");
  for (const char* folder : {"search", "graph", "tags", "canvas", "base"})
    CHECK(vault_uri(std::string(folder) + "/x.md") == std::string("vault:///") + folder + "/x.md");
  CHECK(vault_uri("graph") == "vault:///graph");
  CHECK(vault_uri("Tags/x.md") == "vault://Tags/x.md");
}

TEST_CASE("raw, encoded, upper-case and empty-host forms of a URI name the same note",
          "[mcp][B49]") {
  for (const char* uri : {"vault://Ops/Run book?.md", "VAULT://Ops/Run%20book%3F.md",
                          "vault:///Ops/Run%20book?.md", "Vault://%4Fps/Run%20book?.md"}) {
    const auto parsed = parse_resource_uri(uri);
    REQUIRE(parsed);
    CHECK(parsed->path == "Ops/Run book?.md");
  }
  CHECK(parse_resource_uri("vault://e%CC%81.md")->path == "\xC3\xA9.md");
  CHECK(parse_resource_uri("vault://a%2520b.md")->path == "a%20b.md");
}

TEST_CASE("a URI that leaves the vault or names nothing is refused", "[mcp][B49]") {
  for (const char* uri :
       {"vault://../../etc/passwd", "file:///etc/passwd", "vault://%2e%2e/%2e%2e/etc/passwd",
        "not a uri", "", "vault://", "vault:///", "vault:////etc/passwd", "vault://a%2Fb.md",
        "vault://a%00.md", "vault://a%5Cb.md", "vault://%FF.md", "vault://graph/x.md",
        "vault://graph/backlinks/", "vault://canvas/../x.canvas", "vault://search/x.md",
        "ai://summary/no json", "ai://other/{}", "ai://summary/[]"})
    CHECK_FALSE(parse_resource_uri(uri));
  CHECK_FALSE(parse_resource_uri(std::string(10000, 'x')));
}

TEST_CASE("synthetic resources take their arguments from the query and their path from behind",
          "[mcp][B50][B51][B52][B53][B54]") {
  const auto search = parse_resource_uri("vault://search?q=a%20b+c%2Bd&mode=hybrid");
  REQUIRE(search);
  CHECK(search->kind == UriKind::Search);
  CHECK(search->query ==
        std::vector<std::pair<std::string, std::string>>{{"q", "a b c+d"}, {"mode", "hybrid"}});
  CHECK(parse_resource_uri("vault://graph")->kind == UriKind::Graph);
  CHECK(parse_resource_uri("vault://tags")->kind == UriKind::Tags);
  CHECK(parse_resource_uri("vault://graph?cursor=x")->query[0].second == "x");
  const auto backlinks = parse_resource_uri("vault://graph/backlinks/A/Why?.md?limit=5");
  REQUIRE(backlinks);
  CHECK(backlinks->kind == UriKind::Backlinks);
  CHECK(backlinks->path == "A/Why?.md");
  CHECK(backlinks->query[0] == std::pair<std::string, std::string>("limit", "5"));
  CHECK(parse_resource_uri("vault://graph/forward/Why?.md")->path == "Why?.md");
  CHECK(parse_resource_uri("vault://canvas/a%20b.canvas")->path == "a b.canvas");
  CHECK(parse_resource_uri("vault://base/x.base")->kind == UriKind::Base);
}

TEST_CASE("an AI resource carries its scope", "[mcp][B59]") {
  const Json scope = {{"kind", "glob"}, {"path_glob", "Projects/**"}};

  const auto summary = parse_resource_uri(ai_uri(UriKind::Summary, scope));
  const auto map = parse_resource_uri(ai_uri(UriKind::Map, scope));

  REQUIRE(summary);
  REQUIRE(map);
  CHECK(summary->kind == UriKind::Summary);
  CHECK(map->kind == UriKind::Map);
  CHECK(summary->scope == scope);
  CHECK(parse_resource_uri(R"(AI://summary/{"kind":"tag","tag":"x"})")->scope["tag"] == "x");
}

TEST_CASE("a glob has a star that is not encoded, or names a folder", "[mcp][B57]") {
  const auto pattern = [](const char* uri) {
    const auto parsed = parse_watched_uri(uri);
    return parsed && parsed->kind == UriKind::Glob ? parsed->path : std::string();
  };
  CHECK(pattern("vault://Daily/**") == "Daily/**");
  CHECK(pattern("vault://Daily/") == "Daily/**");
  CHECK(pattern("vault://") == "**");
  CHECK(pattern("vault:///search/**") == "search/**");
  CHECK(pattern("vault://a%2Ab.md").empty());
  CHECK(glob_match(pattern("vault://%5Bold%5D/**"), "[old]/x.md"));
  CHECK_FALSE(glob_match(pattern("vault://%5Bold%5D/**"), "o/x.md"));
  CHECK_FALSE(parse_watched_uri("vault://../**"));
  CHECK_FALSE(parse_watched_uri("vault://search/**"));
}

}  // namespace indx
