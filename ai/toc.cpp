#include "ai/toc.hpp"

#include "ai/extractive/corpus.hpp"
#include "ai/extractive/tokens.hpp"
#include "ai/prompt.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <set>

namespace indx {
namespace {

constexpr std::size_t kMaxTocTitleBytes = 100, kMaxDescriptionBytes = 240;
constexpr std::size_t kMaxPromptTitleBytes = 120, kMaxPromptTextBytes = 300;
constexpr std::int64_t kTokensOfTitle = 30, kTokensOfDescription = 60;  ///< in an answer, as JSON

std::string toc_system(const TocWork& work) {
  std::string text =
      "You word a table of contents. What is in it, and in which order, is settled. Say nothing "
      "that the quoted text does not say. ";
  if (work.with_titles)
    text +=
        "`groups` are titles of two to five words, one for each group, that say what the name and "
        "the notes of the group have in common; keep a name that says it already. ";
  if (work.with_descriptions)
    text +=
        "`items` are descriptions of at most fifteen words, one for each item that has a text: "
        "that text in fewer words, with its names and numbers as they are. ";
  text += work.language.empty()
              ? std::string("Write in the language of the text. ")
              : cat("Write in the language ", json_text(Json(work.language)), ". ");
  return text + data_rule("worded");
}

std::string group_line(const TocWork::Group& group) {
  return json_text({{"group", group.id},
                    {"name", prefix_at_grapheme(replace_invalid_utf8(group.title),
                                                kMaxPromptTitleBytes)}}) +
         "\n";
}
std::string item_line(const TocWork& work, const TocWork::Item& item) {
  Json line{{"item", item.id},
            {"title", prefix_at_grapheme(replace_invalid_utf8(item.title), kMaxPromptTitleBytes)}};
  if (work.with_descriptions && !item.text.empty())
    line["text"] = prefix_at_grapheme(replace_invalid_utf8(item.text), kMaxPromptTextBytes);
  return json_text(line) + "\n";
}

std::string toc_content(const TocWork& work) {
  std::string lines;
  for (const auto& group : work.groups) {
    if (!group.title.empty()) lines += group_line(group);
    for (const auto& item : group.items) lines += item_line(work, item);
  }
  return framed_note(etag_of(lines), lines);
}

Json rows_schema(const char* text_name) {
  const Json text{{"type", "string"}};
  return {{"type", "array"}, {"items", closed_object({{"id", text}, {text_name, text}})}};
}

std::string line_of_reply(const Json& row, const char* name, std::size_t most) {
  std::string line;
  for (const char c : reply_text(row, name, most)) {
    const bool is_blank = static_cast<unsigned char>(c) <= 0x20 || c == 0x7F;
    if (!is_blank)
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  return std::string(trim(line));
}

/// Whether a description can be the item's text in other words.
bool is_said(const std::string& description, const TocWork::Item& item, bool same_language) {
  const auto source = cat(item.title, "\n", item.text);
  const auto known = numbers_in(source);
  for (const auto& number : numbers_in(description))
    if (!known.contains(number)) return false;
  if (!same_language) return true;
  const auto said = content_words(source);
  const std::set<std::string> words(said.begin(), said.end());
  const auto used = content_words(description);
  return std::any_of(used.begin(), used.end(),
                     [&](const std::string& word) { return words.contains(word); });
}

Error no_wording(const char* name) {
  return make_error(Reason::AiProviderError, cat("The model's answer holds no list `", name, "`."),
                    {{"cause", "schema"}});
}

/// Rows of the answer by the id that they name.
Result<std::map<std::string, Json>> rows_by_id(const Json& answer, const char* name) {
  const auto rows = answer.is_object() ? answer.value(name, Json()) : Json();
  if (!rows.is_array()) return no_wording(name);
  std::map<std::string, Json> by_id;
  for (const auto& row : rows) by_id.emplace(reply_text(row, "id", 20), row);
  return by_id;
}

}  // namespace

Result<std::size_t> fit_toc_work(TocWork& work, const AiConfig& config, int max_tokens) {
  std::size_t most = 0;
  for (const auto& group : work.groups) most = std::max(most, group.items.size());
  std::int64_t base = estimate_tokens(toc_system(work)) + frame_tokens(etag_of("")) + 2;
  std::int64_t answer = 0;
  for (const auto& group : work.groups) {
    if (!group.title.empty()) base += estimate_tokens(group_line(group));
    if (work.with_titles) answer += kTokensOfTitle;
  }
  const auto room = config.max_input_tokens - base;
  if (room < 0)
    return make_error(Reason::AiInputTooLarge,
                      "The groups alone do not fit into ai.max_input_tokens; ask for fewer.",
                      Json{{"tokens", base}});
  const auto answer_room =
      request_for(config, "", Json(), 0, max_tokens).max_output_tokens - answer;
  // Tokens of prompt and answer by place in the group: the first items of all groups, the second…
  std::vector<std::pair<std::int64_t, std::int64_t>> rows(most);
  for (const auto& group : work.groups)
    for (std::size_t i = 0; i < group.items.size(); ++i) {
      rows[i].first += estimate_tokens(item_line(work, group.items[i])) + 1;
      if (work.with_descriptions && !group.items[i].text.empty())
        rows[i].second += kTokensOfDescription;
    }
  std::size_t kept = 0;
  std::int64_t prompt_tokens = 0, answer_tokens = 0;
  for (; kept < most; ++kept) {
    prompt_tokens += rows[kept].first;
    answer_tokens += rows[kept].second;
    if (prompt_tokens > room || answer_tokens > std::max<std::int64_t>(answer_room, 0)) break;
  }
  std::size_t left_out = 0;
  for (auto& group : work.groups)
    if (group.items.size() > kept) {
      left_out += group.items.size() - kept;
      group.items.resize(kept);
    }
  return left_out;
}

GenerateRequest toc_prompt(const TocWork& work, const AiConfig& config, std::int64_t seed,
                           int max_tokens) {
  Json properties = Json::object();
  if (work.with_titles) properties["groups"] = rows_schema("title");
  if (work.with_descriptions) properties["items"] = rows_schema("description");
  auto request = request_for(config, "toc", closed_object(std::move(properties)), seed, max_tokens);
  request.system = toc_system(work);
  request.messages = {{"user", toc_content(work)}};
  return request;
}

Result<TocWording> parse_toc_reply(const TocWork& work, const GenerateReply& reply) {
  TocWording wording;
  if (work.with_titles) {
    const auto rows = INDX_TRY(rows_by_id(reply.structured, "groups"));
    std::set<std::string> used;
    for (const auto& group : work.groups) {
      const auto row = rows.find(group.id);
      if (row == rows.end()) continue;
      auto title = line_of_reply(row->second, "title", kMaxTocTitleBytes);
      if (!title.empty() && used.insert(fold_case(title)).second)
        wording.titles.emplace(group.id, std::move(title));
    }
  }
  if (!work.with_descriptions) return wording;
  const auto rows = INDX_TRY(rows_by_id(reply.structured, "items"));
  for (const auto& group : work.groups)
    for (const auto& item : group.items) {
      const auto row = rows.find(item.id);
      if (row == rows.end() || item.text.empty()) continue;
      auto text = line_of_reply(row->second, "description", kMaxDescriptionBytes);
      if (text.empty()) continue;
      if (is_said(text, item, work.language.empty()))
        wording.descriptions.emplace(item.id, std::move(text));
      else
        wording.warnings.push_back(
            Json{{"code", "ungrounded_dropped"},
                 {"key", prefix_at_grapheme(replace_invalid_utf8(item.title), 100)},
                 {"reason", "The description says what the quoted text does not."}});
    }
  return wording;
}

}  // namespace indx
