#include "base/text.hpp"
#include "mcp/stdio_transport.hpp"
#include "tests/support/fake_mcp_dispatcher.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <unistd.h>
#include <vector>

namespace indx {
namespace {

/// What a server says to a client that writes all its lines at once and closes its end; the lines
/// fit into a pipe.
std::vector<Json> dialogue(const std::vector<Json>& lines) {
  std::array<int, 2> in{}, out{};
  REQUIRE(::pipe(in.data()) == 0);
  REQUIRE(::pipe(out.data()) == 0);
  std::string text;
  for (const Json& line : lines) text += line.dump() + "\n";
  REQUIRE(::write(in[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  ::close(in[1]);
  FakeMcpDispatcher dispatcher;
  CHECK(serve_mcp_stdio(dispatcher, FakeMcpDispatcher::principal("local", {Scope::VaultRead}),
                        in[0], out[1], CancelToken()) == 0);
  ::close(in[0]);
  ::close(out[1]);

  std::string said(1 << 16, '\0');
  said.resize(
      static_cast<std::size_t>(std::max<ssize_t>(0, ::read(out[0], said.data(), said.size()))));
  ::close(out[0]);
  std::vector<Json> messages;
  for (const std::string& line : split(said, '\n'))
    if (!line.empty()) messages.push_back(Json::parse(line, nullptr, false));
  return messages;
}

Json said_to(const std::vector<Json>& messages, const Json& id) {
  for (const Json& message : messages)
    if (message.value("id", Json()) == id) return message;
  return Json::object();
}

Json marked_line(const Json& id, const std::string& method, Json params = Json::object(),
                 const std::string& version = "2026-07-28") {
  params["_meta"] = {{"io.modelcontextprotocol/protocolVersion", version},
                     {"io.modelcontextprotocol/clientCapabilities", Json::object()}};
  return {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}};
}

Json bare_line(const Json& id, const std::string& method, const Json& params = Json::object()) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}};
}

}  // namespace

TEST_CASE("one stdio process serves both eras, in any order", "[mcp][B7][B72]") {
  const auto said = dialogue({
      marked_line("d", "server/discover"),
      marked_line("early", "tools/list"),
      bare_line("too early", "tools/list"),
      bare_line("i", "initialize", {{"protocolVersion", "2025-11-25"}}),
      bare_line("legacy", "tools/list"),
      marked_line("modern", "tools/list"),
      marked_line("read", "resources/read", {{"uri", "vault://Ops/Runbook.md"}}),
  });

  CHECK(said.size() == 7);
  CHECK(said_to(said, "d")["result"]["supportedVersions"][0] == "2026-07-28");
  CHECK(said_to(said, "early")["result"]["resultType"] == "complete");
  CHECK(said_to(said, "too early")["error"]["code"] == kRpcInvalidRequest);
  CHECK(said_to(said, "i")["result"]["protocolVersion"] == "2025-11-25");
  CHECK_FALSE(said_to(said, "legacy")["result"].contains("resultType"));
  CHECK(said_to(said, "modern")["result"]["cacheScope"] == "private");
  CHECK(said_to(said, "read")["result"]["ttlMs"] == 0);
}

TEST_CASE("what the modern era refuses over stdio is an error with the id, and the process goes on",
          "[mcp][B72]") {
  const auto said = dialogue({
      bare_line(1, "server/discover"),
      marked_line(2, "initialize", {{"protocolVersion", "2025-11-25"}}),
      marked_line(3, "ping"),
      marked_line(4, "tools/list", Json::object(), "1900-01-01"),
      bare_line(5, "initialize", {{"protocolVersion", "2025-11-25"}}),
      bare_line(6, "ping"),
  });

  CHECK(said_to(said, 1)["error"]["code"] == kRpcInvalidParams);
  CHECK(said_to(said, 2)["error"]["code"] == kRpcMethodNotFound);
  CHECK(said_to(said, 3)["error"]["code"] == kRpcMethodNotFound);
  CHECK(said_to(said, 4)["error"]["code"] == kRpcUnsupportedVersion);
  CHECK(said_to(said, 4)["error"]["data"]["requested"] == "1900-01-01");
  CHECK(said_to(said, 5).contains("result"));
  CHECK(said_to(said, 6).contains("result"));
}

}  // namespace indx
