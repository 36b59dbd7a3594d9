#include "vault/base_files.hpp"

#include <algorithm>

namespace indx {
namespace {

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
