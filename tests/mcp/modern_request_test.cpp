#include "mcp/modern_request.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

namespace indx {
namespace {

const std::string kKeys = "io.modelcontextprotocol/";

RpcMessage request_of(const std::string& method, const Json& params) {
  RpcMessage message;
  message.id = 7;
  message.method = method;
  message.params = params;
  return message;
}

Json meta_of(const std::string& version = "2026-07-28", const Json& more = Json::object()) {
  Json meta = {{kKeys + "protocolVersion", version},
               {kKeys + "clientCapabilities", Json::object()}};
  meta.update(more);
  return meta;
}

RpcFault fault_of(const RpcMessage& request, const ModernHeaders* headers = nullptr) {
  const auto terms = read_modern_terms(request, headers);
  const auto* fault = std::get_if<RpcFault>(&terms);
  REQUIRE(fault);
  CHECK(fault->id == 7);
  return *fault;
}

int code_under(const RpcMessage& request, const ModernHeaders& headers) {
  const auto terms = read_modern_terms(request, &headers);
  const auto* fault = std::get_if<RpcFault>(&terms);
  return fault ? fault->code : 0;
}

RpcMessage named(const std::string& method, const std::string& key, const Json& value) {
  return request_of(method, {{key, value}, {"_meta", meta_of()}});
}

}  // namespace

TEST_CASE("the era is chosen by what a request says, never by its order", "[mcp][B72]") {
  const Json marked = {{"_meta", meta_of()}};

  CHECK(is_modern(request_of("tools/list", marked)));
  CHECK(is_modern(request_of("initialize", marked)));
  CHECK(is_modern(request_of("tools/list", Json::object()), "2026-07-28"));
  CHECK(is_modern(request_of("tools/list", {{"_meta", meta_of("1900-01-01")}})));
  CHECK(is_modern(request_of("server/discover", Json::object())));

  CHECK_FALSE(is_modern(request_of("initialize", {{"protocolVersion", "2026-07-28"}})));
  CHECK_FALSE(is_modern(request_of("tools/list", Json::object()), "2025-11-25"));
  CHECK_FALSE(is_modern(request_of("tools/list", {{"_meta", {{"progressToken", 1}}}})));
  CHECK_FALSE(is_modern(request_of("tools/list", {{"_meta", "text"}})));
}

TEST_CASE("a request without its version or its capabilities is invalid", "[mcp][B72]") {
  std::vector<Json> bad = {Json::object(), {{"_meta", Json::object()}}, {{"_meta", 3}}};
  for (const std::string key : {"protocolVersion", "clientCapabilities"}) {
    for (const Json& value : std::vector<Json>{nullptr, 5, Json::array()})
      bad.push_back({{"_meta", meta_of("2026-07-28", {{kKeys + key, value}})}});
  }
  bad.push_back({{"_meta", meta_of("2026-07-28", {{kKeys + "logLevel", "loud"}})}});
  bad.push_back({{"_meta", meta_of("2026-07-28", {{kKeys + "logLevel", 3}})}});
  bad.push_back({{"_meta", meta_of("2026-07-28", {{kKeys + "clientCapabilities",
                                                   {{"x", std::string(20'000, 'x')}}}})}});
  for (const Json& params : bad) {
    INFO(params.dump().substr(0, 200));
    CHECK(fault_of(request_of("tools/list", params)).code == kRpcInvalidParams);
  }
}

TEST_CASE("the terms are those of the request itself", "[mcp][B72]") {
  const Json capabilities = {{"elicitation", Json::object()}};
  const auto terms = read_modern_terms(
      request_of("tools/list",
                 {{"_meta", meta_of("2026-07-28", {{kKeys + "clientCapabilities", capabilities},
                                                   {kKeys + "logLevel", "info"}})}}),
      nullptr);

  REQUIRE(std::holds_alternative<ModernTerms>(terms));
  CHECK(std::get<ModernTerms>(terms).protocol->version == "2026-07-28");
  CHECK(std::get<ModernTerms>(terms).client_capabilities == capabilities);
}

TEST_CASE("a version that is not served without initialize is refused with those there are",
          "[mcp][B72]") {
  for (const std::string version : {"1900-01-01", "2025-11-25", ""}) {
    const RpcFault fault = fault_of(request_of("tools/list", {{"_meta", meta_of(version)}}));
    CHECK(fault.code == kRpcUnsupportedVersion);
    CHECK(fault.data["requested"] == version);
    CHECK(fault.data["supported"][0] == "2026-07-28");
  }
}

TEST_CASE("headers must repeat the version and the method of the body", "[mcp][B72]") {
  const RpcMessage list = request_of("tools/list", {{"_meta", meta_of()}});

  CHECK(code_under(list, {"2026-07-28", "tools/list", ""}) == 0);
  CHECK(code_under(list, {" 2026-07-28 ", "\ttools/list ", "ignored"}) == 0);
  CHECK(code_under(list, {"", "tools/list", ""}) == kRpcHeaderMismatch);
  CHECK(code_under(list, {"2025-11-25", "tools/list", ""}) == kRpcHeaderMismatch);
  CHECK(code_under(list, {"2026-07-28", "", ""}) == kRpcHeaderMismatch);
  CHECK(code_under(list, {"2026-07-28", "TOOLS/LIST", ""}) == kRpcHeaderMismatch);
  CHECK(code_under(list, {"2026-07-28", "prompts/list", ""}) == kRpcHeaderMismatch);
  const RpcMessage old = request_of("tools/list", {{"_meta", meta_of("1900-01-01")}});
  CHECK(code_under(old, {"2026-07-28", "tools/list", ""}) == kRpcHeaderMismatch);
  CHECK(code_under(old, {"1900-01-01", "tools/list", ""}) == kRpcUnsupportedVersion);
}

TEST_CASE("Mcp-Name repeats what the request is about, plain or as base64", "[mcp][B72]") {
  struct Row {
    std::string method, key, value, header;
    int code;
  };
  for (const Row& row : std::vector<Row>{
           {"tools/call", "name", "note_read", "note_read", 0},
           {"tools/call", "name", "note_read", "  note_read\t", 0},
           {"tools/call", "name", "note_read", "=?base64?bm90ZV9yZWFk?=", 0},
           {"tools/call", "name", "note_read", "", kRpcHeaderMismatch},
           {"tools/call", "name", "note_read", "note_write", kRpcHeaderMismatch},
           {"tools/call", "name", "note_read", "NOTE_READ", kRpcHeaderMismatch},
           {"tools/call", "name", "note_read", "=?BASE64?bm90ZV9yZWFk?=", kRpcHeaderMismatch},
           {"tools/call", "name", "note_read", "=?base64?*?=", kRpcHeaderMismatch},
           {"prompts/get", "name", "daily_note", "daily_note", 0},
           {"prompts/get", "name", "daily_note", "", kRpcHeaderMismatch},
           {"resources/read", "uri", "vault://Ä.md", "=?base64?dmF1bHQ6Ly/DhC5tZA==?=", 0},
           {"resources/read", "uri", "vault://Ä.md", "vault://Ä.md", kRpcHeaderMismatch},
           {"resources/read", "uri", "=?base64?eA==?=", "=?base64?eA==?=", kRpcHeaderMismatch},
           {"resources/read", "uri", " x ", "=?base64?IHgg?=", 0},
           {"tasks/get", "taskId", "t1", "t1", 0},
           {"tasks/update", "taskId", "t1", "t2", kRpcHeaderMismatch},
           {"tasks/cancel", "taskId", "t1", "", kRpcHeaderMismatch}}) {
    INFO(row.method << ' ' << row.value << ' ' << row.header);
    CHECK(code_under(named(row.method, row.key, row.value),
                     {"2026-07-28", row.method, row.header}) == row.code);
  }
}

TEST_CASE("a name of a wrong type is an invalid parameter before it is a mismatch", "[mcp][B72]") {
  for (const Json& value : std::vector<Json>{nullptr, 5, Json::array(), Json::object()}) {
    CHECK(code_under(named("tools/call", "name", value),
                     {"2026-07-28", "tools/call", "note_read"}) == kRpcInvalidParams);
    CHECK(code_under(named("resources/read", "uri", value), {"2026-07-28", "resources/read", ""}) ==
          kRpcInvalidParams);
  }
}

}  // namespace indx
