#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/base_functions.hpp"

#include <algorithm>
#include <cmath>

namespace indx {
namespace {

// ---- dates

BaseValue date_date(BaseCall& call) { return midnight_of(call.self.date()); }
BaseValue date_time(BaseCall& call) {
  return format_moment(wall_time(call.self.date()), "HH:mm:ss");
}
BaseValue date_format(BaseCall& call) {
  const auto format = call.text(0);
  if (format.size() > 1000) return BaseValue::error("The format is too long.");
  return format_moment(wall_time(call.self.date()), format);
}

/// Moment's `fromNow`, with its thresholds.
BaseValue date_relative(BaseCall& call) {
  const auto& clock = call.evaluator.environment().clock;
  const double seconds =
      static_cast<double>(call.self.date().millis - clock.local(clock.now).millis) / 1000;
  const double distance = std::abs(seconds);
  const auto count = [](double number) { return std::max(1.0, std::round(number)); };
  const double minutes = distance / 60, hours = minutes / 60, days = hours / 24;
  const double months = days / 30.436875;
  std::string text;
  if (std::round(distance) < 45)
    text = "a few seconds";
  else if (std::round(minutes) <= 1)
    text = "a minute";
  else if (std::round(minutes) < 45)
    text = cat(count(minutes), " minutes");
  else if (std::round(hours) <= 1)
    text = "an hour";
  else if (std::round(hours) < 22)
    text = cat(count(hours), " hours");
  else if (std::round(days) <= 1)
    text = "a day";
  else if (std::round(days) < 26)
    text = cat(count(days), " days");
  else if (std::round(months) <= 1)
    text = "a month";
  else if (std::round(months) < 11)
    text = cat(count(months), " months");
  else if (std::round(months / 12) <= 1)
    text = "a year";
  else
    text = cat(count(months / 12), " years");
  return seconds > 0 ? "in " + text : text + " ago";
}

// ---- links and files

BaseValue link_as_file(BaseCall& call) {
  const auto row = call.evaluator.file_of(call.self);
  return row ? BaseValue(BaseFile{*row}) : BaseValue();
}
BaseValue link_links_to(BaseCall& call) {
  const auto own = call.evaluator.file_of(call.self);
  return own && own == call.evaluator.file_of(call.arguments[0]);
}

BaseValue file_as_link(BaseCall& call) {
  const auto& path = call.evaluator.files().row(call.self.file().row).path;
  const bool is_note = path.size() > 3 && fold_case(path.substr(path.size() - 3)) == ".md";
  BaseLink link{is_note ? path.substr(0, path.size() - 3) : path, "", {}, path, false};
  if (call.has(0)) link.display = call.text(0);
  return link;
}

BaseValue file_has_link(BaseCall& call) {
  const auto& files = call.evaluator.files();
  const auto& row = files.row(call.self.file().row);
  const auto target = call.evaluator.file_of(call.arguments[0]);
  const auto written =
      call.arguments[0].is(BaseValue::Type::Link) ? call.arguments[0].link().target : call.text(0);
  const auto wanted = target_key(written.substr(0, written.find('#')));
  for (const auto& link : row.links) {
    if (!call.evaluator.charge(1)) break;
    if (link.is_external) continue;
    if (target ? link.path == files.row(*target).path
               : !link.path && target_key(link.target) == wanted)
      return true;
  }
  return false;
}

BaseValue file_has_property(BaseCall& call) {
  const auto properties = call.evaluator.files().properties(call.self.file().row);
  return find_property(*properties, call.text(0)) != nullptr;
}

BaseValue file_has_tag(BaseCall& call) {
  for (const auto& tag : call.evaluator.files().row(call.self.file().row).tags)
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      call.evaluator.charge(1);
      if (is_base_tag_match(tag, call.text(i))) return true;
    }
  return false;
}

BaseValue file_in_folder(BaseCall& call) {
  const auto& path = call.evaluator.files().row(call.self.file().row).path;
  auto folder = call.text(0);
  while (folder.ends_with('/')) folder.pop_back();
  while (folder.starts_with('/')) folder.erase(0, 1);
  return folder.empty() ||
         (path.starts_with(folder) && path.size() > folder.size() && path[folder.size()] == '/');
}

// ---- objects and regular expressions

BaseValue object_keys(BaseCall& call) {
  BaseList list;
  call.evaluator.charge(call.self.object().fields.size());
  for (const auto& [key, value] : call.self.object().fields) list.items.emplace_back(key);
  return list;
}
BaseValue object_values(BaseCall& call) {
  BaseList list;
  call.evaluator.charge(call.self.object().fields.size());
  for (const auto& [key, value] : call.self.object().fields) list.items.push_back(value);
  return list;
}

BaseValue regexp_matches(BaseCall& call) {
  const auto text = call.text(0);
  call.evaluator.charge_text(text.size() * 8);
  return call.self.regexp().matches(text);
}

constexpr std::size_t kManyTags = 1000;

}  // namespace

const BaseFunctionTable& base_date_methods() {
  static const BaseFunctionTable table = {
      {"date", 0, 0, false, date_date},
      {"format", 1, 1, false, date_format},
      {"relative", 0, 0, false, date_relative},
      {"time", 0, 0, false, date_time},
  };
  return table;
}

const BaseFunctionTable& base_link_methods() {
  static const BaseFunctionTable table = {
      {"asFile", 0, 0, false, link_as_file},
      {"linksTo", 1, 1, false, link_links_to},
  };
  return table;
}

const BaseFunctionTable& base_file_methods() {
  static const BaseFunctionTable table = {
      {"asLink", 0, 1, false, file_as_link},
      {"hasLink", 1, 1, false, file_has_link},
      {"hasProperty", 1, 1, false, file_has_property},
      {"hasTag", 1, kManyTags, false, file_has_tag},
      {"inFolder", 1, 1, false, file_in_folder},
  };
  return table;
}

const BaseFunctionTable& base_object_methods() {
  static const BaseFunctionTable table = {
      {"keys", 0, 0, false, object_keys},
      {"values", 0, 0, false, object_values},
  };
  return table;
}

const BaseFunctionTable& base_regexp_methods() {
  static const BaseFunctionTable table = {{"matches", 1, 1, false, regexp_matches}};
  return table;
}

}  // namespace indx
