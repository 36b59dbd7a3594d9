#include "mcp/protocol.hpp"

#include <catch2/catch.hpp>

#include <string>

namespace indx {
namespace {

const Protocol& protocol_of(std::string_view version) {
  const Protocol* found = find_protocol(version);
  REQUIRE(found);
  return *found;
}

}  // namespace

TEST_CASE("five versions are spoken, newest first, each with what its clients understand",
          "[mcp][B72]") {
  std::string versions;
  for (const Protocol& protocol : protocols()) versions += std::string(protocol.version) + " ";
  CHECK(versions == "2026-07-28 2025-11-25 2025-06-18 2025-03-26 2024-11-05 ");

  CHECK_FALSE(protocol_of("2024-11-05").has_annotations);
  CHECK(protocol_of("2025-03-26").has_annotations);
  CHECK(protocol_of("2025-03-26").has_batch);
  CHECK_FALSE(protocol_of("2025-06-18").has_batch);
  CHECK_FALSE(protocol_of("2025-03-26").has_structured_content);
  CHECK(protocol_of("2025-06-18").has_structured_content);
  CHECK(protocol_of("2025-11-25").has_tasks);
  CHECK_FALSE(protocol_of("2026-07-28").has_tasks);
  CHECK(protocol_of("2026-07-28").has_caching_hints);
  CHECK(protocol_of("2025-11-25").resource_not_found == kRpcResourceNotFound);
  CHECK(protocol_of("2026-07-28").resource_not_found == kRpcInvalidParams);
}

TEST_CASE("initialize gets the legacy version it asks for, else the newest legacy one",
          "[mcp][B72]") {
  for (const Protocol& protocol : protocols()) {
    if (protocol.era == Era::Modern) continue;
    CHECK(negotiate_protocol(protocol.version).version == protocol.version);
  }
  for (const char* other : {"2026-07-28", "1999-01-01", "2099-01-01", ""})
    CHECK(negotiate_protocol(other).version == "2025-11-25");
}

TEST_CASE("capabilities and server information are those the version knows", "[mcp][B72]") {
  const Json oldest = server_capabilities(protocol_of("2024-11-05"));
  CHECK_FALSE(oldest.contains("completions"));
  CHECK(oldest["resources"]["subscribe"] == true);
  CHECK(server_capabilities(protocol_of("2025-03-26")).contains("completions"));
  CHECK_FALSE(server_capabilities(protocol_of("2025-06-18")).contains("tasks"));

  const Json tasks = server_capabilities(protocol_of("2025-11-25"));
  CHECK(tasks["tasks"]["requests"]["tools"].contains("call"));
  CHECK_FALSE(tasks.contains("extensions"));

  const Json modern = server_capabilities(protocol_of("2026-07-28"));
  CHECK_FALSE(modern.contains("tasks"));
  CHECK(modern["extensions"].contains("io.modelcontextprotocol/tasks"));

  CHECK_FALSE(server_info(protocol_of("2025-03-26")).contains("title"));
  CHECK(server_info(protocol_of("2025-06-18"))["title"] == "indx");
}

}  // namespace indx
