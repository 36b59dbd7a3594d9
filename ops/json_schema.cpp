#define VALIJSON_USE_EXCEPTIONS 1  // else it ends the process on a bad schema
#include "ops/json_schema.hpp"

#include "base/text.hpp"

#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include <exception>

namespace indx {
namespace {

constexpr std::size_t kMaxRecordErrors = 20;

/// `<root>[items][0][name]` as the library counts it → `/items/0/name`.
std::string pointer_of(const std::vector<std::string>& context) {
  std::string path;
  for (std::size_t i = 1; i < context.size(); ++i) {
    std::string_view part = context[i];
    if (part.starts_with('[') && part.ends_with(']')) part = part.substr(1, part.size() - 2);
    if (part.starts_with('"') && part.ends_with('"') && part.size() > 1)
      part = part.substr(1, part.size() - 2);
    path += '/';
    path += part;
  }
  return path.empty() ? "/" : path;
}

}  // namespace

std::vector<std::string> json_schema_errors(const Json& value, const Json& draft7) {
  // The library knows the JSON type with sorted keys only.
  const nlohmann::json document = value, schema_document = draft7;
  try {
    valijson::Schema schema;
    valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
    const valijson::adapters::NlohmannJsonAdapter schema_adapter(schema_document);
    parser.populateSchema(schema_adapter, schema);
    const valijson::adapters::NlohmannJsonAdapter target(document);
    valijson::ValidationResults results;
    valijson::Validator validator;
    std::vector<std::string> errors;
    if (validator.validate(schema, target, &results)) return errors;
    valijson::ValidationResults::Error error;
    while (errors.size() < kMaxRecordErrors && results.popError(error))
      errors.push_back(cat(pointer_of(error.context), ": ", error.description));
    if (errors.empty()) errors.emplace_back("/: does not fit the schema");
    return errors;
  } catch (const std::exception& failure) {
    return {cat("schema: ", failure.what())};
  }
}

}  // namespace indx
