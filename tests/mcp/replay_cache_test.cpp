#include "mcp/replay_cache.hpp"

#include "tests/support/fake_mcp_dispatcher.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

using std::chrono::seconds;

Principal replay_principal(const std::string& subject, std::vector<std::string> globs = {}) {
  Principal principal = FakeMcpDispatcher::principal(subject, {Scope::VaultRead});
  principal.path_globs = std::move(globs);
  return principal;
}

}  // namespace

TEST_CASE("an answer is given again for a minute, while its revision stands", "[mcp][B6]") {
  McpTestClock clock;
  ReplayCache cache(clock);
  cache.put("k", "r1", {{"path", "a.md"}});

  CHECK(cache.find("k", "r1") == Json{{"path", "a.md"}});
  clock.advance(seconds(60));
  CHECK(cache.find("k", "r1"));
  clock.advance(seconds(1));
  CHECK_FALSE(cache.find("k", "r1"));
}

TEST_CASE("an answer of another revision is never given", "[mcp][B6]") {
  McpTestClock clock;
  ReplayCache cache(clock);
  cache.put("k", "r1", {{"path", "a.md"}});

  CHECK_FALSE(cache.find("k", "r2"));
  CHECK_FALSE(cache.find("k", "r1"));  // it is gone: what came between may have come back
}

TEST_CASE("the key tells principals, their rights, operations and inputs apart", "[mcp][B6]") {
  const FakeMcpDispatcher dispatcher;
  const Operation& read = *dispatcher.registry().find("note_read");
  const Operation& list = *dispatcher.registry().find("note_list");
  const Json input = {{"path", "a.md"}, {"include", {"body"}}};
  const Json reordered = {{"include", {"body"}}, {"path", "a.md"}};
  const auto key = ReplayCache::key(replay_principal("a"), read, input);
  Principal writer = replay_principal("a");
  writer.scopes.insert(Scope::VaultWrite);

  CHECK(ReplayCache::key(replay_principal("a"), read, reordered) == key);
  CHECK(ReplayCache::key(replay_principal("b"), read, input) != key);
  CHECK(ReplayCache::key(replay_principal("a", {"Ops/**"}), read, input) != key);
  CHECK(ReplayCache::key(writer, read, input) != key);
  CHECK(ReplayCache::key(replay_principal("a"), list, input) != key);
  CHECK(ReplayCache::key(replay_principal("a"), read, {{"path", "b.md"}}) != key);
}

TEST_CASE("memory is bounded: large answers are not kept, and old ones go first", "[mcp][B6]") {
  McpTestClock clock;
  ReplayCache cache(clock);
  cache.put("huge", "r", {{"body", std::string(ReplayCache::kMostBytesOfOne, 'a')}});
  CHECK_FALSE(cache.find("huge", "r"));

  const std::string body(ReplayCache::kMostBytesOfOne / 2, 'a');
  const std::size_t more_than_fit = ReplayCache::kMostBytes / body.size() + 2;
  for (std::size_t i = 0; i < more_than_fit; ++i)
    cache.put(std::to_string(i), "r", {{"body", body}});
  CHECK_FALSE(cache.find("0", "r"));
  CHECK(cache.find(std::to_string(more_than_fit - 1), "r"));
}

TEST_CASE("an answer out of an index that is being filled is not kept", "[mcp][B6]") {
  McpTestClock clock;
  ReplayCache cache(clock);
  cache.put("k", "r", {{"results", Json::array()}, {"indexing", true}});

  CHECK_FALSE(cache.find("k", "r"));
}

}  // namespace indx
