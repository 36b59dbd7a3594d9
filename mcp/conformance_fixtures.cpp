#include "mcp/conformance_fixtures.hpp"

#include "base/hash.hpp"
#include "base/secret_box.hpp"
#include "base/text.hpp"
#include "mcp/logging.hpp"
#include "mcp/operation_call.hpp"

#include <deque>
#include <utility>

namespace indx {
namespace {

constexpr std::chrono::milliseconds kStep{50};
constexpr int kRpcLacksCapability = -32021;
constexpr const char* kPng =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg"
    "==";
constexpr const char* kWav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

Json text_content(std::string text) { return {{"type", "text"}, {"text", std::move(text)}}; }
Json image_content() { return {{"type", "image"}, {"data", kPng}, {"mimeType", "image/png"}}; }
Json resource_content(const std::string& uri, const char* text) {
  return {{"type", "resource"},
          {"resource", {{"uri", uri}, {"mimeType", "text/plain"}, {"text", text}}}};
}
Json with_content(Json block) { return {{"content", Json::array({std::move(block)})}}; }
Json with_text(std::string text) { return with_content(text_content(std::move(text))); }
Json with_error(std::string text) {
  Json result = with_text(std::move(text));
  result["isError"] = true;
  return result;
}

Json argument(const McpRequest& request, std::string_view key) {
  const Json* arguments = member(request.message.params, "arguments");
  const Json* value = arguments ? member(*arguments, key) : nullptr;
  return value ? *value : Json("");
}

bool is_declared(const McpRequest& request, std::string_view capability) {
  return member(request.peer.client_capabilities, capability) != nullptr;
}

// ---- said while a call is in work

/// Sends one notification after the other, a step apart, then the answer.
void say_then_answer(Deadlines& deadlines, const std::shared_ptr<OpenCall>& call,
                     std::deque<Json> notifications, const Json& result) {
  if (notifications.empty()) return call->answer_result(result);
  call->notify(notifications.front());
  notifications.pop_front();
  deadlines.after(kStep, [&deadlines, call, rest = std::move(notifications), result] {
    say_then_answer(deadlines, call, rest, result);
  });
}

void run_logging(const McpRequest& request, const McpServices& services) {
  std::deque<Json> lines;
  const Json* meta = member(request.message.params, "_meta");
  const bool is_wanted =
      request.peer.protocol->era == Era::Legacy || (meta && member(*meta, kLogLevelMeta));
  if (is_wanted)
    for (const char* line :
         {"Tool execution started", "Tool processing data", "Tool execution completed"})
      lines.push_back(
          rpc_notification("notifications/message", {{"level", "info"}, {"data", line}}));
  say_then_answer(services.deadlines, request.call, lines, with_text("Three lines were logged."));
}

void run_progress(const McpRequest& request, const McpServices& services) {
  std::deque<Json> steps;
  const Json token = progress_token(request.message);
  for (const int progress : {0, 50, 100})
    if (!token.is_null())
      steps.push_back(
          rpc_notification("notifications/progress",
                           {{"progressToken", token}, {"progress", progress}, {"total", 100}}));
  say_then_answer(services.deadlines, request.call, steps, with_text("Progress was reported."));
}

// ---- questions to the peer of a legacy session

void ask_peer(const McpRequest& request, std::string_view capability, std::string_view method,
              Json params, const std::string& prefix) {
  if (!is_declared(request, capability))
    return request.call->answer_result(
        with_error(cat("The client does not declare ", capability, ".")));
  request.call->ask(method, std::move(params), [call = request.call, prefix](const auto& reply) {
    call->answer_result(reply ? with_text(cat(prefix, dump_rpc(*reply)))
                              : with_error(reply.error().message));
  });
}

Json text_form(std::vector<std::pair<std::string, std::string>> fields) {
  Json form = {{"type", "object"}, {"properties", Json::object()}, {"required", Json::array()}};
  for (const auto& [name, type] : fields) {
    form["properties"][name] = {{"type", type}};
    form["required"].push_back(name);
  }
  return form;
}

const char* const kDefaultsForm = R"({"type": "object", "properties": {
  "name": {"type": "string", "default": "John Doe"},
  "age": {"type": "integer", "default": 30},
  "score": {"type": "number", "default": 95.5},
  "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
  "verified": {"type": "boolean", "default": true}}})";

const char* const kEnumsForm = R"({"type": "object", "properties": {
  "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
  "titledSingle": {"type": "string", "oneOf": [{"const": "value1", "title": "First Option"},
    {"const": "value2", "title": "Second Option"}, {"const": "value3", "title": "Third Option"}]},
  "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"],
    "enumNames": ["Option One", "Option Two", "Option Three"]},
  "untitledMulti": {"type": "array", "items": {"type": "string",
    "enum": ["option1", "option2", "option3"]}},
  "titledMulti": {"type": "array", "items": {"anyOf": [{"const": "value1", "title": "First Choice"},
    {"const": "value2", "title": "Second Choice"}, {"const": "value3", "title": "Third Choice"}]}}}})";

void ask_user(const McpRequest& request, Json message, Json form, const std::string& prefix) {
  ask_peer(request, "elicitation", "elicitation/create",
           {{"message", std::move(message)}, {"requestedSchema", std::move(form)}}, prefix);
}

Json sampling_params(Json text, int max_tokens) {
  return {{"messages", {{{"role", "user"}, {"content", text_content(text.get<std::string>())}}}},
          {"maxTokens", max_tokens}};
}

// ---- questions inside a result of the modern era

/// What the client has to answer before a call can go on.
struct FixtureQuestion {
  std::string key, method;
  Json params;
};
FixtureQuestion form_question(std::string key, const char* message, Json form) {
  return {std::move(key),
          "elicitation/create",
          {{"message", message}, {"requestedSchema", std::move(form)}}};
}
FixtureQuestion name_question(std::string key) {
  return form_question(std::move(key), "What is your name?", text_form({{"name", "string"}}));
}
FixtureQuestion sampling_question(std::string key, const char* text) {
  return {std::move(key), "sampling/createMessage", sampling_params(text, 100)};
}
const FixtureQuestion kRootsQuestion = {"client_roots", "roots/list", Json::object()};

const std::string& state_key() {
  static const std::string key = [] {
    SystemRandom random;
    return random.hex(kSecretKeyBytes).substr(0, kSecretKeyBytes);
  }();
  return key;
}

void require_input(const McpRequest& request, const std::vector<FixtureQuestion>& questions,
                   const std::string& state = "") {
  Json asked = Json::object();
  for (const FixtureQuestion& question : questions)
    asked[question.key] = {{"method", question.method}, {"params", question.params}};
  Json result = {{"resultType", "input_required"}, {"inputRequests", std::move(asked)}};
  if (!state.empty())
    if (const auto sealed = seal(state_key(), state))
      result["requestState"] = base64_encode(*sealed);
  request.call->answer_result(std::move(result));
}

bool is_answered(const McpRequest& request, const std::vector<FixtureQuestion>& questions) {
  const Json* responses = member(request.message.params, "inputResponses");
  for (const FixtureQuestion& question : questions) {
    const Json* response = responses ? member(*responses, question.key) : nullptr;
    if (!response || !response->is_object()) return false;
  }
  return true;
}

/// Empty: the client sent none. nullopt: it is not one of ours, and the call has been answered.
std::optional<std::string> opened_state(const McpRequest& request) {
  const auto sent = string_member(request.message.params, "requestState");
  if (!sent) return "";
  const Base64 bytes = base64_decode(*sent);
  if (bytes.ok)
    if (const auto state = unseal(state_key(), bytes.bytes)) return *state;
  request.call->answer_fault(kRpcInvalidParams, "requestState was changed on its way.");
  return std::nullopt;
}

/// Asks until all is answered, then answers with `result`.
void ask_first(const McpRequest& request, const std::vector<FixtureQuestion>& questions,
               Json result, const std::string& state = "") {
  const auto sent = opened_state(request);
  if (!sent) return;
  if (*sent != state || !is_answered(request, questions))
    return require_input(request, questions, state);
  request.call->answer_result(std::move(result));
}

void run_rounds(const McpRequest& request) {
  const std::vector<FixtureQuestion> first = {name_question("step1")};
  const std::vector<FixtureQuestion> second = {
      form_question("step2", "What is your favourite colour?", text_form({{"color", "string"}}))};
  const auto state = opened_state(request);
  if (!state) return;
  if (*state == "round-1" && is_answered(request, first))
    return require_input(request, second, "round-2");
  if (*state != "round-2") return require_input(request, first, "round-1");
  if (!is_answered(request, second)) return require_input(request, second, "round-2");
  request.call->answer_result(with_text("Both steps were answered."));
}

void run_by_capabilities(const McpRequest& request) {
  std::vector<FixtureQuestion> questions;
  if (is_declared(request, "elicitation")) questions.push_back(name_question("user_name"));
  if (is_declared(request, "sampling"))
    questions.push_back(sampling_question("greeting", "Write a greeting"));
  if (is_declared(request, "roots")) questions.push_back(kRootsQuestion);
  ask_first(request, questions, with_text("All was answered."));
}

void run_missing_capability(const McpRequest& request) {
  if (is_declared(request, "sampling"))
    return request.call->answer_result(with_text("The client declares sampling."));
  request.call->answer_fault(kRpcLacksCapability, "This tool needs the capability sampling.",
                             {{"requiredCapabilities", {{"sampling", Json::object()}}}});
}

// ---- the catalog

using Run = std::function<void(const McpRequest&, const McpServices&)>;
struct Fixture {
  std::string name;
  Run run;
  Json listed;  ///< what a list shows beside name and description
};

Run says(Json result) {
  return [result = std::move(result)](const McpRequest& request, const McpServices&) {
    request.call->answer_result(result);
  };
}
Run asks(std::vector<FixtureQuestion> questions, Json result, std::string state = "") {
  return [questions = std::move(questions), result = std::move(result), state = std::move(state)](
             const McpRequest& request, const McpServices&) {
    ask_first(request, questions, result, state);
  };
}
Run does(void (*run)(const McpRequest&)) {
  return [run](const McpRequest& request, const McpServices&) { run(request); };
}

Fixture tool(std::string name, Run run, Json schema = Json::parse(R"({"type":"object"})")) {
  if (!schema.contains("properties")) schema["properties"] = Json::object();
  return {std::move(name), std::move(run), {{"inputSchema", std::move(schema)}}};
}

const char* const kDialectSchema = R"({"$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "$defs": {"address": {"$anchor": "addressDef", "type": "object",
    "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
  "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
    "contactMethod": {"type": "string", "enum": ["phone", "email"]},
    "phone": {"type": "string"}, "email": {"type": "string"}},
  "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
  "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
  "then": {"required": ["phone"]}, "else": {"required": ["email"]},
  "additionalProperties": false})";

std::vector<Fixture> tools_that_ask() {
  const FixtureQuestion name = name_question("user_name"),
                        confirm = form_question("confirm", "Please confirm",
                                                text_form({{"ok", "boolean"}})),
                        capital =
                            sampling_question("capital_question", "What is the capital of France?");
  const std::string in_result = "test_input_required_result_";
  return {
      tool(
          "test_sampling",
          [](const McpRequest& request, const McpServices&) {
            ask_peer(request, "sampling", "sampling/createMessage",
                     sampling_params(argument(request, "prompt"), 100), "LLM response: ");
          },
          text_form({{"prompt", "string"}})),
      tool(
          "test_elicitation",
          [](const McpRequest& request, const McpServices&) {
            ask_user(request, argument(request, "message"),
                     text_form({{"username", "string"}, {"email", "string"}}), "User response: ");
          },
          text_form({{"message", "string"}})),
      tool("test_elicitation_sep1034_defaults",
           [](const McpRequest& request, const McpServices&) {
             ask_user(request, "Please check", Json::parse(kDefaultsForm),
                      "Elicitation completed: ");
           }),
      tool("test_elicitation_sep1330_enums",
           [](const McpRequest& request, const McpServices&) {
             ask_user(request, "Please choose", Json::parse(kEnumsForm), "Elicitation completed: ");
           }),
      tool(in_result + "elicitation", asks({name}, with_text("Hello!"))),
      tool(in_result + "sampling", asks({capital}, with_text("The model answered."))),
      tool(in_result + "list_roots", asks({kRootsQuestion}, with_text("There are roots."))),
      tool(in_result + "request_state", asks({confirm}, with_text("state-ok"), "confirming")),
      tool(in_result + "tampered_state", asks({confirm}, with_text("state-ok"), "untouched")),
      tool(in_result + "multiple_inputs",
           asks({name, sampling_question("greeting", "Write a greeting"), kRootsQuestion},
                with_text("All three were answered."), "three")),
      tool(in_result + "multi_round", does(run_rounds)),
      tool(in_result + "capabilities", does(run_by_capabilities)),
      tool("test_missing_capability", does(run_missing_capability)),
      tool("test_streaming_elicitation", asks({name}, with_text("Hello!"))),
  };
}

const std::vector<Fixture>& tools() {
  static const std::vector<Fixture> rows = [] {
    const Json picture = image_content(),
               embedded = resource_content("test://embedded-resource",
                                           "This is an embedded resource content.");
    std::vector<Fixture> made = {
        tool("test_simple_text", says(with_text("This is a simple text response for testing."))),
        tool("test_image_content", says(with_content(picture))),
        tool("test_audio_content",
             says(with_content({{"type", "audio"}, {"data", kWav}, {"mimeType", "audio/wav"}}))),
        tool("test_embedded_resource", says(with_content(embedded))),
        tool("test_multiple_content_types",
             says({{"content", {text_content("Several kinds of content:"), picture, embedded}}})),
        tool("test_error_handling",
             says(with_error("This tool intentionally returns an error for testing"))),
        tool("test_tool_with_logging", run_logging),
        tool("test_logging_tool", run_logging),
        tool("test_reconnection", run_logging),
        tool("test_tool_with_progress", run_progress),
        tool("json_schema_2020_12_tool", says(with_text("Any arguments will do.")),
             Json::parse(kDialectSchema)),
    };
    for (Fixture& each : tools_that_ask()) made.push_back(std::move(each));
    return made;
  }();
  return rows;
}

Json user_message(Json content) { return {{"role", "user"}, {"content", std::move(content)}}; }
Json with_messages(std::vector<Json> messages) { return {{"messages", std::move(messages)}}; }

Fixture prompt(std::string name, Run run, const std::vector<std::string>& arguments = {}) {
  Json listed = Json::array();
  for (const std::string& each : arguments)
    listed.push_back({{"name", each}, {"description", "Any text."}, {"required", true}});
  return {std::move(name), std::move(run), {{"arguments", std::move(listed)}}};
}

const std::vector<Fixture>& fixture_prompts() {
  static const std::vector<Fixture> rows = {
      prompt("test_simple_prompt", says(with_messages({user_message(
                                       text_content("This is a simple prompt for testing."))}))),
      prompt("test_prompt_with_arguments",
             [](const McpRequest& request, const McpServices&) {
               request.call->answer_result(with_messages({user_message(text_content(
                   cat("Prompt with arguments: arg1=", dump_rpc(argument(request, "arg1")),
                       ", arg2=", dump_rpc(argument(request, "arg2")))))}));
             },
             {"arg1", "arg2"}),
      prompt("test_prompt_with_embedded_resource",
             [](const McpRequest& request, const McpServices&) {
               const Json uri = argument(request, "resourceUri");
               request.call->answer_result(with_messages(
                   {user_message(resource_content(uri.is_string() ? uri.get<std::string>() : "",
                                                  "Embedded resource content for testing.")),
                    user_message(text_content("Please process the embedded resource above."))}));
             },
             {"resourceUri"}),
      prompt("test_prompt_with_image",
             says(with_messages({user_message(image_content()),
                                 user_message(text_content("Please analyze the image above."))}))),
      prompt("test_input_required_result_prompt",
             asks({form_question("user_context", "What context should the prompt use?",
                                 text_form({{"context", "string"}}))},
                  with_messages({user_message(text_content("With that context."))}))),
  };
  return rows;
}

/// The contents of a resource; null: it is none of these.
Json resource(const std::string& uri) {
  constexpr std::string_view kHead = "test://template/", kTail = "/data";
  Json contents = {{"uri", uri}, {"mimeType", "text/plain"}};
  if (uri == "test://static-text") {
    contents["text"] = "This is the content of the static text resource.";
  } else if (uri == "test://watched-resource") {
    contents["text"] = "Watched resource content";
  } else if (uri == "test://static-binary") {
    contents["mimeType"] = "image/png";
    contents["blob"] = kPng;
  } else if (uri.starts_with(kHead) && uri.ends_with(kTail) &&
             uri.size() > kHead.size() + kTail.size()) {
    const std::string id = uri.substr(kHead.size(), uri.size() - kHead.size() - kTail.size());
    contents["mimeType"] = "application/json";
    contents["text"] =
        dump_rpc({{"id", id}, {"templateTest", true}, {"data", "Data for ID: " + id}});
  } else {
    return nullptr;
  }
  return contents;
}

// ---- in front of the methods

Json list_of(const std::vector<Fixture>& fixtures) {
  Json list = Json::array();
  for (const Fixture& each : fixtures) {
    Json row = {{"name", each.name}, {"description", "For the conformance suite."}};
    row.update(each.listed);
    list.push_back(std::move(row));
  }
  return list;
}

Json list_of_resources() {
  Json list = Json::array();
  for (const char* name : {"static-text", "static-binary", "watched-resource"})
    list.push_back({{"uri", cat("test://", name)},
                    {"name", name},
                    {"description", "For the conformance suite."}});
  return list;
}

/// Answers the request if it is about a fixture.
using Front = std::function<bool(const McpRequest&)>;

Front lists(const char* key, const Json& list) {
  return [key, list](const McpRequest& request) {
    request.call->answer_result({{key, list}});
    return true;
  };
}

Front calls(const std::vector<Fixture>& fixtures, const McpServices& services) {
  return [&fixtures, services](const McpRequest& request) {
    const auto name = string_member(request.message.params, "name").value_or("");
    for (const Fixture& each : fixtures) {
      if (each.name != name) continue;
      each.run(request, services);
      return true;
    }
    return false;
  };
}

/// `with_contents`: the answer is what the resource holds, else empty.
Front resources(bool with_contents) {
  return [with_contents](const McpRequest& request) {
    const Json contents = resource(string_member(request.message.params, "uri").value_or(""));
    if (contents.is_null()) return false;
    request.call->answer_result(with_contents ? Json{{"contents", {contents}}} : Json::object());
    return true;
  };
}

bool complete_argument(const McpRequest& request) {
  const Json* ref = member(request.message.params, "ref");
  if (!ref || string_member(*ref, "name").value_or("") != "test_prompt_with_arguments")
    return false;
  request.call->answer_result(
      {{"completion", {{"values", {"paris", "park"}}, {"total", 2}, {"hasMore", false}}}});
  return true;
}

Front front_of(std::string_view method, const McpServices& services) {
  if (method == "tools/list") return lists("tools", list_of(tools()));
  if (method == "prompts/list") return lists("prompts", list_of(fixture_prompts()));
  if (method == "resources/list") return lists("resources", list_of_resources());
  if (method == "tools/call") return calls(tools(), services);
  if (method == "prompts/get") return calls(fixture_prompts(), services);
  if (method == "resources/read") return resources(true);
  if (method == "resources/subscribe" || method == "resources/unsubscribe") return resources(false);
  if (method == "completion/complete") return complete_argument;
  return nullptr;
}

}  // namespace

McpMethod with_conformance_fixtures(const McpMethod& method, const McpServices& services) {
  McpMethod fronted = method;
  if (const Front front = front_of(method.name, services))
    fronted.run = [front, run = method.run](const McpRequest& request) {
      if (!front(request)) run(request);
    };
  return fronted;
}

}  // namespace indx
