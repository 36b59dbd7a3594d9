#include "ai/relation.hpp"

#include "ai/prompt.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace indx {
namespace {

constexpr std::int64_t kMostSourceTokens = 2000, kMostCandidateTokens = 700;
constexpr std::int64_t kLeastNoteTokens = 32;
constexpr std::size_t kMostRationaleBytes = 500, kMostSupports = 4;
constexpr std::string_view kNoRelation = "none";

struct LabelMeaning {
  const char* name;
  const char* meaning;
};
constexpr std::array kLabelMeanings = {
    LabelMeaning{"extends", "the source takes up what the candidate says and goes further"},
    LabelMeaning{"summarizes", "the source says in short what the candidate says at length"},
    LabelMeaning{"cites", "the source refers to the candidate"},
    LabelMeaning{"contradicts", "the source says the opposite of what the candidate says"},
    LabelMeaning{"same_topic", "both are about the same"},
    LabelMeaning{"precedes", "the source comes before the candidate in time or in a series"},
    LabelMeaning{"depends_on", "the source needs what the candidate is about"},
    LabelMeaning{"duplicates", "the source says the same as the candidate, with little more"}};

/// What a note is called in the prompt and in the answer; 0 is the source.
std::string note_name(std::size_t number) {
  return number == 0 ? std::string("source") : cat("n", number);
}

std::string relation_system(const RelationQuestion& question) {
  std::string text =
      "You say how a note, the source, stands to each of its candidates, from their text alone. "
      "Relations: ";
  for (const auto& [name, meaning] : kLabelMeanings)
    if (std::find(question.labels.begin(), question.labels.end(), name) != question.labels.end())
      text += cat(name, " (", meaning, "); ");
  text += cat(
      "none (nothing of these). Give one entry a candidate, under its name (`n1`), with a "
      "confidence from 0 to 1, a rationale of one or two sentences, and one to three citations: "
      "the name of the note (`source`, `n1`) and a snippet of five to thirty words copied verbatim "
      "from it. A relation without a true citation is thrown away. ");
  if (question.language.empty())
    text += "Write rationales in the language of the source. ";
  else
    text += cat("Write rationales in the language ", json_text(Json(question.language)), ". ");
  return text + data_rule("compared");
}

Json relation_schema(const RelationQuestion& question) {
  std::vector<std::string> names, labels = question.labels;
  for (std::size_t i = 1; i <= question.candidates.size(); ++i) names.push_back(note_name(i));
  labels.emplace_back(kNoRelation);
  const Json text{{"type", "string"}};
  Json item = closed_object(
      {{"note", {{"type", "string"}, {"enum", names}}},
       {"relation", {{"type", "string"}, {"enum", labels}}},
       {"confidence", {{"type", "number"}}},
       {"rationale", text},
       {"citations",
        {{"type", "array"}, {"items", closed_object({{"note", text}, {"snippet", text}})}}}});
  return closed_object({{"relations", {{"type", "array"}, {"items", std::move(item)}}}});
}

std::string note_head(const RelationNote& note, std::size_t number) {
  const Json head{{"name", note_name(number)},
                  {"path", note.path},
                  {"title", prefix_at_grapheme(replace_invalid_utf8(note.title), 300)}};
  return cat("Note: ", json_text(head), "\n");
}

/// Where one sentence ends and another begins; the end of the text else.
std::size_t end_of_sentence(std::string_view text, std::size_t from) {
  for (auto at = text.find_first_of(".!?", from); at != text.npos;
       at = text.find_first_of(".!?", at + 1))
    if (at + 1 == text.size() || text[at + 1] == ' ' || text[at + 1] == '\n') return at + 1;
  return text.size();
}

std::string two_sentences(std::string_view text) {
  text = trim(text);
  return std::string(trim(text.substr(0, end_of_sentence(text, end_of_sentence(text, 0)))));
}

/// The path of a note that the answer names, by its name in the prompt or by its path.
std::string named_path(const RelationQuestion& question, const std::string& name) {
  for (std::size_t i = 0; i <= question.candidates.size(); ++i) {
    const auto& note = i == 0 ? question.source : question.candidates[i - 1];
    if (name == note_name(i) || name == note.path) return note.path;
  }
  return {};
}

std::vector<Json> support_of(const RelationQuestion& question, const Json& citations) {
  std::vector<Json> support;
  if (!citations.is_array()) return support;
  for (const auto& citation : citations) {
    if (support.size() == kMostSupports) break;
    const auto name = reply_text(citation, "note", 4096);
    const auto path = named_path(question, name);
    support.push_back(Json{{"path", path.empty() ? name : path},
                           {"snippet", reply_text(citation, "snippet", 4096)}});
  }
  return support;
}

}  // namespace

const std::vector<std::string>& relation_labels() {
  static const std::vector<std::string> labels = [] {
    std::vector<std::string> names;
    for (const auto& label : kLabelMeanings) names.emplace_back(label.name);
    return names;
  }();
  return labels;
}

Result<GenerateRequest> relation_prompt(const RelationQuestion& question, const AiConfig& config,
                                        std::int64_t seed, int max_tokens) {
  GenerateRequest request =
      request_for(config, "relations", relation_schema(question), seed, max_tokens);
  request.system = relation_system(question);
  const auto count = static_cast<std::int64_t>(question.candidates.size());
  auto room = config.max_input_tokens - estimate_tokens(request.system);
  const auto take_head = [&](const RelationNote& note, std::size_t number) {
    room -= estimate_tokens(note_head(note, number)) + frame_tokens(note.id) + 2;
  };
  take_head(question.source, 0);
  for (std::size_t i = 0; i < question.candidates.size(); ++i)
    take_head(question.candidates[i], i + 1);
  if (room < kLeastNoteTokens * (count + 1))
    return make_error(
        Reason::AiInputTooLarge,
        cat("`", question.source.path, "` with ", count,
            " candidates does not fit into ai.max_input_tokens; ask for a smaller "
            "top_k."),
        {{"tokens", config.max_input_tokens - room + kLeastNoteTokens * (count + 1)}});
  // The source may be as long as three candidates.
  const auto share = room / (count + 3);
  const auto framed = [](const RelationNote& note, std::size_t number, std::int64_t most) {
    const auto text = replace_invalid_utf8(note.text);
    return note_head(note, number) + framed_note(note.id, fit_tokens(text, most)) + "\n";
  };
  auto content = framed(question.source, 0,
                        std::min(kMostSourceTokens, std::max(kLeastNoteTokens, 3 * share)));
  for (std::size_t i = 0; i < question.candidates.size(); ++i)
    content += framed(question.candidates[i], i + 1, std::min(kMostCandidateTokens, share));
  request.messages = {{"user", std::move(content)}};
  return request;
}

Result<std::vector<ClaimedRelation>> parse_relation_reply(const RelationQuestion& question,
                                                          const GenerateReply& reply) {
  const auto rows =
      reply.structured.is_object() ? reply.structured.value("relations", Json()) : Json();
  if (!rows.is_array())
    return make_error(Reason::AiProviderError, "The model's answer holds no list of relations.",
                      {{"cause", "schema"}});
  std::vector<ClaimedRelation> claims;
  std::set<std::string> seen;
  for (const auto& row : rows) {
    ClaimedRelation claim;
    claim.path = named_path(question, reply_text(row, "note", 4096));
    claim.relation = reply_text(row, "relation", 64);
    const bool is_asked = std::find(question.labels.begin(), question.labels.end(),
                                    claim.relation) != question.labels.end();
    if (claim.path.empty() || claim.path == question.source.path || !is_asked ||
        !seen.insert(claim.path).second)
      continue;
    claim.confidence = reply_confidence(row);
    claim.rationale = two_sentences(reply_text(row, "rationale", kMostRationaleBytes));
    claim.support = support_of(question, row.value("citations", Json()));
    claims.push_back(std::move(claim));
  }
  return claims;
}

}  // namespace indx
