#include "mcp/tool_summary.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace indx {
namespace {

constexpr std::size_t kMaxSummaryBytes = 480;
constexpr std::size_t kMaxNameBytes = 120;
constexpr const char *kIndexing = "indexing", *kIndexed = "indexed";  ///< ops/define.hpp

std::string text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}
bool is_true(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && *found == true;
}

/// Says so where it is not the whole.
std::string short_name(const std::string& name) {
  const auto kept = prefix_at_grapheme(name, kMaxNameBytes);
  return cat(kept, kept.size() < name.size() ? "…" : "");
}

/// What an item of a list is called.
std::string name_of_item(const Json& item) {
  if (item.is_string()) return short_name(item.get<std::string>());
  if (!item.is_object()) return "";
  for (const auto* key : {"path", "tag", "name", "target", "text", "id", "kind"})
    if (const std::string name = text_in(item, key); !name.empty()) return short_name(name);
  return "";
}

/// What the items of a list are called: `1 property`, `2 properties`.
std::string words_of(const std::string& list, std::size_t count) {
  // One that is named by no noun.
  std::string words = list == "unresolved" ? "broken link targets" : replace_all(list, "_", " ");
  if (count != 1) return words;
  if (words.ends_with("ies")) return words.replace(words.size() - 3, 3, "y");
  if (words.ends_with('s')) words.pop_back();
  return words;
}

std::string tell_list(const std::string& list, const Json& output) {
  const Json& items = output[list];
  std::string line = cat("Found ", items.empty() ? "no" : std::to_string(items.size()), ' ',
                         words_of(list, items.size()));
  if (output.contains("next_cursor")) line += " on this page; pass next_cursor as cursor for more";
  line += '.';
  if (items.empty()) return line;
  if (const std::string first = name_of_item(items.front()); !first.empty())
    line += cat(" First: ", first, first.ends_with("…") ? "" : ".");
  return line;
}

/// Of what changes one file; nullopt: the output is not about that.
std::optional<std::string> tell_change(const Operation& operation, const Json& output) {
  const std::string path = text_in(output, "path");
  if (operation.effect == Effect::Reads || path.empty() || !output.contains("changed"))
    return std::nullopt;
  if (const std::string from = text_in(output, "from"); !from.empty())
    return cat(is_true(output, "dry_run") ? "Dry run, nothing was moved: " : "Moved ", from, " to ",
               path, '.');
  const bool is_gone = operation.effect == Effect::Destructive;
  const bool is_changed = is_true(output, "changed");
  if (is_true(output, "dry_run"))
    return cat("Dry run, nothing was written: ", path,
               is_gone                      ? " would be deleted."
               : is_true(output, "created") ? " would be created."
               : is_changed                 ? " would change."
                                            : " would stay as it is.");
  if (const std::string trash = text_in(output, "trash_path"); !trash.empty())
    return cat("Deleted ", path, "; it lies in ", trash, '.');
  if (is_gone) return cat("Deleted ", path, '.');
  const std::string etag = text_in(output, "etag");
  return cat(is_true(output, "created") ? "Created "
             : is_changed               ? "Changed "
                                        : "Nothing to change in ",
             path, etag.empty() ? "" : ", now at etag " + etag, '.');
}

std::optional<std::string> tell_note(const Json& output) {
  const std::string path = text_in(output, "path"), etag = text_in(output, "etag"),
                    title = text_in(output, "title");
  if (path.empty() || etag.empty() || title.empty()) return std::nullopt;
  return cat(path, " («", short_name(title), "») is at etag ", etag, '.');
}

/// What a call of AI would take; nullopt: the output is no estimate.
std::optional<std::string> tell_estimate(const Operation& operation, const Json& output) {
  const auto estimate = output.find("estimate");
  if (estimate == output.end() || !estimate->is_object()) return std::nullopt;
  const auto number = [&](const char* key) {
    const auto found = estimate->find(key);
    return found != estimate->end() && found->is_number() ? found->dump() : std::string();
  };
  const std::string cost = number("cost_usd");
  return cat("Estimate of ", operation.name, ", nothing was done: notes ", number("notes"),
             ", model calls ", number("calls"), ", tokens ", number("input_tokens"),
             " in and at most ", number("output_tokens"), " out, ",
             cost.empty() ? "at an unknown price." : cat("at most ", cost, " USD."));
}

/// Not worth a word when it is so: nothing of it came up.
bool is_noise(const std::string& key, const Json& value) {
  if (value.is_array())
    return value.empty() &&
           (key == "warnings" || key == "failed" || key == "applied" || key == "proposed_patches");
  if (key.ends_with("_left_out") || key == "hidden") return value == 0;
  return (key == "dry_run" || key == "partial" || key == "truncated") && value == false;
}

std::string tell_facts(const Operation& operation, const Json& output) {
  std::vector<std::string> facts;
  for (const auto& [key, value] : output.items()) {
    if (key == kIndexing || key == kIndexed || is_noise(key, value)) continue;
    const std::string words = replace_all(key, "_", " ");
    if (value.is_array())
      facts.push_back(cat(value.empty() ? "no" : std::to_string(value.size()), ' ',
                          words_of(key, value.size())));
    else if (key == "scope_resolved" && value.is_object() && value.contains("count"))
      facts.push_back("notes in scope " + value["count"].dump());
    else if (value.is_boolean() || value.is_number())
      facts.push_back(cat(words, ' ', value.dump()));
    else if (value.is_string() && !value.get_ref<const std::string&>().empty() &&
             value.get_ref<const std::string&>().size() <= kMaxNameBytes)
      facts.push_back(cat(words, ' ', value.get<std::string>()));
  }
  return cat(operation.name, facts.empty() ? ": done" : ": " + join(facts, ", "), '.');
}

/// Of an answer out of an index that is still being filled.
std::string tell_indexing(const Json& output) {
  const Json indexed = output.value(kIndexed, Json::object());
  const std::int64_t total = indexed.value("total", std::int64_t{0});
  const std::string how_far =
      total > 0
          ? cat(" (indexing, ", indexed.value("done", std::int64_t{0}), " of ", total, " files)")
          : "";
  return cat(" The index is still being built", how_far, "; ask again soon.");
}

std::string tell(const Operation& operation, const Json& input, const Json& output) {
  if (!output.is_object()) return operation.name + ": done.";
  if (auto estimate = tell_estimate(operation, output)) return std::move(*estimate);
  if (operation.told) return operation.told(input, output);
  const auto list = operation.list.empty() ? output.end() : output.find(operation.list);
  if (list != output.end() && list->is_array()) return tell_list(operation.list, output);
  if (auto change = tell_change(operation, output)) return std::move(*change);
  if (auto note = tell_note(output)) return std::move(*note);
  return tell_facts(operation, output);
}

}  // namespace

std::string tool_summary(const Operation& operation, const Json& input, const Json& output) {
  std::string line = tell(operation, input, output);
  for (char& c : line)
    if (c == '\n' || c == '\r') c = ' ';
  if (line.size() > kMaxSummaryBytes) line = cat(prefix_at_grapheme(line, kMaxSummaryBytes), "…");
  if (output.is_object() && is_true(output, kIndexing)) line += tell_indexing(output);
  return line;
}

}  // namespace indx
