#include "mcp/resources.hpp"

#include <catch2/catch.hpp>

namespace indx {

TEST_CASE("a vault URI encodes each segment and comes back as the same path", "[mcp]") {
  CHECK(vault_uri("Daily/A b#c?.md") == "vault://Daily/A%20b%23c%3F.md");
  CHECK(vault_uri("tags/x.md") == "vault:///tags/x.md");
  for (const std::string path : {"a.md", "Daily/A b#c?.md", "me@home/x:y[1].md", "100% done.md",
                                 "日本/ノート.md", "search/x.md", "graph"}) {
    const auto back = path_of_vault_uri(vault_uri(path));
    REQUIRE(back);
    CHECK(*back == path);
  }
}

TEST_CASE("raw, encoded, upper-case and empty-host forms of a URI name the same note", "[mcp]") {
  for (const char* uri : {"vault://Ops/Run book?.md", "VAULT://Ops/Run%20book%3F.md",
                          "vault:///Ops/Run%20book?.md"}) {
    const auto path = path_of_vault_uri(uri);
    REQUIRE(path);
    CHECK(*path == "Ops/Run book?.md");
  }
  CHECK(*path_of_vault_uri("vault://e%CC%81.md") == "\xC3\xA9.md");
  CHECK(*path_of_vault_uri("vault://a%2520b.md") == "a%20b.md");
}

TEST_CASE("a URI that leaves the vault or names no path is refused", "[mcp]") {
  for (const char* uri :
       {"vault://../../etc/passwd", "file:///etc/passwd", "vault://%2e%2e/%2e%2e/etc/passwd",
        "not a uri", "", "vault://", "vault:///", "vault:////etc/passwd", "vault://a%2Fb.md",
        "vault://a%00.md", "vault://a%5Cb.md", "vault://%FF.md", "vault://search?q=x",
        "vault://graph"})
    CHECK_FALSE(path_of_vault_uri(uri));
  CHECK_FALSE(path_of_vault_uri(std::string(10000, 'x')));
}

TEST_CASE("a note that is not text is given as a blob, any other as its exact text", "[mcp]") {
  const Json blob = resource_contents("vault://a.md", "a.md",
                                      {{"encoding", "binary"}, {"raw", "/w=="}})["contents"][0];
  CHECK(blob["blob"] == "/w==");
  CHECK_FALSE(blob.contains("text"));

  const Json text = resource_contents(
      "vault://a.md", "a.md", {{"raw", "---\r\na: 1\r\n---\r\n"}, {"body", ""}})["contents"][0];
  CHECK(text["text"] == "---\r\na: 1\r\n---\r\n");
  CHECK(text["mimeType"] == "text/markdown");
  CHECK_FALSE(text.contains("_meta"));
}

}  // namespace indx
