#pragma once
#include "ai/evidence.hpp"
#include "ai/note_text.hpp"
#include "ai/provider.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// One property that is wanted for a note (row C58).
struct MetadataField {
  std::string key;
  std::string type;  ///< string | number | boolean | date | datetime | list | enum
  std::string description;
  bool is_required = false;
  std::vector<std::string> allowed;  ///< enum, and lists of enum
  std::string item_type = "string";  ///< list
  std::optional<double> min, max;    ///< of a number; items of a list
};

/// What was found for a field: `value` is null when nothing was.
struct FieldValue {
  Json value;
  double confidence = 0;  ///< 0..1
  std::string rationale;  ///< `extractive: …` names the rule
  std::vector<Evidence> evidence;
};

/// What may be known of one note.
struct MetadataTask {
  std::string path, title;
  std::string bytes;                 ///< the whole file
  Json properties = Json::object();  ///< of its property block
  std::vector<std::string> links;    ///< names of the notes that it links to
  int open_tasks = 0, done_tasks = 0;
  std::string day;  ///< `YYYY-MM-DD` that the note is about; empty: not known
  std::vector<MetadataField> fields;
  std::string language;  ///< of texts; empty: that of the note
};

/// By key; a field that is missing here counts as null. Warnings: `citation_invalid` for a false
/// quote, with the key.
struct MetadataReply {
  std::map<std::string, FieldValue> values;
  std::vector<Json> warnings;
  std::string source = "model";  ///< model | extractive
};

/// The value as the field's type has it: dates normalised (row C66), enumerations exact (C67),
/// bounds kept. nullopt: it does not fit, and `*why` says what is wrong. Null is no value.
std::optional<Json> checked_value(const MetadataField& field, const Json& raw, std::string* why);

/// The prompt and the reading of its answer. The schema that the model gets holds types and
/// enumerations, no patterns.
GenerateRequest metadata_prompt(const MetadataTask& task, const AiConfig& config, std::int64_t seed,
                                int max_tokens);
Result<MetadataReply> parse_metadata_reply(const MetadataTask& task, const GenerateReply& reply);

/// Texts of a model's `quotes` member as evidence: in the body, the property block or the title.
/// `on_false` is told of each that stands nowhere.
std::vector<Evidence> ground_quotes(const NoteText& note, std::string_view bytes,
                                    std::string_view title, const Json& quotes,
                                    const std::function<void()>& on_false);

}  // namespace indx
