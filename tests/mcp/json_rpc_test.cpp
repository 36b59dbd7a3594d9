#include "mcp/json_rpc.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

int fault_code(std::string_view text) {
  const auto parsed = parse_rpc(text);
  const auto* fault = std::get_if<RpcFault>(&parsed);
  return fault ? fault->code : 0;
}

RpcMessage message_of(std::string_view text) {
  auto parsed = parse_rpc(text);
  REQUIRE(std::holds_alternative<RpcMessage>(parsed));
  return std::get<RpcMessage>(std::move(parsed));
}

}  // namespace

TEST_CASE("a request id keeps its type and value", "[mcp]") {
  for (const std::string id : {"0", "\"\"", "\"1\"", "-5", "9007199254740991", "\"ключ-🎉\""}) {
    const auto message = message_of(R"({"jsonrpc":"2.0","method":"ping","id":)" + id + "}");
    CHECK(message.kind == RpcMessage::Kind::Request);
    CHECK(message.id.dump() == id);
  }
}

TEST_CASE("what is no JSON-RPC request is refused with the right code", "[mcp]") {
  CHECK(fault_code(R"({"jsonrpc":"2.0","id":1,"method":)") == kRpcParseError);
  CHECK(fault_code("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xFF\"}") == kRpcParseError);
  CHECK(fault_code(R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])") == kRpcInvalidRequest);
  CHECK(fault_code("7") == kRpcInvalidRequest);
  CHECK(fault_code(R"({"id":1,"method":"ping"})") == kRpcInvalidRequest);
  CHECK(fault_code(R"({"jsonrpc":"1.0","id":1,"method":"ping"})") == kRpcInvalidRequest);
  CHECK(fault_code(R"({"jsonrpc":"2.0","id":null,"method":"ping"})") == kRpcInvalidRequest);
  CHECK(fault_code(R"({"jsonrpc":"2.0","id":{},"method":"ping"})") == kRpcInvalidRequest);
  CHECK(fault_code(R"({"jsonrpc":"2.0","id":1})") == kRpcInvalidRequest);
  CHECK(fault_code(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[1]})") ==
        kRpcInvalidParams);
}

TEST_CASE("a message with a whole number that would be rounded is refused under its id", "[mcp]") {
  const auto parsed = parse_rpc(
      R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"n":123456789012345678901}})");

  const auto* fault = std::get_if<RpcFault>(&parsed);
  REQUIRE(fault != nullptr);
  CHECK(fault->id == 7);
  CHECK(fault->message.find("123456789012345678901") != std::string::npos);
}

TEST_CASE("params that are null or absent are an empty object", "[mcp]") {
  CHECK(message_of(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":null})").params ==
        Json::object());
  CHECK(message_of(R"({"jsonrpc":"2.0","id":1,"method":"ping"})").params == Json::object());
}

TEST_CASE("a message nested 20,000 deep is refused before it is parsed", "[mcp]") {
  const std::string deep = R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":)" +
                           std::string(20000, '[') + std::string(20000, ']') + "}}";

  CHECK(fault_code(deep) == kRpcInvalidRequest);
  CHECK(fault_code(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"[[[\"[[[["}})") == 0);
}

TEST_CASE("brackets that never close are no JSON, however many", "[mcp][B72]") {
  for (const std::string& text :
       {std::string(20'000, '['), std::string(20'000, '{'),
        R"({"jsonrpc":"2.0","id":1,"method":"ping","params":)" + std::string(300, '[')}) {
    CHECK(fault_code(text) == kRpcParseError);
    const auto batch = parse_rpc_batch(text);
    REQUIRE(std::holds_alternative<RpcFault>(batch));
    CHECK(std::get<RpcFault>(batch).code == kRpcParseError);
  }
  CHECK(fault_code(std::string(300, '[') + std::string(300, ']')) == kRpcInvalidRequest);
}

TEST_CASE("a request that has a member twice is refused without an id", "[mcp][B72]") {
  for (const char* text :
       {R"({"jsonrpc":"2.0","id":1,"id":2,"method":"ping"})",
        R"({"jsonrpc":"2.0","id":1,"\u0069d":1,"method":"ping"})",
        R"({"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"})",
        R"({"jsonrpc":"2.0","params":{"a:b":":"},"id":1,"method":"ping","params":{}})"}) {
    INFO(text);
    const auto parsed = parse_rpc(text);
    const auto* fault = std::get_if<RpcFault>(&parsed);
    REQUIRE(fault != nullptr);
    CHECK(fault->code == kRpcInvalidRequest);
    CHECK(fault->id.is_null());
  }
  // Inside of the parameters the id is known.
  for (
      const char* text :
      {R"({"jsonrpc":"2.0","id":1,"method":"x","params":{"name":"note_read","name":"note_delete"}})",
       R"({"jsonrpc":"2.0","id":1,"method":"x","params":{"a":[{"b":{"c":1,"d":2,"c":3}}]}})"}) {
    INFO(text);
    const auto parsed = parse_rpc(text);
    const auto* fault = std::get_if<RpcFault>(&parsed);
    REQUIRE(fault != nullptr);
    CHECK(fault->code == kRpcInvalidParams);
    CHECK(fault->id == 1);
  }
  CHECK(fault_code(R"({"jsonrpc":"2.0","id":"{\"id\":[1,","method":"a:\\","params":{"id":1}})") ==
        0);
  CHECK(message_of(R"({"jsonrpc":"2.0","method":"x","method":"y"})").method == "y");

  const auto batch = parse_rpc_batch(
      R"([{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[1,2],"b":{"c":1}}},)"
      R"({"jsonrpc":"2.0","id":2,"id":3,"method":"ping"},7,{"jsonrpc":"2.0","id":4,"method":"x"}])");
  const auto& messages = std::get<std::vector<RpcParsed>>(batch);
  REQUIRE(messages.size() == 4);
  CHECK(std::get<RpcMessage>(messages[0]).id == 1);
  CHECK(std::get<RpcFault>(messages[1]).id.is_null());
  CHECK(std::get<RpcFault>(messages[2]).code == kRpcInvalidRequest);
  CHECK(std::get<RpcMessage>(messages[3]).id == 4);
}

TEST_CASE("a message on the wire has no raw newline and valid UTF-8", "[mcp]") {
  const std::string line = dump_rpc(rpc_result(1, {{"text", "a\nb\xFF"}}));

  CHECK(line.find('\n') == std::string::npos);
  CHECK_FALSE(Json::parse(line, nullptr, false).is_discarded());
}

TEST_CASE("a notification is never at fault, since nobody may answer it", "[mcp][B72]") {
  for (const char* params : {"[1]", "7", "null", R"({"n":123456789012345678901})"}) {
    const auto message =
        message_of(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":)" +
                   std::string(params) + "}");
    CHECK(message.kind == RpcMessage::Kind::Notification);
    CHECK(message.params == Json::object());
  }
}

TEST_CASE("the messages of a batch are read each for itself", "[mcp][B72]") {
  CHECK(is_rpc_batch(" \n[1"));
  CHECK_FALSE(is_rpc_batch(R"({"a":[]})"));
  CHECK_FALSE(is_rpc_batch(""));

  const auto parsed = parse_rpc_batch(
      R"([{"jsonrpc":"2.0","id":1,"method":"ping"},{"id":2},{"jsonrpc":"2.0","method":"x"}])");
  const auto* messages = std::get_if<std::vector<RpcParsed>>(&parsed);
  REQUIRE(messages != nullptr);
  REQUIRE(messages->size() == 3);
  CHECK(std::get<RpcMessage>(messages->at(0)).id == 1);
  CHECK(std::get<RpcFault>(messages->at(1)).id == 2);
  CHECK(wants_answer(messages->at(0)));
  CHECK(wants_answer(messages->at(1)));
  CHECK_FALSE(wants_answer(messages->at(2)));
}

TEST_CASE("nothing behind a zero byte is passed over", "[mcp]") {
  const std::string ping = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  for (const std::string& more : {std::string("\0", 1), std::string("\0 garbage {{{", 13)}) {
    const auto parsed = parse_rpc(ping + more);
    REQUIRE(std::holds_alternative<RpcFault>(parsed));
    CHECK(std::get<RpcFault>(parsed).code == kRpcParseError);
  }
}

TEST_CASE("a response is never refused, whatever its id is", "[mcp]") {
  for (const char* text : {R"({"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"x"}})",
                           R"({"jsonrpc":"2.0","error":{"code":-1,"message":"x"}})",
                           R"({"jsonrpc":"2.0","id":{},"result":{}})",
                           R"({"jsonrpc":"2.0","id":1,"id":2,"result":{}})"}) {
    INFO(text);
    const auto parsed = parse_rpc(text);
    REQUIRE(std::holds_alternative<RpcMessage>(parsed));
    CHECK(std::get<RpcMessage>(parsed).kind == RpcMessage::Kind::Response);
  }
}

}  // namespace indx
