#include "base/text.hpp"
#include "base/unicode.hpp"
#include "ops/jobs/undo.hpp"
#include "ops/links.hpp"
#include "ops/versions.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr int kMostDiffs = 100;
constexpr std::size_t kMostDiffedBytes = std::size_t{1} << 20U;  // of a file
constexpr std::size_t kMostDiffBytes = std::size_t{512} << 10U;  // of all diffs

bool is_at_or_below(const std::string& path, const std::string& folder) {
  return path == folder || path.starts_with(folder + "/");
}

UndoOutcome changed_since(const std::optional<std::string>& expected,
                          const std::optional<std::string>& actual) {
  return {.what = UndoOutcome::What::Changed,
          .expected = expected,
          .actual = actual,
          .message = actual ? "The file was changed since." : "The file is gone since."};
}

}  // namespace

std::optional<std::string> UndoPreview::real_path(const std::string& path) const {
  std::string real = path;
  for (auto it = folders_.rbegin(); it != folders_.rend(); ++it) {
    const auto& [from, to] = *it;
    if (is_at_or_below(real, to))
      real = from + real.substr(to.size());
    else if (is_at_or_below(real, from))
      return std::nullopt;
  }
  return real;
}

Result<UndoPreview::Seen> UndoPreview::look(const std::string& path) const {
  if (const auto known = changed_.find(path); known != changed_.end()) return known->second;
  const auto real = real_path(path);
  if (!real) return Seen();
  const auto file = ctx_.notes().read(INDX_TRY(NotePath::parse(*real)));
  if (!file.has_value() && file.error().reason == Reason::NotFound) return Seen();
  if (!file.has_value()) return file.error();
  if (file->path.str() != *real) return Seen();  // only its name in another case
  return Seen{file->etag, *real};
}

std::string UndoPreview::diff(const std::string& path, const Seen& now, const std::string& before) {
  std::string held;
  if (now.etag && !now.real_path.empty()) {
    const auto real = NotePath::parse(now.real_path);
    auto file = real.has_value() ? ctx_.notes().read(*real) : Result<NoteFile>(real.error());
    if (file.has_value()) held = std::move(file->bytes);
  }
  const bool is_text = held.size() <= kMostDiffedBytes && before.size() <= kMostDiffedBytes &&
                       is_valid_utf8(held) && is_valid_utf8(before);
  if (is_text && diffs_ < kMostDiffs && diff_bytes_ < kMostDiffBytes) {
    auto text = unified_diff(path, held, before);
    if (diff_bytes_ + text.size() <= kMostDiffBytes) {
      ++diffs_;
      diff_bytes_ += text.size();
      return text;
    }
  }
  ++diffs_left_out_;
  return {};
}

Result<UndoOutcome> UndoPreview::restore(const UndoFile& file, const UndoAct& act) {
  const auto now = look(act.path);
  if (!now.has_value()) return undo_outcome(UndoOutcome::What::Failed, now.error());
  if (now->etag != file.etag) return changed_since(file.etag, now->etag);
  std::string before;
  if (file.before_sha256) {
    auto kept = ctx_.versions().before_image(INDX_TRY(NotePath::parse(act.path)), job_,
                                             *file.before_sha256);
    if (!kept.has_value())
      return undo_outcome(kept.error().reason == Reason::NotFound ? UndoOutcome::What::Missing
                                                                  : UndoOutcome::What::Failed,
                          kept.error());
    before = std::move(*kept);
  }
  UndoOutcome done;
  done.diff = diff(act.path, *now, before);
  changed_[act.path] = {file.before_etag, ""};
  return done;
}

Result<UndoOutcome> UndoPreview::folder_back(const UndoAct& act) {
  const auto real = real_path(act.path);
  if (!real) return changed_since({}, {});
  const auto tree = ctx_.links().tree(INDX_TRY(NotePath::parse(*real)));
  if (!tree.has_value() && tree.error().reason == Reason::Forbidden)
    return UndoOutcome{.what = UndoOutcome::What::Hidden};
  if (!tree.has_value()) return changed_since({}, {});
  if (!may_use_files(ctx_, tree->files, *real, act.back_to))
    return UndoOutcome{.what = UndoOutcome::What::Hidden};
  const auto target = real_path(act.back_to);
  if (target && ctx_.links().tree(INDX_TRY(NotePath::parse(*target))).has_value())
    return name_taken("", act.back_to);
  std::vector<std::pair<std::string, Seen>> moved;
  for (auto it = changed_.begin(); it != changed_.end();) {
    if (is_at_or_below(it->first, act.path)) {
      moved.emplace_back(act.back_to + it->first.substr(act.path.size()), std::move(it->second));
      it = changed_.erase(it);
    } else {
      ++it;
    }
  }
  for (auto& [path, seen] : moved) changed_[path] = std::move(seen);
  folders_.emplace_back(act.path, act.back_to);
  return UndoOutcome();
}

Result<UndoOutcome> UndoPreview::move_back(const UndoAct& act, const std::string& etag) {
  if (act.kind == UndoAct::Kind::FolderBack) return folder_back(act);
  const auto source = look(act.path);
  if (!source.has_value()) return undo_outcome(UndoOutcome::What::Failed, source.error());
  if (source->etag != etag) return changed_since(etag, source->etag);
  const auto target = look(act.back_to);
  if (!target.has_value()) return undo_outcome(UndoOutcome::What::Failed, target.error());
  if (target->etag) return name_taken(etag, act.back_to);
  changed_[act.back_to] = *source;
  changed_[act.path] = {};
  return UndoOutcome();
}

}  // namespace indx
