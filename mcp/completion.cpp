#include "mcp/completion.hpp"

#include "base/text.hpp"
#include "mcp/operation_call.hpp"
#include "mcp/prompt_methods.hpp"
#include "mcp/prompts.hpp"
#include "mcp/resource_uri.hpp"
#include "mcp/synthetic_resources.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace indx {
namespace {

using Values = std::vector<std::string>;

constexpr std::size_t kMaxValues = 100, kMaxTypedBytes = 4096;
constexpr int kOfferedDays = 31;

/// Where names come from: the operation, its list, what of a row is the name, and what else to ask.
struct NameSource {
  std::string_view source, operation, list, name, extension;
};
constexpr std::array kNameSources = {
    NameSource{"note", "note_list", "notes", "path", ""},
    NameSource{"canvas", "attachment_list", "attachments", "path", "canvas"},
    NameSource{"base", "attachment_list", "attachments", "path", "base"},
    NameSource{"tag", "tag_list", "tags", "tag", ""},
};

void answer_values(OpenCall& call, Values values, bool has_more) {
  if (values.size() > kMaxValues) {
    values.resize(kMaxValues);
    has_more = true;
  }
  Json completion = {{"values", values}, {"hasMore", has_more}};
  if (!has_more) completion["total"] = values.size();
  call.answer_result({{"completion", std::move(completion)}});
}

void answer_matching(OpenCall& call, Values values, const std::string& typed) {
  std::erase_if(values, [&](const std::string& value) { return !value.starts_with(typed); });
  answer_values(call, std::move(values), false);
}

/// The days a person most likely means, the nearest first.
Values day_values(Timestamp now) {
  Values values = {"today", "yesterday", "tomorrow"};
  for (int back = 0; back < kOfferedDays; ++back)
    values.push_back(format_time(now - std::chrono::days(back)).substr(0, 10));
  return values;
}

Values values_of(PromptValue value, Timestamp now) {
  switch (value) {
    case PromptValue::Date:
      return day_values(now);
    case PromptValue::Limit:
      return {"5", "10", "20", "50", "100"};
    case PromptValue::Switch:
      break;
  }
  return {"true", "false"};
}

/// A path as the value of `{+path}`, which leaves `%41` and what is reserved as they are.
std::string template_value(std::string_view uri_template, const std::string& path) {
  std::string value;
  for (const char c : path)
    value += std::string_view("%?#").find(c) == std::string_view::npos
                 ? std::string(1, c)
                 : percent_encode(std::string_view(&c, 1));
  // In a folder that has the name of something else.
  const bool collides =
      uri_template == "vault://{+path}" && vault_uri(path).starts_with("vault:///");
  return collides ? "/" + value : value;
}

/// Whose names a variable of this template stands for; empty: nobody's.
std::string_view source_of(std::string_view uri_template, std::string_view variable) {
  if (variable == "tag") return "tag";
  if (variable != "path") return "";
  if (uri_template.starts_with("vault://canvas/")) return "canvas";
  if (uri_template.starts_with("vault://base/")) return "base";
  return "note";
}

bool is_template(const Dispatcher& dispatcher, const McpPeer& peer, const std::string& uri) {
  const Json body = resource_templates(dispatcher.registry(), peer.principal, dispatcher.ai_roles(),
                                       *peer.protocol);
  const Json& rows = body["resourceTemplates"];
  return std::any_of(rows.begin(), rows.end(),
                     [&](const Json& row) { return row.value("uriTemplate", "") == uri; });
}

}  // namespace

std::vector<std::string> template_variables(std::string_view uri_template) {
  Values names;
  std::size_t at = 0;
  while ((at = uri_template.find('{', at)) != std::string_view::npos) {
    const auto end = uri_template.find('}', at);
    if (end == std::string_view::npos) break;
    std::string_view inside = uri_template.substr(at + 1, end - at - 1);
    inside.remove_prefix(std::min(inside.find_first_not_of("+#./;?&"), inside.size()));
    for (const std::string& each : split(inside, ','))
      names.push_back(each.substr(0, each.find_first_of("*:")));
    at = end;
  }
  return names;
}

std::vector<McpMethod> CompletionMethods::methods() {
  return {{.name = "completion/complete",
           .run = [this](const McpRequest& request) { complete(request); }}};
}

void CompletionMethods::complete(const McpRequest& request) const {
  const auto& [peer, message, call] = request;
  const auto refuse = [&](const char* text) { call->answer_fault(kRpcInvalidParams, text); };
  const Json* ref = member(message.params, "ref");
  const Json* argument = member(message.params, "argument");
  const auto type = ref ? string_member(*ref, "type") : std::nullopt;
  const auto name = argument ? string_member(*argument, "name") : std::nullopt;
  const auto typed = argument ? string_member(*argument, "value") : std::nullopt;
  if (!name || !typed)
    return refuse("params.argument must be {name, value}, both texts; value may be empty.");
  if (typed->size() > kMaxTypedBytes) return refuse("params.argument.value is too long.");
  const Json* context = member(message.params, "context");
  if (peer.protocol->has_completion_context && context && !context->is_object())
    return refuse("params.context must be an object.");

  if (type == "ref/prompt") {
    if (const auto prompt = string_member(*ref, "name"))
      return complete_prompt(request, *prompt, *name, *typed);
  } else if (type == "ref/resource") {
    if (const auto uri = string_member(*ref, "uri"))
      return complete_resource(request, *uri, *name, *typed);
  }
  refuse("params.ref must be {type: ref/prompt, name} or {type: ref/resource, uri}.");
}

void CompletionMethods::complete_prompt(const McpRequest& request, const std::string& name,
                                        const std::string& argument,
                                        const std::string& typed) const {
  const Prompt* prompt = find_prompt(name);
  if (!prompt || !may_use(services_.dispatcher, request.peer.principal, *prompt))
    return request.call->answer_fault(kRpcInvalidParams, cat("Unknown prompt ", name, "."));
  for (const PromptArgument& row : prompt->arguments)
    if (row.name == argument)
      return answer_matching(*request.call, values_of(row.value, services_.clock.now()), typed);
  request.call->answer_fault(kRpcInvalidParams,
                             cat("The prompt ", name, " takes no argument `", argument, "`."));
}

void CompletionMethods::complete_resource(const McpRequest& request,
                                          const std::string& uri_template,
                                          const std::string& variable,
                                          const std::string& typed) const {
  const auto& call = request.call;
  if (!is_template(services_.dispatcher, request.peer, uri_template))
    return call->answer_fault(kRpcInvalidParams,
                              "Unknown template: params.ref.uri must be one of "
                              "resources/templates/list, as it stands there.");
  const Values variables = template_variables(uri_template);
  if (std::find(variables.begin(), variables.end(), variable) == variables.end())
    return call->answer_fault(kRpcInvalidParams,
                              cat(uri_template, " has no variable `", variable, "`."));
  if (const auto source = source_of(uri_template, variable); !source.empty())
    return complete_names(request, uri_template, source, typed);
  const Operation* search = services_.dispatcher.registry().find("vault_search");
  const auto* field = search ? search->input->find(variable) : nullptr;
  answer_matching(*call, field ? field->schema.allowed : Values(), typed);
}

void CompletionMethods::complete_names(const McpRequest& request, const std::string& uri_template,
                                       std::string_view source, const std::string& value) const {
  const auto& row = *std::find_if(kNameSources.begin(), kNameSources.end(),
                                  [&](const NameSource& each) { return each.source == source; });
  const Operation* operation = operation_behind(services_, request, row.operation);
  if (!operation) return;
  const bool is_path = row.name == "path";
  const std::string typed =
      is_path ? percent_decode(value.starts_with('/') ? value.substr(1) : value) : value;
  Json input = {{"limit", kMaxValues}};
  if (!is_path)
    input["prefix"] = typed;
  else if (!typed.empty())
    input["path_glob"] = glob_of_prefix(typed);
  if (!row.extension.empty()) input["extensions"] = Json::array({row.extension});
  const auto& call = request.call;
  services_.dispatcher.call(
      make_call(request.peer, *operation, std::move(input), call->token()),
      [call, &row, is_path, uri_template, typed](const Answer& answer) {
        // What cannot be looked up has no completions; the client only wanted to help somebody
        // type.
        if (!answer.result) return answer_values(*call, {}, false);
        Values values;
        for (const Json& each : answer.result->value(std::string(row.list), Json::array())) {
          const std::string name = each.value(std::string(row.name), "");
          if (!is_path)
            values.push_back(name);
          else if (name.starts_with(typed))
            values.push_back(template_value(uri_template, name));
        }
        answer_values(*call, std::move(values),
                      string_member(*answer.result, "next_cursor").has_value());
      });
}

}  // namespace indx
