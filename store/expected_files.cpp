#include "store/expected_files.hpp"

#include <algorithm>

namespace indx {

ExpectedFiles::ExpectedFiles(std::vector<LinkCandidates::File> present,
                             const std::vector<std::string>& coming) {
  for (auto& file : present) {
    next_id_ = std::max(next_id_, file.id + 1);
    auto key = name_key_of_path(file.path);
    by_key_[std::move(key)].push_back(std::move(file));
  }
  for (const auto& path : coming) {
    auto& same_name = by_key_[name_key_of_path(path)];
    const bool is_there = std::any_of(same_name.begin(), same_name.end(),
                                      [&](const auto& file) { return file.path == path; });
    if (is_there) continue;
    coming_.emplace(path, next_id_);
    same_name.push_back({next_id_++, path});
  }
}

ExpectedFiles::Arrival ExpectedFiles::arrive(const std::string& path) {
  if (const auto it = coming_.find(path); it != coming_.end()) {
    const auto id = it->second;
    coming_.erase(it);
    return {id, true};
  }
  by_key_[name_key_of_path(path)].push_back({next_id_, path});
  return {next_id_++, false};
}

void ExpectedFiles::forget(const std::string& path) {
  coming_.erase(path);
  const auto it = by_key_.find(name_key_of_path(path));
  if (it != by_key_.end())
    std::erase_if(it->second, [&](const auto& file) { return file.path == path; });
}

std::vector<LinkCandidates::File> ExpectedFiles::with_key(const std::string& key) const {
  const auto it = by_key_.find(key);
  return it == by_key_.end() ? std::vector<LinkCandidates::File>() : it->second;
}

std::vector<std::string> ExpectedFiles::missing() const {
  std::vector<std::string> paths;
  for (const auto& [path, id] : coming_) paths.push_back(path);
  return paths;
}

}  // namespace indx
