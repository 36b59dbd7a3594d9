#include "store/token_store.hpp"

#include "tests/support/fake_clock.hpp"
#include "tests/support/state_db.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace indx {
namespace {

constexpr const char* kSecret = "indx_00112233445566778899aabbccddeeff";

TokenRecord token_record(const std::string& id, Timestamp now) {
  return {.id = id,
          .name = "laptop",
          .scopes = {"vault:read", "vault:write"},
          .path_globs = {"Public/**"},
          .created_at = now};
}

std::string bytes_of_all_files(const std::string& dir) {
  std::ostringstream all;
  for (const auto& entry : std::filesystem::directory_iterator(dir))
    all << std::ifstream(entry.path()).rdbuf();
  return all.str();
}

}  // namespace

TEST_CASE("a token is found by its secret, which is nowhere on disk", "[store][A82]") {
  StateDb state;
  const FakeClock clock;
  TokenStore tokens(state.db);
  REQUIRE(tokens.add(token_record("tok_1", clock.now()), kSecret).has_value());

  const auto found = tokens.find(kSecret).value();

  REQUIRE(found.has_value());
  CHECK(found->id == "tok_1");
  CHECK(found->scopes == std::vector<std::string>{"vault:read", "vault:write"});
  CHECK(found->path_globs == std::vector<std::string>{"Public/**"});
  CHECK_FALSE(tokens.find("indx_00112233445566778899aabbccddeefe").value().has_value());
  CHECK_FALSE(tokens.find("").value().has_value());
  const auto bytes = bytes_of_all_files(state.dir.path());
  CHECK(bytes.find("tok_1") != std::string::npos);
  CHECK(bytes.find("00112233445566778899aabbccddeeff") == std::string::npos);
}

TEST_CASE("a revoked token works no more and stays in the list", "[store][A82]") {
  StateDb state;
  FakeClock clock;
  TokenStore tokens(state.db);
  REQUIRE(tokens.add(token_record("tok_1", clock.now()), kSecret).has_value());
  REQUIRE(tokens.touch("tok_1", clock.now()).has_value());

  CHECK(tokens.revoke("tok_1", clock.now()).value());

  CHECK_FALSE(tokens.find(kSecret).value().has_value());
  CHECK_FALSE(tokens.revoke("tok_1", clock.now()).value());
  CHECK_FALSE(tokens.revoke("tok_2", clock.now()).value());
  const auto list = tokens.list().value();
  REQUIRE(list.size() == 1);
  CHECK(list[0].revoked_at == clock.now());
  CHECK(list[0].last_used_at == clock.now());
}

TEST_CASE("two tokens cannot share a secret and none is empty", "[store][A82]") {
  StateDb state;
  const FakeClock clock;
  TokenStore tokens(state.db);
  REQUIRE(tokens.add(token_record("tok_1", clock.now()), kSecret).has_value());

  CHECK(tokens.add(token_record("tok_2", clock.now()), kSecret).error().reason == Reason::Conflict);
  CHECK(tokens.add(token_record("tok_3", clock.now()), "").error().reason ==
        Reason::ValidationFailed);
}

}  // namespace indx
