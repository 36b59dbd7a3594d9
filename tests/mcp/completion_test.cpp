#include "mcp/completion.hpp"

#include "base/text.hpp"
#include "mcp/resource_uri.hpp"
#include "mcp/server.hpp"
#include "tests/support/fake_mcp_dispatcher.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

class CompletionTestReply : public McpReply {
 public:
  void notify(const Json&) override {}
  void answer(McpAnswer answer) override { said = answer.message; }
  void drop(CancelReason) override {}
  Json said;
};

struct CompletionWorld {
  CompletionWorld() {
    options.clock = &clock;
    server = std::make_unique<McpServer>(dispatcher, options);
    peer.protocol = find_protocol("2025-11-25");
    peer.principal = FakeMcpDispatcher::principal("reader", {Scope::VaultRead});
    peer.calls = std::make_shared<OpenCalls>();
  }
  Json ask(const std::string& method, const Json& params) {
    const auto reply = std::make_shared<CompletionTestReply>();
    RpcMessage message;
    message.id = 1;
    message.method = method;
    message.params = params;
    server->request(peer, message, reply);
    return reply->said;
  }
  Json complete_path(const std::string& typed) {
    return ask("completion/complete",
               {{"ref", {{"type", "ref/resource"}, {"uri", "vault://{+path}"}}},
                {"argument", {{"name", "path"}, {"value", typed}}}});
  }

  McpTestClock clock;
  McpOptions options;
  FakeMcpDispatcher dispatcher;
  std::unique_ptr<McpServer> server;
  McpPeer peer;
};

}  // namespace

TEST_CASE("paths of a resource template are completed by a bounded look at the index",
          "[mcp][completion]") {
  CompletionWorld world;
  world.dispatcher.behaviours["note_list"] = [](const Call&) {
    Json notes = Json::array();
    for (int i = 0; i < 100; ++i) notes.push_back({{"path", cat("Daily/[", i, "].md")}});
    notes.push_back({{"path", "Daily/x.md"}});
    return mcp_answer(Json{{"notes", notes}, {"next_cursor", "c"}});
  };

  Json completion = world.complete_path("Daily/[")["result"]["completion"];

  CHECK(completion["values"].size() == 100);
  CHECK(completion["hasMore"] == true);
  CHECK_FALSE(completion.contains("total"));
  const auto calls = world.dispatcher.calls_of("note_list");
  REQUIRE(calls.size() == 1);
  CHECK(calls[0].input["limit"] == 100);
  CHECK(calls[0].input["path_glob"] == "Daily/?**");
  CHECK(calls[0].principal.subject == "reader");
}

TEST_CASE("a completed path makes a template the URI of that file, whatever its name",
          "[mcp][completion]") {
  CompletionWorld world;
  const std::vector<std::string> paths = {"Public/%41.md",    "Why?.md",       "C# notes.md",
                                          "search/x.md",      "graph/y z.md",  "50% off.md",
                                          "caf\xC3\xA9/1.md", "Plain/plan.md", "tags/100%?.md"};
  world.dispatcher.behaviours["note_list"] = [&](const Call&) {
    Json notes = Json::array();
    for (const auto& path : paths) notes.push_back({{"path", path}});
    return mcp_answer(Json{{"notes", notes}});
  };
  // `{+path}` of RFC 6570 encodes all but what is reserved, and leaves triplets as they are.
  const auto expanded = [](std::string_view before, const std::string& value) {
    std::string uri(before);
    for (std::size_t i = 0; i < value.size(); ++i) {
      const bool is_triplet = value[i] == '%' && i + 2 < value.size() &&
                              std::isxdigit(static_cast<unsigned char>(value[i + 1])) != 0 &&
                              std::isxdigit(static_cast<unsigned char>(value[i + 2])) != 0;
      const bool is_kept = is_triplet || std::string_view(":/?#[]@!$&'()*+,;=").find(value[i]) !=
                                             std::string_view::npos;
      uri += is_kept ? std::string(1, value[i]) : percent_encode(value.substr(i, 1));
    }
    return uri;
  };
  const Json values = world.complete_path("")["result"]["completion"]["values"];
  REQUIRE(values.size() == paths.size());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const auto value = values[i].get<std::string>();
    const auto uri = expanded("vault://", value);
    INFO(uri);
    const auto parsed = parse_resource_uri(uri);
    REQUIRE(parsed);
    CHECK(parsed->path == paths[i]);
    CHECK(parsed->query.empty());
    // What was completed before is completed again.
    CHECK(world.complete_path(value)["result"]["completion"]["values"] == Json::array({value}));
    // Below another template it is the same path.
    const auto linked = parse_resource_uri(expanded("vault://graph/backlinks/", value));
    if (!value.starts_with('/')) CHECK(linked->path == paths[i]);
  }
}

TEST_CASE("a complete list of values says how many there are", "[mcp][completion]") {
  CompletionWorld world;
  world.dispatcher.behaviours["note_list"] = [](const Call&) {
    return mcp_answer(Json{{"notes", {{{"path", "Ops/a.md"}}, {{"path", "Ops/b.md"}}}},
                           {"next_cursor", nullptr}});
  };

  Json completion = world.complete_path("Ops/")["result"]["completion"];

  CHECK(completion["values"] == Json::array({"Ops/a.md", "Ops/b.md"}));
  CHECK(completion["total"] == 2);
  CHECK(completion["hasMore"] == false);
}

TEST_CASE("what a principal may not list is not completed", "[mcp][completion]") {
  CompletionWorld world;
  world.peer.principal = FakeMcpDispatcher::principal("nobody", {});

  CHECK(world.complete_path("")["error"]["code"] == kRpcInvalidParams);
  CHECK(world.dispatcher.calls_of("note_list").empty());
}

TEST_CASE("completions of what is not there are refused", "[mcp][completion]") {
  CompletionWorld world;
  const auto code_of = [&](const Json& ref, const Json& argument) {
    return world.ask("completion/complete",
                     {{"ref", ref}, {"argument", argument}})["error"]["code"];
  };
  const Json path = {{"name", "path"}, {"value", ""}};

  CHECK(code_of({{"type", "ref/prompt"}, {"name", "no_such"}}, path) == kRpcInvalidParams);
  CHECK(code_of({{"type", "ref/resource"}, {"uri", "vault://{+other}"}}, path) ==
        kRpcInvalidParams);
  CHECK(code_of({{"type", "ref/resource"}, {"uri", "vault://{+path}"}},
                {{"name", "other"}, {"value", ""}}) == kRpcInvalidParams);
  CHECK(code_of({{"type", "ref/tool"}, {"name", "note_read"}}, path) == kRpcInvalidParams);
  CHECK(code_of({{"type", "ref/prompt"}}, path) == kRpcInvalidParams);
  CHECK(code_of({{"type", "ref/resource"}, {"uri", "vault://{+path}"}}, {{"name", "path"}}) ==
        kRpcInvalidParams);
  CHECK(world.ask("completion/complete", Json::object())["error"]["code"] == kRpcInvalidParams);
}

TEST_CASE("the variables of a URI template are found whatever their form", "[mcp][completion]") {
  CHECK(template_variables("vault://{+path}") == std::vector<std::string>{"path"});
  CHECK(template_variables("vault://search{?q,mode}") == std::vector<std::string>{"q", "mode"});
  CHECK(template_variables("a/{b}/{c*}{d:3}") == std::vector<std::string>{"b", "c", "d"});
  CHECK(template_variables("vault://tags").empty());
  CHECK(template_variables("broken{").empty());
}

}  // namespace indx
