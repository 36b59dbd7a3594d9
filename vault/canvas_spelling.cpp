#include "vault/canvas_spelling.hpp"

#include "base/text.hpp"
#include "vault/canvas.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace indx {
namespace {

/// Each level reads the text below it again, so a value that is nested deeper is written anew.
constexpr int kMostLevels = 16;

std::string respell_level(std::string_view before, const Json& value, const ListStyle& style,
                          int levels);

/// By value and without rounding: two whole numbers that are one as `double` are two.
bool is_same_number(const Json& a, const Json& b) {
  constexpr double kLargestExact = 9007199254740992;  // 2 to the 53rd
  if (a.is_number_float() != b.is_number_float()) {
    const auto whole = (a.is_number_float() ? b : a).get<double>();
    return std::abs(whole) < kLargestExact && a.get<double>() == b.get<double>();
  }
  if (a.is_number_unsigned() == b.is_number_unsigned()) return a == b;
  const Json& is_signed = a.is_number_unsigned() ? b : a;
  return is_signed.get<std::int64_t>() >= 0 && a.get<std::uint64_t>() == b.get<std::uint64_t>();
}

std::string_view part_of(std::string_view text, std::size_t begin, std::size_t end) {
  return text.substr(begin, end - begin);
}

std::optional<std::string> respell_object(std::string_view before, const Json& value, int levels) {
  const auto item = read_canvas_item(before);
  if (!item.has_value()) return std::nullopt;
  std::unordered_map<std::string_view, CanvasSpan> old;
  for (const auto& member : item->members) old.emplace(member.key, member.value);
  std::vector<SpelledMember> set;
  for (auto it = value.begin(); it != value.end(); ++it) {
    const auto found = old.find(it.key());
    if (found == old.end()) {
      set.push_back({it.key(), json_bytes(it.value())});
      continue;
    }
    const auto text = part_of(before, found->second.begin, found->second.end);
    auto spelled = respell_level(text, it.value(), {}, levels);
    if (spelled != text) set.push_back({it.key(), std::move(spelled)});
    old.erase(found);
  }
  std::vector<std::string> unset;
  for (const auto& [key, span] : old) unset.emplace_back(key);
  auto spelled = spell_members(before, set, unset);
  return spelled.has_value() ? std::optional(std::move(*spelled)) : std::nullopt;
}

std::string id_of_item(const Json& item) {
  const auto id = item.is_object() ? item.find("id") : item.end();
  return id != item.end() && id->is_string() ? id->get<std::string>() : std::string();
}

/// For each new item the old one that it was.
std::vector<std::optional<std::size_t>> earlier_items(const std::vector<Json>& old,
                                                      const Json& items) {
  std::vector<std::optional<std::size_t>> earlier(items.size());
  std::unordered_map<std::string, std::size_t> by_id;
  for (std::size_t i = 0; i < old.size(); ++i)
    if (auto id = id_of_item(old[i]); !id.empty()) by_id.emplace(std::move(id), i);
  if (!by_id.empty()) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto id = id_of_item(items[i]);
      if (const auto found = by_id.find(id); found != by_id.end())
        earlier[i] = found->second;
      else if (id.empty() && i < old.size() && id_of_item(old[i]).empty())
        earlier[i] = i;
    }
    return earlier;
  }
  const std::size_t most = std::min(old.size(), items.size());
  std::size_t first = 0, last = 0;  // how many are the same at the begin, at the end
  while (first < most && is_same_json(old[first], items[first])) ++first;
  while (last < most - first &&
         is_same_json(old[old.size() - 1 - last], items[items.size() - 1 - last]))
    ++last;
  for (std::size_t i = 0; i < most - last; ++i) earlier[i] = i;
  for (std::size_t i = 0; i < last; ++i) earlier[items.size() - 1 - i] = old.size() - 1 - i;
  return earlier;
}

/// What stands between the items stays where it is, whichever item comes there.
std::optional<std::string> respell_list(std::string_view before, const Json& items,
                                        const ListStyle& style, int levels) {
  const auto spans = read_canvas_list(before);
  if (!spans.has_value()) return std::nullopt;
  if (items.empty()) return "[]";
  std::vector<Json> old;
  for (const auto& span : *spans)
    old.push_back(Json::parse(part_of(before, span.begin, span.end), nullptr, false));
  const auto earlier = earlier_items(old, items);
  std::vector<std::size_t> commas;  // behind each old item but the last
  for (std::size_t i = 0; i + 1 < old.size(); ++i)
    commas.push_back(before.find(',', (*spans)[i].end));

  std::string out = "[";
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += ',';
    if (old.empty()) {
      out += style.lead;
    } else {
      const auto place = std::min(i, old.size() - 1);
      out += part_of(before, place > 0 ? commas[place - 1] + 1 : 1, (*spans)[place].begin);
    }
    if (earlier[i]) {
      const auto& span = (*spans)[*earlier[i]];
      out += respell_level(part_of(before, span.begin, span.end), items[i], {}, levels);
    } else {
      out += json_bytes(items[i]);
    }
    if (i < commas.size() && i + 1 < items.size())
      out += part_of(before, (*spans)[i].end, commas[i]);
  }
  out += old.empty() ? style.tail : part_of(before, spans->back().end, before.size() - 1);
  return out += ']';
}

std::string respell_level(std::string_view before, const Json& value, const ListStyle& style,
                          int levels) {
  const auto old = Json::parse(before, nullptr, false);
  if (old.is_discarded()) return json_bytes(value);
  if (is_same_json(old, value)) return std::string(before);
  std::optional<std::string> spelled;
  if (levels > 0 && old.is_object() && value.is_object())
    spelled = respell_object(before, value, levels - 1);
  else if (levels > 0 && old.is_array() && value.is_array())
    spelled = respell_list(before, value, style, levels - 1);
  return spelled ? std::move(*spelled) : json_bytes(value);
}

}  // namespace

std::string json_bytes(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_same_json(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) return is_same_number(a, b);
  if (a.type() != b.type() || !a.is_structured()) return a == b;
  if (a.size() != b.size()) return false;
  if (a.is_array()) return std::equal(a.begin(), a.end(), b.begin(), is_same_json);
  std::unordered_map<std::string_view, const Json*> members;
  for (auto it = b.begin(); it != b.end(); ++it) members.emplace(it.key(), &it.value());
  for (auto it = a.begin(); it != a.end(); ++it) {
    const auto other = members.find(it.key());
    if (other == members.end() || !is_same_json(it.value(), *other->second)) return false;
  }
  return true;
}

Result<std::string> spell_members(std::string_view object, const std::vector<SpelledMember>& set,
                                  const std::vector<std::string>& unset) {
  const auto item = INDX_TRY(read_canvas_item(object));
  const auto& members = item.members;
  const std::unordered_set<std::string_view> removed(unset.begin(), unset.end());
  std::unordered_map<std::string_view, std::string_view> changed;
  for (const auto& member : set) changed.emplace(member.key, member.value);

  std::string_view lead, colon = ":",
                         tail = part_of(object, item.span.begin + 1, item.span.end - 1);
  if (!members.empty()) {
    lead = part_of(object, item.span.begin + 1, members[0].key_span.begin);
    colon = part_of(object, members[0].key_span.end, members[0].value.begin);
    tail = part_of(object, members.back().value.end, item.span.end - 1);
  }
  std::unordered_set<std::string_view> present;
  std::string out = "{";
  bool is_first = true;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto& member = members[i];
    present.insert(member.key);
    const auto found = changed.find(member.key);
    if (found == changed.end() && removed.contains(member.key)) continue;
    // The comma belongs to what stands before a member; the first that is left has none.
    out += is_first ? lead : part_of(object, members[i - 1].value.end, member.key_span.begin);
    out += part_of(object, member.key_span.begin, member.value.begin);
    out += found != changed.end() ? found->second
                                  : part_of(object, member.value.begin, member.value.end);
    is_first = false;
  }
  for (const auto& member : set) {
    if (present.contains(member.key)) continue;
    out += cat(is_first ? "" : ",", lead, json_bytes(Json(member.key)), colon, member.value);
    is_first = false;
  }
  return cat(out, tail, "}");
}

std::string respell(std::string_view before, const Json& value, const ListStyle& style) {
  return respell_level(before, value, style, kMostLevels);
}

}  // namespace indx
