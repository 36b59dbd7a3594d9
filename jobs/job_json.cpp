#include "jobs/job_json.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "store/columns.hpp"

namespace indx {
namespace {

constexpr std::string_view kNoProgress = "{}";
constexpr std::size_t kMaxErrorBytes = 64 * 1024;
constexpr std::size_t kMaxErrorMessageBytes = 8 * 1024;

Result<std::string> utf8_json_text(const Json& value, std::string_view what) {
  try {
    return value.dump();
  } catch (const Json::exception&) {
    return invalid(cat("The ", what, " of the job holds text that is not valid UTF-8."));
  }
}

template <typename T>
T number_or(const Json& object, const char* key, T otherwise) {
  const auto it = object.find(key);
  return it != object.end() && it->is_number() ? it->get<T>() : otherwise;
}

std::optional<std::int64_t> optional_integer(const Json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end() || !it->is_number()) return std::nullopt;
  return it->get<std::int64_t>();
}

std::string text_or_empty(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

}  // namespace

Result<std::string> input_text(const Json& input) { return utf8_json_text(input, "input"); }

// Jobs come in rows of one owner.
Result<std::string> owner_text(const JobOwner& owner) {
  thread_local std::optional<std::pair<JobOwner, std::string>> last;
  if (!last || last->first != owner)
    last.emplace(owner, INDX_TRY(utf8_json_text({{"subject", owner.subject},
                                                 {"surface", owner.surface},
                                                 {"scopes", owner.scopes},
                                                 {"path_globs", owner.path_globs},
                                                 {"request_id", owner.request_id}},
                                                "owner")));
  return last->second;
}

std::string progress_text(const JobProgress& progress) { return json_text(to_json(progress)); }
std::string_view no_progress_text() { return kNoProgress; }

std::optional<std::string> result_text(const std::optional<Json>& result) {
  if (!result) return std::nullopt;
  return json_text(*result);
}

std::optional<std::string> error_text(const std::optional<Error>& error) {
  if (!error) return std::nullopt;
  std::string text = json_text(error->to_json());
  if (text.size() <= kMaxErrorBytes) return text;
  const std::string message(
      prefix_at_grapheme(replace_invalid_utf8(error->message), kMaxErrorMessageBytes));
  return json_text(make_error(error->reason, message).to_json());
}

namespace {

JobOwner parse_any_owner(std::string_view text) {
  const Json json = json_value(text);
  try {
    return {.subject = json.at("subject").get<std::string>(),
            .surface = json.at("surface").get<std::string>(),
            .scopes = json.at("scopes").get<std::vector<std::string>>(),
            .path_globs = json.at("path_globs").get<std::vector<std::string>>(),
            .request_id = json.at("request_id").get<std::string>()};
  } catch (const Json::exception&) {
    return {};
  }
}

}  // namespace

JobOwner parse_owner(std::string_view text) {
  thread_local std::pair<std::string, JobOwner> last;
  if (last.first != text) last = {std::string(text), parse_any_owner(text)};
  return last.second;
}

JobProgress parse_progress(std::string_view text) {
  if (text == kNoProgress) return {};
  const Json json = json_value(text);
  return {.done = number_or<std::int64_t>(json, "done", 0),
          .total = optional_integer(json, "total"),
          .unit = text_or_empty(json, "unit"),
          .phase = text_or_empty(json, "phase"),
          .current = text_or_empty(json, "current"),
          .waits_for = text_or_empty(json, "waits_for"),
          .rate_per_second = number_or<double>(json, "rate_per_second", 0),
          .eta_seconds = optional_integer(json, "eta_seconds"),
          .model_calls = number_or<std::int64_t>(json, "model_calls", 0),
          .cost_usd = number_or<double>(json, "cost_usd", 0)};
}

}  // namespace indx
