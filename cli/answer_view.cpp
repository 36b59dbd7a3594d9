#include "cli/answer_view.hpp"

#include "base/json_text.hpp"
#include "base/text.hpp"
#include "cli/markdown_view.hpp"
#include "cli/progress_bar.hpp"
#include "cli/styled_text.hpp"
#include "ops/ai/ai_prose.hpp"
#include "ops/table_cell.hpp"

#include <algorithm>
#include <iomanip>
#include <set>
#include <sstream>

namespace indx {
namespace {

constexpr std::size_t kAnswerIndent = 2, kWidestCell = 40;
constexpr int kMaxViewDepth = 12;
constexpr double kLeastShownPrice = 0.0001;

/// What programs need and people do not, or what is told at the end.
bool is_for_programs(std::string_view key) {
  static const std::set<std::string_view> keys = {"etag",   "if_match",       "span",
                                                  "anchor", "scope_resolved", "usage",
                                                  "source", "warnings",       "estimate"};
  return keys.contains(key);
}

bool is_citation(const Json& value) {
  return value.is_object() && value.contains("snippet") && value.contains("path");
}
bool holds_citation(const Json& value) {
  if (is_citation(value)) return true;
  return value.is_structured() && std::any_of(value.begin(), value.end(), holds_citation);
}
/// Whether each citation stands beside what it supports.
bool has_told_citations(const Json& data) {
  for (const auto& [key, value] : data.items())
    if (key != "citations" && holds_citation(value)) return true;
  return false;
}
bool is_scalar(const Json& value) { return !value.is_structured(); }
bool are_scalars(const Json& list) { return std::all_of(list.begin(), list.end(), is_scalar); }
bool is_nothing(const Json& value) {
  return value.is_null() || (value.is_structured() && value.empty()) ||
         (value.is_string() && value.get_ref<const std::string&>().empty());
}

std::string shown_number(double value) {
  std::ostringstream out;
  out << std::setprecision(3) << value;
  return out.str();
}
std::string scalar_text(const Json& value) {
  if (value.is_number_float()) return shown_number(value.get<double>());
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  return table_cell(value);
}
/// Scalars, and lists of them, on one line.
std::string line_text_of(const Json& value) {
  if (!value.is_array()) return scalar_text(value);
  std::vector<std::string> parts;
  for (const auto& item : value) parts.push_back(scalar_text(item));
  return join(parts, ", ");
}

std::string label_of(std::string_view key) {
  if (key == "tldr") return "In short";
  if (key == "citations") return "Sources";
  std::string label = replace_all(key, "_", " ");
  if (!label.empty() && label[0] >= 'a' && label[0] <= 'z')
    label[0] = static_cast<char>(label[0] - 'a' + 'A');
  return label;
}

std::string counted(std::int64_t number, const std::string& thing) {
  return cat(number, " ", thing, number == 1 ? "" : "s");
}

/// Writes any JSON as an outline; the names of the fields that AI answers share get more.
class AnswerWriter {
 public:
  AnswerWriter(std::size_t width, bool has_color) : width_(width), has_color_(has_color) {}

  std::string take() { return std::move(text_); }

  void answer(const Json& data) {
    for (const auto& [key, value] : data.items()) {
      if (is_for_programs(key) || is_nothing(value)) continue;
      if (key == "citations" && has_told_citations(data)) continue;
      if (key == "summary" && value.is_object()) {  // its parts are sections of their own
        sections(value);
        continue;
      }
      section(key, value);
    }
  }

  void line(const std::string& text, std::size_t indent, std::uint8_t style = look::kPlain) {
    const std::size_t room = width_ > indent + kAnswerIndent ? width_ - indent : kAnswerIndent * 8;
    for (const auto& one : wrap({{text, style}}, {room, has_color_}))
      text_ += std::string(indent, ' ') + one + "\n";
  }
  void blank() {
    if (!text_.empty()) text_ += "\n";
  }

 private:
  void sections(const Json& parts) {
    for (const bool wants_short : {true, false})
      for (const auto& [key, value] : parts.items())
        if (!is_nothing(value) && wants_short == (value.is_string() && !is_ai_markdown(key)))
          section(key, value);
  }

  void section(const std::string& key, const Json& value) {
    blank();
    if (value.is_string() && is_ai_markdown(key)) {
      text_ += markdown_text(value.get_ref<const std::string&>(), width_, has_color_);
      return;
    }
    if (is_scalar(value)) {
      line(label_of(key) + ": " + line_text_of(value), 0);
      return;
    }
    line(label_of(key), 0, look::kBold);
    if (key == "proposed_patches")
      patches(value);
    else
      structure(value, kAnswerIndent, 0);
  }

  void structure(const Json& value, std::size_t indent, int depth) {
    if (depth > kMaxViewDepth) return line("…", indent);
    if (is_citation(value)) return citation(value, indent);
    if (value.is_object()) return members(value, indent, depth);
    if (!value.is_array()) return line(line_text_of(value), indent);
    if (are_scalars(value)) {
      for (const auto& item : value) bullet(item, indent);
      return;
    }
    if (std::all_of(value.begin(), value.end(), is_citation)) {
      for (const auto& item : value) citation(item, indent);
      return;
    }
    if (value[0].is_object() && value[0].contains("path")) return by_note(value, indent, depth);
    rows(value, indent, depth);
  }

  void bullet(const Json& item, std::size_t indent) {
    const std::size_t room =
        width_ > indent + kAnswerIndent * 2 ? width_ - indent - kAnswerIndent : kAnswerIndent * 8;
    std::string mark = "• ";
    for (const auto& one : wrap({{scalar_text(item)}}, {room, has_color_})) {
      text_ += std::string(indent, ' ') + mark + one + "\n";
      mark = "  ";
    }
  }

  void citation(const Json& value, std::size_t indent) {
    std::string place = text_in(value, "path");
    if (const auto it = value.find("line"); it != value.end() && it->is_number_integer())
      place += cat(":", it->get<std::int64_t>());
    const auto snippet = replace_all(text_in(value, "snippet"), "\n", " ");
    const std::size_t room = width_ > indent ? width_ - indent : width_;
    for (const auto& one :
         wrap({{place, look::kUnderline}, {"  " + snippet, look::kDim}}, {room, has_color_}))
      text_ += std::string(indent, ' ') + one + "\n";
  }

  void members(const Json& value, std::size_t indent, int depth) {
    const bool is_by_key = !value.empty() && std::all_of(value.begin(), value.end(), [](auto& one) {
      return one.is_object() && one.contains("value");
    });
    if (is_by_key) {  // found properties: a row each
      Json list = Json::array();
      for (const auto& [key, found] : value.items()) {
        Json row{{"key", key}};
        row.update(found);
        list.push_back(std::move(row));
      }
      return rows(list, indent, depth);
    }
    for (const auto& [key, member] : value.items()) {
      if (is_for_programs(key) || is_nothing(member)) continue;
      if (is_scalar(member) || (member.is_array() && are_scalars(member) && !is_ai_prose(key))) {
        line(key + ": " + line_text_of(member), indent);
        continue;
      }
      if (!is_citation(member)) line(key + ":", indent);
      structure(member, indent + kAnswerIndent, depth + 1);
    }
  }

  /// A list of what was found in notes: the path, and the rest below it.
  void by_note(const Json& list, std::size_t indent, int depth) {
    for (const auto& item : list) {
      if (!item.is_object()) {
        structure(item, indent, depth + 1);
        continue;
      }
      std::string head = text_in(item, "path");
      if (const auto it = item.find("line"); it != item.end() && it->is_number_integer())
        head += cat(":", it->get<std::int64_t>());
      Json rest = Json::object();
      for (const auto& [key, value] : item.items())
        if (key != "path" && key != "line" && !is_for_programs(key) && !is_nothing(value))
          rest[key] = value;
      if (rest.size() == 1 && is_scalar(*rest.begin())) {
        line(cat(head, "  ", line_text_of(*rest.begin())), indent);
        continue;
      }
      line(head, indent, look::kBold);
      if (rest.size() == 1 && rest.begin()->is_array())
        structure(*rest.begin(), indent + kAnswerIndent, depth + 1);
      else
        members(rest, indent + kAnswerIndent, depth);
    }
  }

  /// A table of the scalars of the rows; what a row holds besides stands below it.
  void rows(const Json& list, std::size_t indent, int depth) {
    const auto is_cell = [](const std::string& key, const Json& value) {
      const bool is_list = value.is_array() && !value.empty() && are_scalars(value);
      return (is_scalar(value) || is_list) && !is_for_programs(key) && !is_ai_prose(key);
    };
    std::vector<std::string> keys;
    std::vector<std::size_t> widths;
    for (const auto& row : list) {
      if (!row.is_object()) continue;
      for (const auto& [key, value] : row.items()) {
        if (!is_cell(key, value)) continue;
        auto at = static_cast<std::size_t>(std::find(keys.begin(), keys.end(), key) - keys.begin());
        if (at == keys.size()) {
          keys.push_back(key);
          widths.push_back(columns_of(std::string_view(key)));
        }
        const std::size_t columns = columns_of(std::string_view(harmless(line_text_of(value))));
        widths[at] = std::min(kWidestCell, std::max(widths[at], columns));
      }
    }
    Json head = Json::object();
    for (const auto& key : keys) head[key] = key;
    if (keys.size() > 1) row_line(head, keys, widths, indent, look::kDim);
    for (const auto& row : list) {
      if (!row.is_object()) {
        structure(row, indent, depth + 1);
        continue;
      }
      row_line(row, keys, widths, indent, look::kPlain);
      for (const auto& [key, value] : row.items()) {
        if (is_cell(key, value) || is_for_programs(key) || is_nothing(value)) continue;
        if (is_scalar(value))
          line(line_text_of(value), indent + kAnswerIndent, look::kItalic);
        else
          structure(value, indent + kAnswerIndent, depth + 1);
      }
    }
  }

  void row_line(const Json& row, const std::vector<std::string>& keys,
                const std::vector<std::size_t>& widths, std::size_t indent, std::uint8_t style) {
    std::string text;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto it = row.find(keys[i]);
      std::string cell = it == row.end() || it->is_null() ? "" : harmless(line_text_of(*it));
      std::replace(cell.begin(), cell.end(), '\n', ' ');
      const std::size_t columns = columns_of(std::string_view(cell));
      if (columns > widths[i]) {
        const auto lines = wrap({{cell}}, {widths[i] - 1, false, true});
        cell = lines.front() + "…";
      }
      const std::size_t shown = columns_of(std::string_view(cell));
      text += (i == 0 ? "" : "  ") + cell;
      if (i + 1 < keys.size() && shown < widths[i]) text += std::string(widths[i] - shown, ' ');
    }
    text.resize(text.find_last_not_of(' ') + 1);  // npos + 1 is 0
    if (!text.empty()) text_ += std::string(indent, ' ') + styled(text, style, has_color_) + "\n";
  }

  /// What note_patch would do, as lines that would be added.
  void patches(const Json& list) {
    for (const auto& patch : list) {
      line(text_in(patch, "path"), kAnswerIndent, look::kBold);
      if (const auto why = text_in(patch, "reason"); !why.empty())
        line(why, kAnswerIndent * 2, look::kItalic);
      for (const auto& op : patch.value("ops", Json::array())) {
        const bool sets = text_in(op, "op") == "set_frontmatter" && op.contains("value");
        const auto text =
            sets ? cat(text_in(op, "key"), ": ", property_text(op["value"])) : json_text(op);
        line("+ " + text, kAnswerIndent * 2, look::kAdded);
      }
    }
  }
  static std::string property_text(const Json& value) {
    return value.is_string() ? value.get<std::string>() : json_text(value);
  }

  const std::size_t width_;
  const bool has_color_;
  std::string text_;
};

std::string warning_text(const Json& warning) {
  if (!warning.is_object()) return table_cell(warning);
  std::string text = text_in(warning, "code");
  for (const char* key : {"path", "key"})
    if (const auto part = text_in(warning, key); !part.empty()) text += " " + part;
  if (const auto why = text_in(warning, "reason"); !why.empty()) text += ": " + why;
  if (const auto paths = warning.find("paths"); paths != warning.end() && paths->is_array())
    text += cat(" (", line_text_of(*paths), ")");
  return text;
}

bool was_cached(const Json& data) {
  const Json warnings = data.value("warnings", Json::array());
  return std::any_of(warnings.begin(), warnings.end(), [](const Json& one) {
    return one == "ai_cache_hit" || (one.is_object() && text_in(one, "code") == "ai_cache_hit");
  });
}

std::string usage_text(const Json& data) {
  const auto usage = data.find("usage");
  std::vector<std::string> facts;
  const auto scope = data.find("scope_resolved");
  if (scope != data.end() && scope->is_object() && scope->contains("count"))
    facts.push_back(counted(static_cast<std::int64_t>(number_in(*scope, "count")), "note"));
  if (text_in(data, "source") == "extractive") {
    facts.emplace_back("no model asked");
  } else if (usage != data.end() && usage->is_object()) {
    const bool is_estimated = text_in(*usage, "source") == "estimated";
    facts.push_back(cat(static_cast<std::int64_t>(number_in(*usage, "input_tokens")), " + ",
                        static_cast<std::int64_t>(number_in(*usage, "output_tokens")), " tokens",
                        is_estimated ? " (estimated)" : ""));
    facts.push_back(price_text(usage->value("cost_usd", Json())));
  }
  if (was_cached(data)) facts.emplace_back("from the cache");
  return join(facts, " · ");
}

std::string estimate_text(const Json& estimate) {
  const auto number = [&](const char* key) {
    return static_cast<std::int64_t>(number_in(estimate, key));
  };
  const std::string head = counted(number("notes"), "note");
  if (number("calls") == 0) return head + " · no model call · " + price_text(0);
  const Json cost = estimate.value("cost_usd", Json());
  const std::string price = cost.is_number()
                                ? cat("at most ", price_text(cost), " (prompts ",
                                      price_text(estimate.value("prompt_cost_usd", Json())), ")")
                                : price_text(cost);
  return cat(head, " · ", counted(number("calls"), "call"), " of ", text_in(estimate, "provider"),
             " ", text_in(estimate, "model"), " · at most ", number("input_tokens"), " + ",
             number("output_tokens"), " tokens · ", price);
}

}  // namespace

std::string price_text(const Json& usd) {
  if (!usd.is_number()) return "price unknown";
  const double value = usd.get<double>();
  if (value <= 0) return "$0";
  if (value < kLeastShownPrice) return "less than $0.0001";
  std::ostringstream out;
  out << "$" << std::fixed << std::setprecision(value < 1 ? 4 : 2) << value;
  return out.str();
}

std::string answer_text(const Json& data, std::size_t width, bool has_color) {
  AnswerWriter writer(width, has_color);
  const auto estimate = data.find("estimate");
  const bool is_estimate = estimate != data.end() && estimate->is_object();
  if (!is_estimate) writer.answer(data);
  const Json warnings = data.value("warnings", Json::array());
  if (!warnings.empty()) writer.blank();
  for (const auto& warning : warnings) writer.line("! " + warning_text(warning), 0);
  writer.blank();
  writer.line(is_estimate ? estimate_text(*estimate) : usage_text(data), 0, look::kDim);
  return writer.take();
}

}  // namespace indx
