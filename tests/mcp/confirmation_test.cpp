#include "mcp/confirmation.hpp"

#include "mcp/catalog.hpp"
#include "ops/operation.hpp"
#include "tests/support/fake_task_dispatcher.hpp"

#include <catch2/catch.hpp>

#include <set>

namespace indx {
namespace {

const Json kCanAsk{{"elicitation", Json::object()}};
const Json kDelete{{"path", "Plan.md"}};

/// A server whose note_delete may lose something.
struct AskingServer {
  AskingServer() {
    options.clock = &clock;
    server = std::make_unique<McpServer>(dispatcher, options);
    dispatcher.behaviours["note_delete"] = [](const Call& call) {
      return mcp_answer(Json{{"path", call.input["path"]}});
    };
  }
  std::size_t deleted() const { return dispatcher.calls_of("note_delete").size(); }

  FakeTaskDispatcher dispatcher;
  McpTestClock clock;
  McpOptions options;
  std::unique_ptr<McpServer> server;
};

Json accepted(const Json& confirm) {
  return {{"action", "accept"}, {"content", {{"confirm", confirm}}}};
}

std::string code_of_refusal(const Json& message) {
  const std::string text = message["result"]["content"][0]["text"];
  return Json::parse(text).value("code", "");
}

/// What the client of 2026-07-28 sends with its second call.
Json second_round(const Json& asked, const Json& response) {
  Json more = {{"requestState", asked["requestState"]}};
  if (!response.is_null()) more["inputResponses"] = {{"confirm", response}};
  return more;
}

}  // namespace

TEST_CASE("few operations ask a person first, and never for a trial or what goes into the trash",
          "[mcp]") {
  const std::vector<std::pair<std::string, Json>> inputs = {{"permanent", {{"permanent", true}}},
                                                            {"plain", Json::object()},
                                                            {"trial", {{"dry_run", true}}}};
  std::set<std::string> asking;
  const Registry registry = make_registry();
  for (const Operation& operation : registry.all())
    for (const auto& [name, given] : inputs) {
      Json input = {{"path", "a.md"}, {"id", "x"}, {"from", "a"}, {"to", "b"}, {"name", "n"}};
      input.update(given);
      if (operation.asks_person(input)) asking.insert(operation.name + " " + name);
    }

  CHECK(asking == std::set<std::string>{
                      "attachment_delete permanent", "job_revert permanent", "job_revert plain",
                      "note_delete permanent", "property_rename permanent", "property_rename plain",
                      "schedule_delete permanent", "schedule_delete plain", "tag_rename permanent",
                      "tag_rename plain", "token_create permanent", "token_create plain",
                      "token_create trial", "token_revoke permanent", "token_revoke plain"});
}

TEST_CASE("a legacy client that can ask is asked with a form, and its yes runs the call", "[mcp]") {
  AskingServer setup;
  McpTestClient client(*setup.server, "2025-06-18", kCanAsk);

  const auto reply = client.call_tool("note_delete", kDelete);

  REQUIRE(reply->told().size() == 1);
  const Json question = reply->told().front();
  CHECK(question["method"] == "elicitation/create");
  CHECK(question["id"].is_string());
  const std::string words = question["params"]["message"];
  CHECK(words.find("note_delete") != words.npos);
  CHECK(words.find("Plan.md") != words.npos);
  const Json& schema = question["params"]["requestedSchema"];
  CHECK(schema["type"] == "object");
  CHECK(schema["properties"]["confirm"]["type"] == "boolean");
  CHECK(setup.deleted() == 0);

  client.respond(*reply, accepted(true));
  CHECK(reply->message()["result"]["structuredContent"]["path"] == "Plan.md");
  CHECK(setup.deleted() == 1);
}

TEST_CASE("whatever is no clear yes of a legacy client changes nothing", "[mcp]") {
  AskingServer setup;
  McpTestClient client(*setup.server, "2025-11-25", kCanAsk);
  const auto refusal_for = [&](const Json& answer, const Json& error = nullptr) {
    const auto reply = client.call_tool("note_delete", kDelete);
    client.respond(*reply, answer, error);
    CHECK(reply->message()["result"]["isError"] == true);
    return code_of_refusal(reply->message());
  };

  CHECK(refusal_for(accepted(false)) == "confirmation_required");
  CHECK(refusal_for({{"action", "decline"}}) == "confirmation_required");
  CHECK(refusal_for({{"action", "cancel"}}) == "cancelled");
  CHECK(refusal_for(accepted("yes")) == "confirmation_required");
  CHECK(refusal_for({{"action", "accept"}}) == "confirmation_required");
  CHECK(refusal_for("nonsense") == "confirmation_required");
  CHECK(refusal_for(nullptr, {{"code", -32603}}) == "confirmation_required");
  CHECK(setup.deleted() == 0);
}

TEST_CASE("a question ends with its call", "[mcp]") {
  AskingServer setup;
  McpTestClient client(*setup.server, "2025-11-25", kCanAsk);
  const auto reply = client.call_tool("note_delete", kDelete);
  client.cancel_last();
  client.respond(*reply, accepted(true));

  CHECK(setup.deleted() == 0);
  CHECK_FALSE(reply->is_answered());
}

TEST_CASE("clients that cannot ask call as they always did", "[mcp]") {
  AskingServer setup;
  const auto deletes_at_once = [&](std::string_view version, const Json& capabilities,
                                   bool has_stream = true) {
    McpTestClient client(*setup.server, version, capabilities);
    const auto reply =
        client.request("tools/call", {{"name", "note_delete"}, {"arguments", kDelete}}, has_stream);
    return reply->message()["result"].value("isError", true) == false && reply->told().empty();
  };

  CHECK(deletes_at_once("2025-11-25", Json::object()));
  CHECK(deletes_at_once("2025-11-25", {{"elicitation", {{"url", Json::object()}}}}));
  CHECK(deletes_at_once("2025-03-26", kCanAsk));
  CHECK(deletes_at_once("2026-07-28", Json::object()));
  CHECK(setup.deleted() == 4);
}

TEST_CASE("a client that can ask, and has no stream on which to be asked, is refused", "[mcp]") {
  AskingServer setup;
  McpTestClient client(*setup.server, "2025-11-25", kCanAsk);
  const auto reply =
      client.request("tools/call", {{"name", "note_delete"}, {"arguments", kDelete}}, false);
  CHECK(code_of_refusal(reply->message()) == "confirmation_required");
  // Nobody said no: the next step is another one.
  CHECK(reply->message()["result"]["content"][1]["text"].get<std::string>().starts_with(
      "Send the call again with a header Accept"));
  CHECK(setup.deleted() == 0);
}

TEST_CASE("whoever asked for a task is told in one form that there is none", "[mcp]") {
  AskingServer setup;
  McpTestClient client(*setup.server, "2025-11-25", kCanAsk);
  const Json as_task{{"task", Json::object()}};
  const auto code_of = [](const Json& message) {
    REQUIRE(message.contains("error"));
    return message["error"]["data"]["code"].get<std::string>();
  };

  CHECK(code_of(client.call_tool("vault_wipe", {{"from", 5}}, as_task)->message()) ==
        "validation_failed");
  Json params = as_task;
  params["name"] = "vault_wipe";
  CHECK(code_of(client.request("tools/call", params, false)->message()) == "confirmation_required");
  const auto declined = client.call_tool("vault_wipe", Json::object(), as_task);
  REQUIRE(declined->told().size() == 1);
  client.respond(*declined, {{"action", "decline"}});
  CHECK(code_of(declined->message()) == "confirmation_required");
}

TEST_CASE("arguments of any type are answered before a person is asked", "[mcp]") {
  AskingServer setup;
  const auto& registry = setup.dispatcher.registry();
  for (const std::string_view version : {"2025-11-25", "2026-07-28"}) {
    McpTestClient client(*setup.server, version, kCanAsk);
    client.peer.principal.scopes.insert(Scope::VaultAdmin);
    for (const Tool& tool : tools_of(registry, client.peer.principal, {true, true}))
      for (const Operation* operation : tool.operations)
        for (const auto& property : operation->may_ask_person()
                                        ? operation->input->properties
                                        : std::vector<SchemaNode::Property>())
          for (const Json& odd : {Json(), Json(5), Json("x"), Json::array(), Json::object(),
                                  Json(true), Json("True"), Json(-1.5)}) {
            Json arguments = {{property.name, odd}};
            if (tool.group) arguments["action"] = operation->name;
            INFO(operation->name << ' ' << arguments);
            const auto reply = client.call_tool(tool.name, arguments);
            if (reply->is_answered())
              CHECK(reply->message().value("error", Json::object()).value("code", 0) !=
                    kRpcInternalError);
            client.cancel_last();
          }
  }
}

TEST_CASE("calls that lose nothing are not asked about", "[mcp]") {
  AskingServer setup;
  McpTestClient client(*setup.server, "2025-11-25", kCanAsk);

  const auto write = client.call_tool("note_write", {{"path", "A.md"}, {"body", "x"}});
  CHECK(write->message()["result"]["isError"] == false);
  CHECK(write->told().empty());
}

TEST_CASE("modern: the answer says what to ask, and the repeated call with a yes runs", "[mcp]") {
  AskingServer setup;
  McpTestClient client(*setup.server, "2026-07-28", kCanAsk);

  const Json asked = client.call_tool("note_delete", kDelete)->message()["result"];
  CHECK(asked["resultType"] == "input_required");
  CHECK(asked["inputRequests"]["confirm"]["method"] == "elicitation/create");
  CHECK(asked["inputRequests"]["confirm"]["params"]["requestedSchema"]["type"] == "object");
  CHECK(setup.deleted() == 0);

  const Json done =
      client.call_tool("note_delete", kDelete, second_round(asked, accepted(true)))->message();
  CHECK(done["result"]["structuredContent"]["path"] == "Plan.md");
  CHECK(setup.deleted() == 1);
}

TEST_CASE("modern: a yes is good for one call, and the next one is asked about again", "[mcp]") {
  AskingServer setup;
  McpTestClient client(*setup.server, "2026-07-28", kCanAsk);
  const Json asked = client.call_tool("note_delete", kDelete)->message()["result"];
  const Json yes = second_round(asked, accepted(true));
  client.call_tool("note_delete", kDelete, yes);
  REQUIRE(setup.deleted() == 1);

  const Json again = client.call_tool("note_delete", kDelete, yes)->message()["result"];
  CHECK(again["resultType"] == "input_required");
  CHECK(again["requestState"] != asked["requestState"]);
  CHECK(setup.deleted() == 1);
}

TEST_CASE("modern: a missing or unfit answer is asked for again, a no ends the call", "[mcp]") {
  AskingServer setup;
  McpTestClient client(*setup.server, "2026-07-28", kCanAsk);
  Json asked;
  const auto ask = [&] { asked = client.call_tool("note_delete", kDelete)->message()["result"]; };
  const auto again = [&](const Json& response) {
    return client.call_tool("note_delete", kDelete, second_round(asked, response))->message();
  };
  const auto second = [&](const Json& response) {
    ask();
    return again(response);
  };

  for (const Json& unfit : {Json(), accepted("yes"), Json{{"action", "accept"}}, Json("?")})
    CHECK(second(unfit)["result"]["resultType"] == "input_required");
  // A yes without the state that we gave is no answer to our question.
  const Json bare =
      client.call_tool("note_delete", kDelete, {{"inputResponses", {{"confirm", accepted(true)}}}})
          ->message();
  CHECK(bare["result"]["resultType"] == "input_required");
  CHECK(code_of_refusal(second({{"action", "decline"}})) == "confirmation_required");
  CHECK(code_of_refusal(second(accepted(false))) == "confirmation_required");
  CHECK(code_of_refusal(second({{"action", "cancel"}})) == "cancelled");
  // After a no the same question does not take a yes.
  CHECK(again(accepted(true))["result"]["resultType"] == "input_required");
  CHECK(setup.deleted() == 0);
}

TEST_CASE("modern: a state counts for its principal, tool, arguments and time only", "[mcp]") {
  AskingServer setup;
  McpTestClient client(*setup.server, "2026-07-28", kCanAsk);
  const Json asked = client.call_tool("note_delete", kDelete)->message()["result"];
  const Json yes = second_round(asked, accepted(true));
  const auto code_with = [](McpTestClient& who, const Json& arguments, const Json& more) {
    return who.call_tool("note_delete", arguments, more)->message()["error"].value("code", 0);
  };

  CHECK(code_with(client, {{"path", "Other.md"}}, yes) == kRpcInvalidParams);
  McpTestClient other(*setup.server, "2026-07-28", kCanAsk);
  other.peer.principal.subject = "somebody";
  CHECK(code_with(other, kDelete, yes) == kRpcInvalidParams);
  const std::string state = yes["requestState"];
  for (std::size_t at = 0; at < state.size(); at += 5) {
    Json altered = yes;
    std::string text = state;
    text[at] = text[at] == '1' ? '2' : '1';
    altered["requestState"] = text;
    CHECK(code_with(client, kDelete, altered) == kRpcInvalidParams);
  }
  for (const char* alien : {"", ".", "1.2", "99999999999999."}) {
    Json altered = yes;
    altered["requestState"] = alien;
    CHECK(code_with(client, kDelete, altered) == kRpcInvalidParams);
  }
  CHECK(setup.deleted() == 0);

  setup.clock.advance(RequestStates::kLifetime);
  const Json late = client.call_tool("note_delete", kDelete, yes)->message();
  CHECK(late["result"]["resultType"] == "input_required");
  CHECK(setup.deleted() == 0);
}

}  // namespace indx
