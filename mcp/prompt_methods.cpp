#include "mcp/prompt_methods.hpp"

#include "base/text.hpp"
#include "mcp/catalog.hpp"
#include "mcp/operation_call.hpp"
#include "mcp/prompts.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace indx {
namespace {

/// Those recommended tools that the client finds in its catalog.
std::vector<std::string> usable_tools(const Dispatcher& dispatcher, const Principal& principal,
                                      const Prompt& prompt) {
  const auto tools = tools_of(dispatcher.registry(), principal, dispatcher.ai_roles());
  std::vector<std::string> names;
  for (const auto name : prompt.tools)
    if (std::any_of(tools.begin(), tools.end(),
                    [&](const Tool& tool) { return tool.name == name; }))
      names.emplace_back(name);
  return names;
}

/// One prompts/get on its way: its calls run one after another.
struct PromptWork {
  McpRequest request;
  const Prompt& prompt;
  PromptInput input;
  std::vector<PromptCall> calls;
  std::vector<Json> outputs = {};
};

void answer_prompt(Dispatcher& dispatcher, const PromptWork& work) {
  const auto tools = usable_tools(dispatcher, work.request.peer.principal, work.prompt);
  const std::string text = work.prompt.text(work.input, work.outputs, tools);
  const Json message = {{"role", "user"}, {"content", {{"type", "text"}, {"text", text}}}};
  work.request.call->answer_result({{"description", work.prompt.description},
                                    {"messages", Json::array({message})},
                                    {"_meta", {{"tools", tools}}}});
}

void answer_failure(OpenCall& call, const Error& error) {
  const int code = error.code() == ErrorCode::InvalidArgument ? kRpcInvalidParams
                   : error.code() == ErrorCode::Forbidden     ? kRpcForbidden
                                                              : kRpcInternalError;
  call.answer_fault(code, error.message, error.to_json());
}

void run_calls(Dispatcher& dispatcher, const std::shared_ptr<PromptWork>& work) {
  if (work->request.call->is_ended()) return;
  if (work->outputs.size() == work->calls.size()) return answer_prompt(dispatcher, *work);
  const PromptCall& next = work->calls[work->outputs.size()];
  const Operation* operation = dispatcher.registry().find(next.operation);
  const auto& call = work->request.call;
  dispatcher.call(make_call(work->request.peer, *operation, next.input, call->token()),
                  [&dispatcher, work, is_optional = next.may_be_missing](const Answer& answer) {
                    const bool is_missing =
                        !answer.result && answer.result.error().reason == Reason::NotFound;
                    if (!answer.result && !(is_missing && is_optional))
                      return answer_failure(*work->request.call, answer.result.error());
                    work->outputs.push_back(answer.result ? *answer.result : Json(nullptr));
                    run_calls(dispatcher, work);
                  });
}

}  // namespace

bool may_use(const Dispatcher& dispatcher, const Principal& principal, const Prompt& prompt) {
  const auto calls = prompt.calls({});
  return std::all_of(calls.begin(), calls.end(), [&](const PromptCall& call) {
    const Operation* operation = dispatcher.registry().find(call.operation);
    return operation && may_call(principal, *operation);
  });
}

std::vector<McpMethod> PromptMethods::methods() {
  return {{.name = "prompts/list", .run = [this](const McpRequest& request) { list(request); }},
          {.name = "prompts/get", .run = [this](const McpRequest& request) { get(request); }}};
}

void PromptMethods::list(const McpRequest& request) const {
  const Protocol& protocol = *request.peer.protocol;
  Json rows = Json::array();
  for (const Prompt& prompt : prompts()) {
    if (!may_use(services_.dispatcher, request.peer.principal, prompt)) continue;
    Json row = prompt_descriptor(prompt);
    if (protocol.has_title) {
      row["title"] = prompt.title;
      for (std::size_t i = 0; i < prompt.arguments.size(); ++i)
        row["arguments"][i]["title"] = prompt.arguments[i].title;
    }
    if (protocol.has_item_meta)
      row["_meta"] = {
          {"tools", usable_tools(services_.dispatcher, request.peer.principal, prompt)}};
    rows.push_back(std::move(row));
  }
  request.call->answer_result({{"prompts", std::move(rows)}});
}

void PromptMethods::get(const McpRequest& request) const {
  const auto& [peer, message, call] = request;
  const auto name = string_member(message.params, "name");
  if (!name)
    return call->answer_fault(kRpcInvalidParams, "params.name must be the name of a prompt.");
  const Prompt* prompt = find_prompt(*name);
  if (!prompt)
    return call->answer_fault(
        kRpcInvalidParams, cat("Unknown prompt ", *name, ". prompts/list names those there are."));
  const Json* arguments = member(message.params, "arguments");
  auto input = prompt_input(*prompt, arguments ? *arguments : Json(nullptr), services_.clock.now());
  if (!input)
    return call->answer_fault(kRpcInvalidParams, input.error().message, input.error().details);
  auto calls = prompt->calls(*input);
  for (const PromptCall& each : calls)
    if (!operation_behind(services_, request, each.operation)) return;
  run_calls(services_.dispatcher, std::make_shared<PromptWork>(PromptWork{
                                      request, *prompt, std::move(*input), std::move(calls)}));
}

}  // namespace indx
