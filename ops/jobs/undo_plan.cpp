#include "ops/jobs/undo_plan.hpp"

#include <algorithm>
#include <map>

namespace indx {
namespace {

/// Follows every file through the writes.
class UndoPlanner {
 public:
  void add(const JobWrite& write) {
    ++number_;
    if (!write.moved_from)
      add_contents(write);
    else if (write.before_sha256)
      add_move(write);
    else
      add_folder(write);
  }

  UndoPlan finish() {
    std::erase_if(plan_.acts, [&](const UndoAct& act) {
      if (act.kind != UndoAct::Kind::Contents) return false;
      const auto& file = plan_.files[act.file];
      return file.before_etag == file.etag && !file.foreign_change;
    });
    std::reverse(plan_.acts.begin(), plan_.acts.end());
    return std::move(plan_);
  }

 private:
  /// The file that stands at the path, with the state that the write found.
  std::size_t file_at(const std::string& path, const JobWrite& write) {
    const auto known = at_.find(path);
    if (known == at_.end()) {
      plan_.files.push_back({.path = path,
                             .last_path = path,
                             .places = {path},
                             .before_sha256 = write.before_sha256,
                             .before_etag = write.before_etag,
                             .etag = write.before_etag,
                             .foreign_change = {}});
      at_[path] = plan_.files.size() - 1;
      return plan_.files.size() - 1;
    }
    auto& file = plan_.files[known->second];
    if (file.etag != write.before_etag && !file.foreign_change)
      file.foreign_change = {file.etag, write.before_etag};
    return known->second;
  }

  void place(std::size_t number, const std::string& path) {
    at_[path] = number;
    plan_.files[number].last_path = path;
    plan_.files[number].places.insert(path);
  }

  void add_contents(const JobWrite& write) {
    const auto number = file_at(write.path, write);
    plan_.files[number].etag = write.after_etag;
    if (!has_contents_.insert(number).second) return;
    plan_.acts.push_back({.kind = UndoAct::Kind::Contents,
                          .path = write.path,
                          .back_to = {},
                          .file = number,
                          .inside = {},
                          .number = number_});
  }

  void add_move(const JobWrite& write) {
    const auto number = file_at(*write.moved_from, write);
    at_.erase(*write.moved_from);
    place(number, write.path);
    plan_.files[number].etag = write.after_etag;
    plan_.acts.push_back({.kind = UndoAct::Kind::MoveBack,
                          .path = write.path,
                          .back_to = *write.moved_from,
                          .file = number,
                          .inside = {},
                          .number = number_});
    plan_.has_moves = true;
  }

  void add_folder(const JobWrite& write) {
    UndoAct act{.kind = UndoAct::Kind::FolderBack,
                .path = write.path,
                .back_to = *write.moved_from,
                .file = 0,
                .inside = {},
                .number = number_};
    const std::string below = *write.moved_from + "/";
    std::vector<std::pair<std::string, std::size_t>> moved;
    for (auto it = at_.lower_bound(below); it != at_.end() && it->first.starts_with(below);
         it = at_.erase(it))
      moved.emplace_back(write.path + it->first.substr(below.size() - 1), it->second);
    for (const auto& [path, number] : moved) {
      place(number, path);
      act.inside.push_back(number);
    }
    plan_.acts.push_back(std::move(act));
    plan_.has_moves = true;
  }

  UndoPlan plan_;
  std::size_t number_ = 0;
  std::map<std::string, std::size_t> at_;  // which file has a path now
  std::set<std::size_t> has_contents_;
};

}  // namespace

UndoPlan plan_undo(const std::vector<JobWrite>& writes) {
  UndoPlanner planner;
  for (const auto& write : writes) planner.add(write);
  return planner.finish();
}

}  // namespace indx
