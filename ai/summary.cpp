#include "ai/summary.hpp"

#include "ai/prompt.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"

namespace indx {
namespace {

constexpr std::size_t kMaxSummaryBytes = 64U << 10U;
constexpr std::size_t kMaxPointBytes = 1000;
constexpr std::size_t kMaxPoints = 100;
constexpr std::size_t kMaxSupports = 10;

std::string style_rule(const std::string& style) {
  if (style == "bullets") return "`text` is a Markdown list, one thought an item. ";
  if (style == "executive")
    return "`text` begins with the conclusion, then what it means and what has to be decided, in "
           "short paragraphs without detail. ";
  if (style == "technical")
    return "`text` keeps names, numbers, versions and constraints exact, in Markdown with headings "
           "where they help. ";
  return "`text` is plain prose in Markdown without judgement. ";
}

std::string common_rules(const SummaryOptions& options) {
  auto text = cat("`text` has about ", target_tokens(options.length), " tokens. ",
                  style_rule(options.style));
  if (options.with_tldr) text += "`tldr` is one or two sentences. ";
  if (options.with_questions)
    text += "`open_questions` are those that the notes leave open; none is fine. ";
  if (!options.audience.empty())
    text += cat("Write for this audience: ", json_text(Json(options.audience)), ". ");
  if (options.language.empty())
    text += "Write in the language that most of the notes are in. ";
  else
    text += cat("Write in the language ", json_text(Json(options.language)), ". ");
  return text;
}

std::string summary_system(const SummaryOptions& options) {
  return cat(
      "You summarize notes, from their text alone. Say nothing that they do not say. "
      "`key_points` are the claims that matter, each with one to three citations: the path of the "
      "note as it is given and a snippet of five to thirty words copied verbatim from it. A point "
      "without a true citation is thrown away. ",
      common_rules(options), data_rule("summarized"));
}

std::string reduce_system(const SummaryOptions& options) {
  return cat(
      "You join partial summaries of notes into one, from them alone. Say nothing that they do not "
      "say. `key_points` are the claims that matter over all parts, each with the names of one to "
      "three citations that support it, as they stand in brackets (`c3`). A point without a name "
      "that was given is thrown away. ",
      common_rules(options), data_rule("summarized"));
}

Json texts_schema() { return {{"type", "array"}, {"items", {{"type", "string"}}}}; }

Json summary_schema(const SummaryOptions& options, Json support) {
  const Json text{{"type", "string"}};
  Json point = closed_object({{"text", text}, {"citations", std::move(support)}});
  Json properties = Json::object();
  if (options.with_tldr) properties["tldr"] = text;
  properties["text"] = text;
  if (options.with_key_points)
    properties["key_points"] = {{"type", "array"}, {"items", std::move(point)}};
  if (options.with_questions) properties["open_questions"] = texts_schema();
  return closed_object(std::move(properties));
}

std::string source_head(const SummarySource& source) {
  const Json head{{"path", source.path},
                  {"title", prefix_at_grapheme(replace_invalid_utf8(source.title), 300)}};
  return cat("Note: ", json_text(head), "\n");
}

void read_points(const Json& points, SummaryReply& reply) {
  if (!points.is_array()) return;
  for (const auto& one : points) {
    ClaimedPoint point;
    point.text = std::string(trim(reply_text(one, "text", kMaxPointBytes)));
    if (point.text.empty() || reply.points.size() == kMaxPoints) continue;
    const auto support = one.value("citations", Json::array());
    if (support.is_array())
      for (const auto& item : support)
        if (point.support.size() < kMaxSupports) point.support.push_back(item);
    reply.points.push_back(std::move(point));
  }
}

}  // namespace

std::int64_t target_tokens(const std::string& length) {
  if (length == "short") return 50;
  return length == "long" ? 600 : 200;
}

GenerateRequest summary_prompt(const std::vector<SummarySource>& sources,
                               const SummaryOptions& options, const AiConfig& config,
                               std::int64_t seed, int max_tokens) {
  const Json text{{"type", "string"}};
  Json citation = closed_object({{"path", text}, {"snippet", text}});
  Json citations{{"type", "array"}, {"items", std::move(citation)}};
  GenerateRequest request = request_for(
      config, "summary", summary_schema(options, std::move(citations)), seed, max_tokens);
  request.prose_member = "text";
  request.system = summary_system(options);
  std::string content;
  for (const auto& source : sources)
    content +=
        source_head(source) + framed_note(source.id, replace_invalid_utf8(source.text)) + "\n";
  request.messages = {{"user", std::move(content)}};
  return request;
}

std::int64_t summary_overhead(const SummaryOptions& options) {
  return estimate_tokens(summary_system(options));
}
std::int64_t source_overhead(const SummarySource& source) {
  return estimate_tokens(source_head(source)) + frame_tokens(source.id) + 2;
}

std::string partial_text(const PartialSummary& partial) {
  std::string text = partial.text + "\n";
  for (const auto& point : partial.points) {
    text += "- " + point.text;
    for (std::size_t i = 0; i < point.names.size(); ++i)
      text += cat(" [", point.names[i], "] ", json_text(Json(point.snippets[i])));
    text += "\n";
  }
  for (const auto& question : partial.questions) text += "? " + question + "\n";
  return text;
}

GenerateRequest reduce_prompt(const std::vector<PartialSummary>& partials,
                              const SummaryOptions& options, const AiConfig& config,
                              std::int64_t seed, int max_tokens) {
  GenerateRequest request =
      request_for(config, "summary", summary_schema(options, texts_schema()), seed, max_tokens);
  request.prose_member = "text";
  request.system = reduce_system(options);
  std::string content;
  for (const auto& partial : partials) {
    const auto text = partial_text(partial);
    content += framed_note(etag_of(text), text) + "\n";
  }
  request.messages = {{"user", std::move(content)}};
  return request;
}

std::int64_t reduce_overhead(const SummaryOptions& options) {
  return estimate_tokens(reduce_system(options));
}

Result<SummaryReply> parse_summary_reply(const GenerateReply& reply) {
  const Json& answer = reply.structured;
  SummaryReply result;
  result.text = std::string(trim(reply_text(answer, "text", kMaxSummaryBytes)));
  if (result.text.empty())
    return make_error(Reason::AiProviderError, "The model's answer holds no summary.",
                      {{"cause", "schema"}});
  result.tldr = std::string(trim(reply_text(answer, "tldr", kMaxPointBytes)));
  read_points(answer.value("key_points", Json()), result);
  const auto questions = answer.value("open_questions", Json::array());
  if (questions.is_array())
    for (const auto& one : questions)
      if (one.is_string() && result.questions.size() < kMaxPoints)
        result.questions.push_back(reply_text(Json{{"text", one}}, "text", kMaxPointBytes));
  return result;
}

}  // namespace indx
