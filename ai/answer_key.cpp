#include "ai/answer_key.hpp"

#include "base/hash.hpp"

#include <algorithm>

namespace indx {

Json normalized_input(Json input) {
  if (!input.is_object()) return Json::object();
  for (const auto* name : {"idempotency_key", "cache", "cache_ttl_seconds", "stream", "scope",
                           "apply", "apply_mode", "if_match", "if_match_mode", "dry_run", "write"})
    input.erase(name);
  return input;
}

std::string AnswerKey::hash() const {
  auto sources = content;
  std::sort(sources.begin(), sources.end());
  Json messages = Json::array();
  for (const auto& message : request.messages)
    messages.push_back(Json::array({message.role, message.content}));
  return canonical_hash({{"op", operation},
                         {"provider", provider},
                         {"model", model},
                         {"temperature", request.temperature},
                         {"seed", request.seed},
                         {"max_output_tokens", request.max_output_tokens},
                         {"json_schema", Json::array({request.schema_name, request.json_schema})},
                         {"normalized_input", normalized_input(input)},
                         {"prompt", Json::array({request.system, messages})},
                         {"content_fingerprint", sources}});
}

}  // namespace indx
