#include "ops/job_record.hpp"

#include "base/text.hpp"

namespace indx {

bool is_final_record(const Json& record) {
  const auto it = record.find("finished_at");
  return it != record.end() && !it->is_null();
}

Result<Json> outcome_of(const Json& record) {
  const std::string state = record.value("state", record.value("status", ""));
  const std::string id = record.value("id", "");
  const auto result = record.find("result");
  const auto stored = record.find("error");
  const bool has_error = stored != record.end() && stored->is_object();
  if (state == "succeeded" && !(has_error && (result == record.end() || result->is_null())))
    return result == record.end() || result->is_null() ? Json::object() : *result;
  if (state == "cancelled") {
    Json details{{"job_id", id}};
    if (result != record.end() && result->is_object())
      details["partial"] = result->value("partial", *result);  // some operations name it so
    return make_error(Reason::Cancelled,
                      cat("The job ", id, " was cancelled; what it wrote before stays."), details);
  }
  Error error =
      has_error ? error_from_json(*stored) : internal_error("The job failed without saying why.");
  error.details["job_id"] = id;
  return error;
}

}  // namespace indx
