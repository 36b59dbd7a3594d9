#include "mcp/prompts.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "mcp/prompt_text.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

namespace indx {
namespace {

using std::chrono::days;
using std::chrono::sys_days;
using Tools = std::vector<std::string>;
using Outputs = std::vector<Json>;

constexpr int kMaxLimit = 100, kRecentRows = 10, kTopTags = 20, kBrokenTargets = 50,
              kWeekRows = 200;
constexpr std::size_t kSourcesOfTarget = 3, kMaxNoteBytes = 8U << 10U;
constexpr days kWeek{7};

std::string day_text(sys_days day) { return format_time(Timestamp(day)).substr(0, 10); }

std::optional<sys_days> parse_day(std::string_view text) {
  const bool is_in_reach = text.size() == 10 && text >= "1970" && text < "3000";
  const auto time =
      is_in_reach ? parse_time(cat(text, "T00:00:00.000Z")) : std::optional<Timestamp>();
  return time ? std::optional(std::chrono::floor<days>(*time)) : std::nullopt;
}

bool can_use(const Tools& tools, std::string_view name) {
  return std::find(tools.begin(), tools.end(), name) != tools.end();
}

/// What an output lists; an empty list when it has none.
Json list_of(const Json& output, const char* name) {
  return output.is_object() ? output.value(name, Json::array()) : Json::array();
}

std::string rows_found(const Json& output, const char* list) {
  const std::size_t count = list_of(output, list).size();
  const bool has_more = output.value("next_cursor", Json()).is_string();
  return cat(has_more ? "more than " : "", count);
}

/// For outputs of an index that is not complete yet.
std::string index_remark(const Outputs& outputs) {
  const bool is_partial = std::any_of(outputs.begin(), outputs.end(), [](const Json& output) {
    return output.is_object() && output.value("indexing", Json()) == Json(true);
  });
  return is_partial ? "The index is still being filled, so lists may lack notes. " : "";
}

std::string tools_line(const Tools& tools) {
  return tools.empty() ? "" : cat("Useful tools: ", join(tools, ", "), ".\n");
}

std::string text_of(const std::string& task, const Outputs& outputs, const Tools& tools,
                    const VaultData& data) {
  return cat(task, "\n", index_remark(outputs), tools_line(tools), "\n", data.text());
}

std::vector<PromptCall> calls_of_summary(const PromptInput&) {
  return {{.operation = "vault_status"},
          {.operation = "recent_changes", .input = {{"limit", kRecentRows}}},
          {.operation = "tag_list", .input = {{"limit", kTopTags}}}};
}

std::string summary_text(const PromptInput&, const Outputs& outputs, const Tools& tools) {
  const Json counts = outputs[0].value("counts", Json::object());
  const auto count = [&](const char* name) { return counts.value(name, std::int64_t{0}); };
  const bool is_indexing = outputs[0].value("/indexing/state"_json_pointer, "idle") != "idle";
  VaultData data;
  data.heading("Changed last, newest first:");
  data.rows(list_of(outputs[1], "notes"), {"path", "title", "modified"});
  data.heading("Tags used most:");
  data.rows(list_of(outputs[2], "tags"), {"tag", "count", "count_nested"});
  return text_of(
      cat("Summarize the state of this vault in a few short paragraphs: how large it is, what is "
          "being worked on, which subjects it is about, and what needs care. Read a note before "
          "you say what it holds.\n\nThe vault has ",
          count("notes"), " notes among ", count("files"), " files, ", count("tags"), " tags and ",
          count("links"), " links, of which ", count("unresolved_links"), " lead nowhere.",
          is_indexing ? " It is being indexed right now." : ""),
      outputs, tools, data);
}

std::vector<PromptCall> calls_of_daily(const PromptInput& input) {
  Json date = Json::object();
  if (!input.date.empty()) date["date"] = input.date;
  Json read = date;
  read["include"] = Json::array({"body"});
  return {{.operation = "daily_path", .input = std::move(date)},
          {.operation = "daily_read", .input = std::move(read), .may_be_missing = true}};
}

std::string how_to_create(const Tools& tools) {
  if (can_use(tools, "daily_append"))
    return " Create it with daily_append, which begins it with the vault's template.";
  if (can_use(tools, "note_write"))
    return " Create it with note_write at this path, with if_not_exists true.";
  return " This connection may not write, so propose its text instead.";
}

std::string daily_text(const PromptInput&, const Outputs& outputs, const Tools& tools) {
  const std::string date = outputs[0].value("date", "");
  const bool exists = outputs[1].is_object();
  VaultData data;
  data.heading("The daily note:");
  Json note = {{"path", outputs[0].value("path", "")}, {"exists", exists}};
  if (exists) note["body"] = outputs[1].value("body", "");
  data.row(note, kMaxNoteBytes);
  std::string task = cat("Open the daily note of ", date, "; its path is in the data below.");
  if (exists)
    task += cat(" It exists: say in one or two sentences what it holds, then ask what to add.",
                can_use(tools, "note_patch")
                    ? " Add with note_patch, so that the rest stays as it is."
                    : " This connection may not write, so propose changes instead.");
  else
    task += cat(" It does not exist yet.", how_to_create(tools), " Then ask what to put into it.");
  return text_of(task, outputs, tools, data);
}

std::vector<PromptCall> calls_of_orphans(const PromptInput& input) {
  return {{.operation = "link_orphans", .input = {{"limit", input.limit}}}};
}

std::string orphans_text(const PromptInput&, const Outputs& outputs, const Tools& tools) {
  VaultData data;
  data.heading("Notes without links to or from other notes:");
  data.rows(list_of(outputs[0], "orphans"), {"path", "title"});
  return text_of(
      cat("Go through the orphans of this vault, notes that neither link to other notes nor are "
          "linked from them; there are ",
          rows_found(outputs[0], "orphans"),
          ". For each: read it, search for notes on the same subject, and propose one to three "
          "links with the reason and the sentence where each would stand. Say so when a note is "
          "better left alone or merged.",
          can_use(tools, "note_patch")
              ? " Write nothing before the proposals are agreed to; then add them with note_patch."
              : " This connection may not write, so stop at the proposals."),
      outputs, tools, data);
}

std::vector<PromptCall> calls_of_cleanup(const PromptInput&) {
  return {{.operation = "link_unresolved", .input = {{"limit", kBrokenTargets}}}};
}

/// A missing target with the first few of its places.
Json broken_row(const Json& target) {
  Json row = {{"target", target.value("target", "")}, {"links", target.value("count", 0)}};
  const Json sources = list_of(target, "sources");
  Json places = Json::array();
  for (const Json& source : sources) {
    const Json path = source.value("path", Json());
    if (places.size() == kSourcesOfTarget) break;
    if (std::find(places.begin(), places.end(), path) == places.end()) places.push_back(path);
  }
  row["in"] = std::move(places);
  if (const Json alias_of = list_of(target, "alias_of"); !alias_of.empty())
    row["alias_of"] = alias_of.size() > kSourcesOfTarget
                          ? Json(alias_of.begin(), alias_of.begin() + kSourcesOfTarget)
                          : alias_of;
  return row;
}

std::string cleanup_text(const PromptInput& input, const Outputs& outputs, const Tools& tools) {
  VaultData data;
  data.heading("Targets of links that no file answers to, with how many links name them:");
  for (const Json& target : list_of(outputs[0], "unresolved")) data.row(broken_row(target));
  const bool may_write = can_use(tools, "note_patch");
  return text_of(
      cat("Find out what the broken links of this vault were meant to reach; ",
          rows_found(outputs[0], "unresolved"),
          " targets are missing. For each decide: a spelling that another note answers to, a note "
          "that was renamed, a note worth creating, or a link to take away. A target that is the "
          "alias of a note needs the name of that note.",
          !may_write      ? " This connection may not write, so propose the fixes only."
          : input.dry_run ? " This is a dry run: propose the fixes as a list and write nothing."
                          : " Make the fixes that are certain with note_patch, one link at a time, "
                            "and list the others for a decision."),
      outputs, tools, data);
}

std::vector<PromptCall> calls_of_review(const PromptInput& input) {
  const sys_days last = input.day();
  return {{.operation = "recent_changes",
           .input = {{"since", day_text(last - kWeek + days(1))},
                     {"until", day_text(last + days(1))},
                     {"limit", kWeekRows}}}};
}

std::string review_text(const PromptInput& input, const Outputs& outputs, const Tools& tools) {
  const sys_days last = input.day();
  const std::string from = day_text(last - kWeek + days(1)), to = day_text(last);
  const Json notes = list_of(outputs[0], "notes");
  std::map<std::string, int> per_day;
  for (const Json& note : notes) ++per_day[note.value("modified", "").substr(0, 10)];
  std::string by_day;
  for (const auto& [day, count] : per_day)
    by_day += cat(by_day.empty() ? " By day: " : ", ", day, " ", count);
  VaultData data;
  data.heading("Notes by their last change in the week, newest first:");
  data.rows(notes, {"path", "title", "modified", "tags"});
  return text_of(
      cat("Write a review of the seven days from ", from, " to ", to, " (UTC). ",
          rows_found(outputs[0], "notes"), " notes changed last in this time.", by_day,
          by_day.empty() ? "" : ".",
          "\nRead those that matter, then write: what was done, what was learned or decided, what "
          "is open, and what comes next. Link every note that you mention.",
          can_use(tools, "note_write")
              ? cat(" Put it into a new note, `Reviews/", from, " to ", to,
                    ".md` unless the vault has another place for such notes, with if_not_exists "
                    "true.")
              : std::string(" This connection may not write, so answer with the text.")),
      outputs, tools, data);
}

std::vector<Prompt> make_prompts() {
  return {
      {.name = "vault_summary",
       .title = "Vault summary",
       .description = "Summarize the vault: how much there is, what changed last, the top tags.",
       .arguments = {},
       .tools = {"vault_status", "note_read", "vault_search", "tag_list", "link_unresolved",
                 "link_orphans"},
       .calls = calls_of_summary,
       .text = summary_text},
      {.name = "daily_note",
       .title = "Daily note",
       .description = "Open the daily note of a day, or create it where there is none.",
       .arguments = {{"date", "Day", "YYYY-MM-DD, today, yesterday or tomorrow; left out: today.",
                      PromptValue::Date}},
       .tools = {"note_read", "note_patch", "note_write", "daily_append"},
       .calls = calls_of_daily,
       .text = daily_text},
      {.name = "link_orphans",
       .title = "Link orphans",
       .description = "Go through notes without any links and propose some.",
       .arguments = {{"limit", "How many", "Most notes to go through, 1 to 100; left out: 20.",
                      PromptValue::Limit}},
       .tools = {"note_read", "vault_search", "note_patch", "link_backlinks", "ai_relate"},
       .calls = calls_of_orphans,
       .text = orphans_text},
      {.name = "cleanup_unresolved_links",
       .title = "Clean up broken links",
       .description = "Find links that reach no file and propose what to do about each.",
       .arguments = {{"dry_run", "Dry run",
                      "true: propose only; false: also make the fixes that are certain. Left out: "
                      "true.",
                      PromptValue::Switch}},
       .tools = {"link_unresolved", "vault_search", "note_read", "note_patch", "note_list"},
       .calls = calls_of_cleanup,
       .text = cleanup_text},
      {.name = "weekly_review",
       .title = "Weekly review",
       .description = "Gather the changes of seven days into a review note.",
       .arguments = {{"week_of", "Last day",
                      "Last of the seven days, as YYYY-MM-DD, today, yesterday or tomorrow (UTC); "
                      "left out: today.",
                      PromptValue::Date}},
       .tools = {"note_read", "note_write", "note_list", "vault_search"},
       .calls = calls_of_review,
       .text = review_text},
  };
}

Error bad_argument(std::string_view name, std::string message) {
  return invalid(std::move(message), {{"argument", name}});
}

Status read_value(const PromptArgument& argument, const std::string& text, PromptInput& input) {
  switch (argument.value) {
    case PromptValue::Date: {
      const bool is_word = text == "today" || text == "yesterday" || text == "tomorrow";
      if (!is_word && !parse_day(text))
        return bad_argument(argument.name, cat("`", argument.name,
                                               "` must be a day as YYYY-MM-DD, "
                                               "or today, yesterday or tomorrow."));
      input.date = text;
      return {};
    }
    case PromptValue::Limit: {
      const char* end = text.data() + text.size();
      const auto read = std::from_chars(text.data(), end, input.limit);
      if (read.ec != std::errc() || read.ptr != end || input.limit < 1 || input.limit > kMaxLimit)
        return bad_argument(argument.name, cat("`", argument.name,
                                               "` must be a whole number from "
                                               "1 to ",
                                               kMaxLimit, "."));
      return {};
    }
    case PromptValue::Switch:
      if (text != "true" && text != "false")
        return bad_argument(argument.name, cat("`", argument.name, "` must be true or false."));
      input.dry_run = text == "true";
      return {};
  }
  return {};
}

}  // namespace

sys_days PromptInput::day() const {
  if (date == "yesterday") return today - days(1);
  if (date == "tomorrow") return today + days(1);
  return parse_day(date).value_or(today);
}

const std::vector<Prompt>& prompts() {
  static const std::vector<Prompt> rows = make_prompts();
  return rows;
}

const Prompt* find_prompt(std::string_view name) {
  for (const Prompt& row : prompts())
    if (row.name == name) return &row;
  return nullptr;
}

Json prompt_descriptor(const Prompt& prompt) {
  Json arguments = Json::array();
  for (const auto& each : prompt.arguments)
    arguments.push_back(
        {{"name", each.name}, {"description", each.description}, {"required", false}});
  Json row = {{"name", prompt.name}, {"description", prompt.description}};
  if (!arguments.empty()) row["arguments"] = std::move(arguments);
  return row;
}

Result<PromptInput> prompt_input(const Prompt& prompt, const Json& arguments, Timestamp now) {
  PromptInput input;
  input.today = std::chrono::floor<days>(now);
  if (arguments.is_null()) return input;
  if (!arguments.is_object()) return invalid("params.arguments must be an object of texts.");
  for (const auto& [name, value] : arguments.items()) {
    const auto found = std::find_if(prompt.arguments.begin(), prompt.arguments.end(),
                                    [&](const PromptArgument& row) { return row.name == name; });
    if (found == prompt.arguments.end())
      return bad_argument(name, cat("The prompt ", prompt.name, " takes no argument `",
                                    prefix_at_grapheme(name, 64), "`."));
    if (value.is_null() || value == Json("")) continue;
    if (!value.is_string()) return bad_argument(name, cat("`", name, "` must be a text."));
    INDX_TRY(read_value(*found, value.get<std::string>(), input));
  }
  return input;
}

}  // namespace indx
