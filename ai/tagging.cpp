#include "ai/tagging.hpp"

#include "ai/note_text.hpp"
#include "ai/prompt.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <unordered_set>

namespace indx {
namespace {

constexpr std::size_t kMaxTagBytes = 120;
constexpr std::size_t kMaxPromptVocabulary = 500;
constexpr std::size_t kMaxPromptQuotes = 3;
constexpr std::size_t kMaxReplyTags = 200;  ///< four times the most that can be asked for

/// Vault-rules 4.2: letters, digits and marks of any script, `_ - /`, and other Unicode but white
/// space and punctuation blocks.
bool is_tag_char(char32_t c) {
  if (c < 0x80) return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '/';
  if (c == 0xFFFD || is_space(c) || (c >= 0x80 && c < 0xA0)) return false;
  return !(c >= 0x2000 && c <= 0x206F) && !(c >= 0x2E00 && c <= 0x2E7F);
}

/// Letter case apart, the same tag; without folding where both are ASCII.
bool same_tag(std::string_view a, std::string_view b) {
  const auto is_ascii = [](std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  };
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  };
  if (is_ascii(a) && is_ascii(b))
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                              [&](char x, char y) { return lower(x) == lower(y); });
  return fold_case(a) == fold_case(b);
}

const VocabularyTag* find_in_vocabulary(std::string_view tag,
                                        const std::vector<VocabularyTag>& vocabulary) {
  const VocabularyTag* best = nullptr;
  for (const auto& entry : vocabulary)
    if (same_tag(entry.tag, tag) && (best == nullptr || entry.count > best->count)) best = &entry;
  return best;
}

bool contains_tag(const std::vector<std::string>& tags, std::string_view tag) {
  return std::any_of(tags.begin(), tags.end(), [&](const std::string& one) {
    return same_tag(one.starts_with('#') ? std::string_view(one).substr(1) : std::string_view(one),
                    tag);
  });
}

bool is_on_note(const TagTask& task, const std::string& tag) {
  if (contains_tag(task.current_tags, tag)) return true;
  const auto parent = fold_case(tag) + "/";  // `tag:a` finds `a/b` already
  return std::any_of(task.current_tags.begin(), task.current_tags.end(),
                     [&](const std::string& one) { return fold_case(one).starts_with(parent); });
}

Json warning(const TagTask& task, const char* code, const std::string& tag,
             const std::string& reason) {
  return {{"code", code},
          {"path", task.path},
          {"key", std::string(prefix_at_grapheme(replace_invalid_utf8(tag), 100))},
          {"reason", reason}};
}

/// The suggestion under its final name, or why it cannot be one.
std::string resolve(const TagTask& task, TagSuggestion& suggestion) {
  const auto& options = task.options;
  auto tag = normalize_tag(suggestion.tag, task.vocabulary);
  if (tag.empty()) return "It is not a valid tag.";
  const bool is_candidate = contains_tag(options.candidates, tag);
  if (!options.candidates.empty() && !is_candidate) return "It is not one of the candidates.";
  const auto prefix = options.namespace_prefix.empty()
                          ? std::string()
                          : normalize_tag(options.namespace_prefix, task.vocabulary);
  if (!prefix.empty() && !is_candidate && find_in_vocabulary(tag, task.vocabulary) == nullptr &&
      !fold_case(tag).starts_with(fold_case(prefix) + "/"))
    tag = normalize_tag(cat(prefix, '/', tag), task.vocabulary);
  suggestion.tag = tag;
  suggestion.is_new = find_in_vocabulary(tag, task.vocabulary) == nullptr;
  if (tag.empty()) return "It is not a valid tag.";
  if (contains_tag(options.forbid, tag)) return "It is forbidden.";
  if (suggestion.is_new && !options.allow_new) return "New tags are not allowed.";
  return {};
}

Json tag_schema(const TagOptions& options) {
  Json tag{{"type", "string"}};
  if (!options.candidates.empty()) tag["enum"] = options.candidates;
  Json item = closed_object({{"tag", std::move(tag)},
                             {"confidence", {{"type", "number"}}},
                             {"rationale", {{"type", "string"}}},
                             {"quotes", {{"type", "array"}, {"items", {{"type", "string"}}}}}});
  return closed_object({{"tags", {{"type", "array"}, {"items", std::move(item)}}}});
}

std::string system_prompt(const TagOptions& options) {
  auto text = cat("You tag notes. Suggest at most ", options.max_per_note,
                  " tags that name what the note is about, best first, each with a confidence from "
                  "0 to 1, one sentence why, and one to ",
                  kMaxPromptQuotes,
                  " short quotes copied verbatim from the note that support it. Do not suggest a "
                  "tag without a quote. ");
  if (!options.candidates.empty())
    text += "Use only the tags of the candidates list. ";
  else if (options.use_existing)
    text += "Prefer the vault's existing tags, spelled as listed. ";
  if (!options.allow_new)
    text += "Never make up a tag that is not listed. ";
  else
    text += "A new tag is short and lower-case, with hyphens between words. ";
  if (!options.language.empty())
    text += cat("Write rationales and new tags in the language ", options.language, ". ");
  text += data_rule("tagged");
  return text;
}

/// As many tags as `max_tokens` allow, most used first.
Json vocabulary_list(std::vector<VocabularyTag> vocabulary, std::int64_t max_tokens) {
  std::sort(vocabulary.begin(), vocabulary.end(),
            [](const VocabularyTag& a, const VocabularyTag& b) {
              return a.count != b.count ? a.count > b.count : a.tag < b.tag;
            });
  Json list = Json::array();
  for (const auto& entry : vocabulary) {
    max_tokens -= estimate_tokens(entry.tag) + 2;
    if (max_tokens < 0 || list.size() == kMaxPromptVocabulary) break;
    list.push_back(entry.tag);
  }
  return list;
}

std::vector<TagEvidence> ground(const TagTask& task, const NoteText& note, const TagSuggestion& tag,
                                const Json& quotes, std::vector<Json>& warnings) {
  std::vector<TagEvidence> found;
  std::size_t looked_at = 0;
  for (const auto& quote : quotes) {
    if (!quote.is_string()) continue;
    if (++looked_at > kMaxReplyQuotes) break;
    const auto& text = quote.get_ref<const std::string&>();
    if (auto evidence = note.find_quote(text))
      found.push_back(std::move(*evidence));
    else if (const auto in_title = std::string(trim(text));
             in_title.size() > 1 && has_word(in_title) &&
             task.title.find(in_title) != std::string::npos)
      found.push_back({in_title, 0, "", 0, 0});
    else
      warnings.push_back(
          warning(task, "citation_invalid", tag.tag, "A quote does not stand in the note."));
  }
  return found;
}

}  // namespace

std::string normalize_tag(std::string_view raw, const std::vector<VocabularyTag>& vocabulary) {
  std::string tag;
  bool gap = false, has_non_digit = false;
  const auto clean = to_nfc(raw);
  std::string_view rest = trim(clean);
  while (rest.starts_with('#')) rest.remove_prefix(1);
  for (std::size_t at = 0; at < rest.size();) {
    const auto point = decode_at(rest, at);
    at += point.length;
    if (is_space(point.value)) {
      gap = !tag.empty();
      continue;
    }
    if (!is_tag_char(point.value)) return {};
    if (gap) tag += '-';
    gap = false;
    append_utf8(tag, point.value);
    has_non_digit = has_non_digit || !is_digit(point.value);
  }
  while (tag.ends_with('/')) tag.pop_back();
  while (tag.starts_with('/')) tag.erase(0, 1);
  if (tag.empty() || !has_non_digit || tag.size() > kMaxTagBytes || tag.find("//") != tag.npos)
    return {};
  if (std::all_of(tag.begin(), tag.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return {};  // only slashes made it a tag
  if (const auto* known = find_in_vocabulary(tag, vocabulary)) return known->tag;
  return to_lower(tag);
}

TagReply select_tags(const TagTask& task, std::vector<TagSuggestion> suggestions,
                     std::vector<Json> warnings) {
  TagReply reply;
  reply.warnings = std::move(warnings);
  for (auto& suggestion : suggestions) {
    const auto raw = suggestion.tag;
    if (const auto problem = resolve(task, suggestion); !problem.empty()) {
      reply.warnings.push_back(warning(task, "tag_invalid", raw, problem));
      continue;
    }
    if (is_on_note(task, suggestion.tag)) continue;
    suggestion.confidence =
        suggestion.confidence > 0 ? std::min(1.0, suggestion.confidence) : 0;  // NaN too
    if (suggestion.confidence < task.options.min_confidence)
      reply.warnings.push_back(warning(task, "tag_below_threshold", suggestion.tag,
                                       cat("Its confidence is ", suggestion.confidence, ".")));
    else
      reply.tags.push_back(std::move(suggestion));
  }
  std::stable_sort(
      reply.tags.begin(), reply.tags.end(), [](const TagSuggestion& a, const TagSuggestion& b) {
        return a.confidence != b.confidence ? a.confidence > b.confidence : a.tag < b.tag;
      });
  std::unordered_set<std::string> seen;
  std::erase_if(reply.tags,
                [&](const TagSuggestion& tag) { return !seen.insert(fold_case(tag.tag)).second; });
  const auto most = static_cast<std::size_t>(std::max(0, task.options.max_per_note));
  if (reply.tags.size() > most)
    reply.tags.erase(reply.tags.begin() + static_cast<std::ptrdiff_t>(most), reply.tags.end());
  return reply;
}

GenerateRequest tagging_prompt(const TagTask& task, const AiConfig& config, std::int64_t seed,
                               int max_tokens) {
  const NoteText note(task.bytes);
  GenerateRequest request = request_for(config, "tags", tag_schema(task.options), seed, max_tokens);
  request.system = system_prompt(task.options);

  const auto id = etag_of(task.bytes);
  const std::int64_t limit = config.max_input_tokens;
  auto head = cat(
      "Title: ", json_text(Json(prefix_at_grapheme(replace_invalid_utf8(task.title), 300))), "\n");
  if (!task.options.candidates.empty())
    head += cat("Candidates: ", json_text(Json(task.options.candidates)), "\n");
  else if (task.options.use_existing)
    head += cat("Existing tags: ", json_text(vocabulary_list(task.vocabulary, limit / 4)), "\n");
  if (!task.current_tags.empty())
    head +=
        cat("Tags already on the note (do not repeat): ", json_text(Json(task.current_tags)), "\n");
  if (!task.options.forbid.empty())
    head += cat("Forbidden tags: ", json_text(Json(task.options.forbid)), "\n");
  const auto body = replace_invalid_utf8(note.body());
  const auto left =
      limit - estimate_tokens(request.system) - estimate_tokens(head) - frame_tokens(id);
  const auto text = fit_tokens(body, std::max<std::int64_t>(0, left));
  request.messages = {{"user", cat(head, framed_note(id, text))}};
  return request;
}

Result<TagReply> parse_tagging_reply(const TagTask& task, const GenerateReply& reply) {
  const auto tags = reply.structured.is_object() ? reply.structured.value("tags", Json()) : Json();
  if (!tags.is_array())
    return make_error(Reason::AiProviderError, "The model's answer holds no list of tags.",
                      {{"cause", "schema"}});
  const NoteText note(task.bytes);
  std::vector<TagSuggestion> suggestions;
  std::vector<Json> warnings;
  std::size_t read = 0;
  for (const auto& item : tags) {
    if (++read > kMaxReplyTags) break;
    if (!item.is_object() || !item.value("tag", Json()).is_string()) {
      warnings.push_back(warning(task, "tag_invalid", "", "It is not an object with a tag."));
      continue;
    }
    TagSuggestion suggestion;
    suggestion.tag = item["tag"].get<std::string>();
    if (const auto confidence = item.value("confidence", Json()); confidence.is_number())
      suggestion.confidence = confidence.get<double>();
    if (const auto rationale = item.value("rationale", Json()); rationale.is_string())
      suggestion.rationale =
          std::string(prefix_at_grapheme(replace_invalid_utf8(rationale.get<std::string>()), 500));
    suggestion.evidence =
        ground(task, note, suggestion, item.value("quotes", Json::array()), warnings);
    if (suggestion.evidence.empty())
      warnings.push_back(
          warning(task, "ungrounded_dropped", suggestion.tag, "No quote of the note supports it."));
    else
      suggestions.push_back(std::move(suggestion));
  }
  return select_tags(task, std::move(suggestions), std::move(warnings));
}

}  // namespace indx
