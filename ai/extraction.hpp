#pragma once
#include "ai/metadata.hpp"

#include <string>
#include <vector>

namespace indx {

/// A record that a note is searched for.
struct ExtractionTask {
  MetadataTask note;  ///< its `fields` are not used
  Json schema;        ///< of the record, without references and patterns
};

/// A place in the record, as a JSON pointer, with the text that supports it.
struct FieldEvidence {
  std::string field;
  Evidence evidence;
};
struct Extraction {
  Json data;  ///< not checked yet; null: the note holds no such record
  double confidence = 0;
  std::vector<FieldEvidence> evidence;
  std::vector<Json> warnings;  ///< `citation_invalid` for each false quote, with the field as key
};

/// The prompt and the reading of its answer.
GenerateRequest extraction_prompt(const ExtractionTask& task, const AiConfig& config,
                                  std::int64_t seed, int max_tokens);
Result<Extraction> parse_extraction_reply(const ExtractionTask& task, const GenerateReply& reply);

}  // namespace indx
