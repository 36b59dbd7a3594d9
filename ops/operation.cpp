#include "ops/operation.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace indx {

const std::string* Operation::text_of(const Json& output_data) const {
  if (text.empty() || !output_data.is_object()) return nullptr;
  const auto found = output_data.find(text);
  return found == output_data.end() ? nullptr : found->get_ptr<const std::string*>();
}

std::vector<Json> Operation::gap_lines(const Json& output_data) const {
  std::vector<Json> lines;
  if (list_gaps.empty() || !output_data.is_object()) return lines;
  for (const auto& gap : output_data.value(list_gaps, Json::array()))
    if (gap.value("reason", "") != kComesLater) lines.push_back(Json{{list_gaps, gap}});
  return lines;
}

bool Operation::asks_person(const Json& input_data) const {
  if (wants_consent) return wants_consent(input_data);
  return effect == Effect::Destructive && !input_data.value("dry_run", false);
}

int Operation::page_size(int most) const {
  const auto* limit = input->find("limit");
  const double largest = limit == nullptr ? most : limit->schema.maximum.value_or(most);
  return static_cast<int>(std::min<double>(largest, most));
}

Status check_scopes(const Operation& operation, const Principal& principal,
                    const std::vector<Scope>& wanted) {
  std::vector<std::string> missing;
  for (const Scope scope : wanted)
    if (!principal.has(scope)) missing.emplace_back(name(scope));
  if (missing.empty()) return {};
  return make_error(Reason::Forbidden,
                    cat("`", operation.name, "` needs the scope ", join(missing, ", "),
                        ", which this caller lacks."),
                    Json{{"required_scopes", missing}});
}

JobRequest job_request(const Operation& operation, Json input, JobOwner owner,
                       const JobsConfig& config) {
  const JobPolicy& policy = operation.job;
  JobRequest request;
  request.kind = operation.name;
  request.operation_version = operation.version;
  request.max_attempts = config.max_attempts;
  request.max_crashes = config.max_crashes;
  request.time_limit = policy.time_limit;
  request.on_duplicate = policy.on_duplicate;
  if (policy.unique_key) request.unique_key = policy.unique_key(input);
  // Who joins a job sees its result, and who changes one has it run with the rights of its owner.
  if (!request.unique_key.empty() && policy.on_duplicate != OnDuplicate::Reject)
    request.unique_key = owner.subject + "\n" + request.unique_key;
  if (policy.reverts) request.reverts = policy.reverts(input);
  request.secrets = take_secrets(operation.input, input);
  request.input = std::move(input);
  request.owner = std::move(owner);
  return request;
}

std::string Operation::stream_prefix() const {
  const bool needs_chat = needs_provider && role != AiRole::Embeddings;
  return needs_chat || name.starts_with("ai_") ? "ai." : "";
}

Registry::Registry(std::vector<Operation> operations)
    : operations_(std::make_shared<const std::vector<Operation>>(std::move(operations))) {}

bool has_role(const AiRoles& roles, AiRole role) {
  switch (role) {
    case AiRole::Chat:
      return roles.chat;
    case AiRole::Embeddings:
      return roles.embeddings;
    case AiRole::Either:
      break;
  }
  return roles.any();
}

std::string_view name(AiRole role) { return role == AiRole::Chat ? "chat" : "embeddings"; }

Error Operation::lacks_role() const {
  const bool wants_chat = role == AiRole::Chat;
  return make_error(Reason::AiUnavailable,
                    wants_chat ? cat("`", name,
                                     "` needs an AI provider and none is configured: set "
                                     "INDX_AI_PROVIDER (`builtin` needs no key).")
                               : cat("`", name,
                                     "` needs a model for embeddings and none is configured: set "
                                     "INDX_EMBEDDINGS_PROVIDER (`builtin` needs no key)."),
                    {{"required_role", indx::name(role)}});
}

const Operation* Registry::find(std::string_view name) const {
  const auto it = std::find_if(all().begin(), all().end(),
                               [&](const Operation& operation) { return operation.name == name; });
  return it == all().end() ? nullptr : &*it;
}

std::vector<const Operation*> Registry::visible_to(const Principal& principal,
                                                   const AiRoles& roles) const {
  std::vector<const Operation*> visible;
  for (const auto& operation : all()) {
    if (!operation.is_listed(roles) || (operation.is_ai && !roles.any())) continue;
    const bool allowed = std::all_of(operation.scopes.begin(), operation.scopes.end(),
                                     [&](Scope scope) { return principal.has(scope); });
    if (allowed) visible.push_back(&operation);
  }
  return visible;
}

}  // namespace indx
