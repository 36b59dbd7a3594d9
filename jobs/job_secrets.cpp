#include "jobs/job_secrets.hpp"

#include "base/json_text.hpp"
#include "base/secret_box.hpp"
#include "jobs/job.hpp"

#include <algorithm>
#include <vector>

namespace indx {
namespace {

constexpr std::size_t kShortestHidden = 4;
constexpr std::string_view kMask = "***";

void collect_texts(const Json& value, std::vector<std::string>& texts) {
  if (value.is_string() && value.get_ref<const std::string&>().size() >= kShortestHidden)
    texts.push_back(value.get<std::string>());
  if (value.is_structured())
    for (const auto& item : value) collect_texts(item, texts);
}

void mask_text(std::string& text, const std::vector<std::string>& hidden) {
  for (const auto& secret : hidden)
    for (auto at = text.find(secret); at != std::string::npos;
         at = text.find(secret, at + kMask.size()))
      text.replace(at, secret.size(), kMask);
}

void mask_json(Json& value, const std::vector<std::string>& hidden) {
  if (value.is_string()) mask_text(value.get_ref<std::string&>(), hidden);
  if (!value.is_object()) {
    if (value.is_array())
      for (auto& item : value) mask_json(item, hidden);
    return;
  }
  Json masked = Json::object();
  for (auto& [key, item] : value.items()) {
    std::string name = key;
    mask_text(name, hidden);
    mask_json(item, hidden);
    masked[name] = std::move(item);
  }
  value = std::move(masked);
}

}  // namespace

Result<std::string> seal_secrets(const std::string& key, const Json& secrets) {
  if (key.empty())
    return make_error(Reason::Unavailable,
                      "Secret arguments cannot be stored here: there is no key for them.");
  return seal(key, json_text(secrets));
}

Result<Json> open_secrets(const std::string& key, std::string_view sealed) {
  const auto text = INDX_TRY(unseal(key, sealed));
  Json secrets = Json::parse(text, nullptr, false);
  if (!secrets.is_object()) return internal_error("The secret arguments of a job are damaged.");
  return secrets;
}

void hide_secrets(JobOutcome& outcome, const Json& secrets) {
  std::vector<std::string> hidden;
  collect_texts(secrets, hidden);
  if (hidden.empty()) return;
  // The longest first: one may hold another.
  std::sort(hidden.begin(), hidden.end(),
            [](const auto& a, const auto& b) { return a.size() > b.size(); });
  if (outcome.result) mask_json(*outcome.result, hidden);
  if (!outcome.error) return;
  mask_text(outcome.error->message, hidden);
  mask_json(outcome.error->details, hidden);
}

}  // namespace indx
