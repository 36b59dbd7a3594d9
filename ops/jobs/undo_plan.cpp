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
    if (const auto number = put_back_file(path, write)) {
      start_again(*number, path);
      return *number;
    }
    const auto known = at_.find(path);
    if (known == at_.end()) {
      plan_.files.push_back({.path = path,
                             .last_path = path,
                             .places = {path},
                             .before_sha256 = write.before_sha256,
                             .before_etag = write.before_etag,
                             .etag = write.before_etag});
      at_[path] = first_at_[path] = plan_.files.size() - 1;
      return plan_.files.size() - 1;
    }
    auto& file = plan_.files[known->second];
    if (file.etag != write.before_etag && !file.foreign_change)
      file.foreign_change = {file.etag, write.before_etag};
    return known->second;
  }

  /// The file that the write finds as it was before the job, although the job had changed it: it
  /// was undone in between, and the job tried again.
  std::optional<std::size_t> put_back_file(const std::string& path, const JobWrite& write) const {
    const auto first = first_at_.find(path);
    if (first == first_at_.end()) return std::nullopt;
    if (plan_.files[first->second].before_etag != write.before_etag) return std::nullopt;
    const auto known = at_.find(path);
    const bool stands_there = known != at_.end() && known->second == first->second;
    if (!write.before_etag && !stands_there) return std::nullopt;  // another that the job made
    const bool is_as_left =
        known != at_.end() && plan_.files[known->second].etag == write.before_etag;
    return is_as_left ? std::nullopt : std::optional(first->second);
  }

  void start_again(std::size_t number, const std::string& path) {
    auto& file = plan_.files[number];
    file.etag = file.before_etag;
    file.foreign_change = {};
    const auto left = at_.find(file.last_path);
    if (file.last_path == path && left != at_.end() && left->second == number) return;
    // Its moves were undone too.
    std::erase_if(plan_.acts, [&](const UndoAct& act) {
      return act.kind != UndoAct::Kind::FolderBack && act.file == number;
    });
    has_contents_.erase(number);
    if (left != at_.end() && left->second == number) at_.erase(left);
    file.places.clear();
    place(number, path);
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
    plan_.acts.push_back(
        {.kind = UndoAct::Kind::Contents, .path = write.path, .file = number, .number = number_});
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
                          .number = number_});
    plan_.has_moves = true;
  }

  void add_folder(const JobWrite& write) {
    UndoAct act{.kind = UndoAct::Kind::FolderBack,
                .path = write.path,
                .back_to = *write.moved_from,
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
    plan_.has_moves = true;
    const auto last =
        std::find_if(plan_.acts.rbegin(), plan_.acts.rend(),
                     [](const UndoAct& other) { return other.kind == UndoAct::Kind::FolderBack; });
    if (last != plan_.acts.rend() && last->path == act.path && last->back_to == act.back_to) {
      // The same again, for it was undone in between: one move back is enough, the last one, and
      // what was written in the folder after the first was undone too.
      for (const auto number : last->inside)
        if (std::find(act.inside.begin(), act.inside.end(), number) == act.inside.end())
          act.inside.push_back(number);
      plan_.acts.erase(std::next(last).base());
      std::erase_if(plan_.acts, [&](const UndoAct& other) {
        const bool is_in_it =
            other.kind == UndoAct::Kind::Contents && other.path.starts_with(act.path + "/");
        if (is_in_it) has_contents_.erase(other.file);
        return is_in_it;
      });
    }
    plan_.acts.push_back(std::move(act));
  }

  UndoPlan plan_;
  std::size_t number_ = 0;
  std::map<std::string, std::size_t> at_;        // which file has a path now
  std::map<std::string, std::size_t> first_at_;  // which file had a path when it was first written
  std::set<std::size_t> has_contents_;
};

}  // namespace

UndoPlan plan_undo(const std::vector<JobWrite>& writes) {
  UndoPlanner planner;
  for (const auto& write : writes) planner.add(write);
  return planner.finish();
}

}  // namespace indx
