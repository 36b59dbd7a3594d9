#include "ai/extraction.hpp"

#include "ai/prompt.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr std::size_t kMaxPointerBytes = 200;
constexpr std::size_t kMaxReplyCitations = 500;

std::string extraction_system(const ExtractionTask& task) {
  auto text = std::string(
      "You extract one record from a note, in the form of the schema of `data`. Take only what the "
      "note says; leave out or set to null what it does not say; never guess. When it holds "
      "nothing "
      "of the kind, `data` is null. Give a confidence from 0 to 1, and in `citations` for each "
      "value its place in `data` as a JSON pointer (`/owner`, `/items/0/due`) with a short quote "
      "copied verbatim from the note that supports it. ");
  if (!task.note.language.empty())
    text += cat("Write texts in the language ", json_text(Json(task.note.language)), ". ");
  return text + data_rule("read");
}

}  // namespace

GenerateRequest extraction_prompt(const ExtractionTask& task, const AiConfig& config,
                                  std::int64_t seed, int max_tokens) {
  Json citation = closed_object({{"field", {{"type", "string"}}}, {"quote", {{"type", "string"}}}});
  const Json none{{"type", "null"}};
  Json schema = closed_object({{"data", {{"anyOf", Json::array({task.schema, none})}}},
                               {"confidence", {{"type", "number"}}},
                               {"citations", {{"type", "array"}, {"items", std::move(citation)}}}});
  GenerateRequest request = request_for(config, "record", std::move(schema), seed, max_tokens);
  request.system = extraction_system(task);

  const NoteText note(task.note.bytes);
  const auto id = etag_of(task.note.bytes);
  auto head = cat(
      "Title: ", json_text(Json(prefix_at_grapheme(replace_invalid_utf8(task.note.title), 300))),
      "\n");
  if (!task.note.properties.empty())
    head += cat("Properties now: ",
                fit_tokens(json_text(task.note.properties), config.max_input_tokens / 4), "\n");
  const auto body = replace_invalid_utf8(note.body());
  const auto left = config.max_input_tokens - estimate_tokens(request.system) -
                    estimate_tokens(head) - frame_tokens(id);
  const auto text = fit_tokens(body, std::max<std::int64_t>(0, left));
  request.messages = {{"user", cat(head, framed_note(id, text))}};
  return request;
}

Result<Extraction> parse_extraction_reply(const ExtractionTask& task, const GenerateReply& reply) {
  const Json& answer = reply.structured;
  if (!answer.is_object() || !answer.contains("data"))
    return make_error(Reason::AiProviderError, "The model's answer holds no record.",
                      {{"cause", "schema"}});
  Extraction result;
  result.data = answer["data"];
  result.confidence = reply_confidence(answer);
  const auto citations = answer.value("citations", Json::array());
  if (!citations.is_array()) return result;
  const NoteText note(task.note.bytes);
  std::size_t read = 0;
  for (const auto& citation : citations) {
    if (++read > kMaxReplyCitations) break;
    if (!citation.is_object()) continue;
    const auto field = reply_text(citation, "field", kMaxPointerBytes);
    const Json quotes = Json::array({citation.value("quote", Json())});
    for (auto& evidence : ground_quotes(note, task.note.bytes, task.note.title, quotes, [&] {
           result.warnings.push_back({{"code", "citation_invalid"},
                                      {"path", task.note.path},
                                      {"key", field},
                                      {"reason", "A quote does not stand in the note."}});
         }))
      result.evidence.push_back({field, std::move(evidence)});
  }
  return result;
}

}  // namespace indx
