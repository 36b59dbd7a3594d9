#include "vault/base_files.hpp"

#include "vault/frontmatter.hpp"

#include <algorithm>

namespace indx {
namespace {

/// Where the JSON string that begins here ends.
std::size_t json_string_end(std::string_view json, std::size_t at) {
  for (++at; at < json.size() && json[at] != '"'; ++at)
    if (json[at] == '\\') ++at;
  return std::min(at + 1, json.size());
}
/// Where the JSON value that begins here ends: before the `,` or `}` that follows it.
std::size_t json_value_end(std::string_view json, std::size_t at) {
  for (int depth = 0; at < json.size();) {
    const char c = json[at];
    if (c == '"') {
      at = json_string_end(json, at);
      continue;
    }
    if (c == '[' || c == '{') ++depth;
    if (depth == 0 && (c == ',' || c == '}')) return at;
    if (c == ']' || c == '}') --depth;
    ++at;
  }
  return at;
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<signed char>(c) >= 0; });
}

/// The text of the value that a JSON object without white space has under exactly this key; empty:
/// no such key. Nullopt: it takes a closer look, at escapes or letter case.
std::optional<std::string_view> json_member(std::string_view object, std::string_view key) {
  bool is_plain = is_ascii(key);
  std::size_t at = 1;
  while (at < object.size() && object[at] == '"') {
    const auto end = json_string_end(object, at);
    const auto own = object.substr(at + 1, end - at - 2);
    const auto value_end = json_value_end(object, end + 1);
    if (own.find('\\') != std::string_view::npos) return std::nullopt;
    if (own == key) return object.substr(end + 1, value_end - end - 1);
    is_plain = is_plain && own.size() != key.size() && is_ascii(own);
    at = value_end + 1;
  }
  if (!is_plain || (at != object.size() && object != "{}")) return std::nullopt;
  return std::string_view();
}

constexpr std::size_t kParsedKept = 16;
const std::vector<std::size_t> kNoRows;

}  // namespace

BaseFiles::BaseFiles(std::vector<BaseFileRow> rows) : rows_(std::move(rows)) {}

std::optional<std::size_t> BaseFiles::find(std::string_view path) const {
  const auto it = std::lower_bound(
      rows_.begin(), rows_.end(), path,
      [](const BaseFileRow& row, std::string_view wanted) { return row.path < wanted; });
  if (it == rows_.end() || it->path != path) return std::nullopt;
  return static_cast<std::size_t>(it - rows_.begin());
}

std::optional<std::size_t> BaseFiles::resolve(const BaseLink& link) const {
  if (link.is_external) return std::nullopt;
  if (link.target.empty()) return find(link.source);
  const auto key = name_key_of_target(link.target);
  if (!key) return find(link.source);
  if (!by_name_) {
    by_name_.emplace();
    for (std::size_t i = 0; i < rows_.size(); ++i)
      (*by_name_)[name_key_of_path(rows_[i].path)].push_back(i);
  }
  const auto named = by_name_->find(*key);
  if (named == by_name_->end()) return std::nullopt;
  auto known = candidates_.find(*key);
  if (known == candidates_.end()) {
    std::vector<LinkCandidates::File> files;
    for (const auto index : named->second)
      files.push_back({static_cast<std::int64_t>(index), rows_[index].path});
    known = candidates_.emplace(*key, LinkCandidates(std::move(files))).first;
  }
  const auto* file = known->second.resolve(link.source, link.target, LinkSyntax::Wiki);
  if (file == nullptr) return std::nullopt;
  return static_cast<std::size_t>(file->id);
}

std::shared_ptr<const Json> BaseFiles::properties(std::size_t index) const {
  for (const auto& parsed : parsed_)
    if (parsed.row == index) return parsed.json;
  const auto& text = rows_[index].properties;
  auto json = text.empty() ? Json::object() : Json::parse(text, nullptr, false);
  if (!json.is_object()) json = Json::object();
  Parsed parsed{index, std::make_shared<const Json>(std::move(json))};
  auto result = parsed.json;
  if (parsed_.size() < kParsedKept)
    parsed_.push_back(std::move(parsed));
  else
    parsed_[next_parsed_++ % kParsedKept] = std::move(parsed);
  return result;
}

std::optional<Json> BaseFiles::property(std::size_t index, std::string_view name) const {
  const auto& text = rows_[index].properties;
  if (text.empty()) return std::nullopt;
  if (const auto value = json_member(text, name)) {
    if (value->empty()) return std::nullopt;
    if (auto json = Json::parse(*value, nullptr, false); !json.is_discarded()) return json;
  }
  const auto all = properties(index);
  const auto* found = find_property(*all, name);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

const std::vector<std::size_t>& BaseFiles::backlinks(std::size_t index) const {
  if (!backlinks_) {
    backlinks_.emplace();
    for (std::size_t i = 0; i < rows_.size(); ++i)
      for (const auto& link : rows_[i].links) {
        if (!link.path || *link.path == rows_[i].path) continue;
        const auto target = find(*link.path);
        if (!target) continue;
        auto& sources = (*backlinks_)[*target];
        if (sources.empty() || sources.back() != i) sources.push_back(i);
      }
  }
  const auto it = backlinks_->find(index);
  return it == backlinks_->end() ? kNoRows : it->second;
}

}  // namespace indx
