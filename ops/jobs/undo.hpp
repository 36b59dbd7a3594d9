#pragma once
#include "base/ids.hpp"
#include "ops/context.hpp"
#include "ops/jobs/undo_plan.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace indx {

/// How one act of an undo went.
struct UndoOutcome {
  enum class What : std::uint8_t {
    Done,
    Changed,  ///< the file is not as the job left it, or its old name is taken: left alone
    Missing,  ///< what it held before is kept no longer
    Failed,
    Hidden  ///< the caller may not use all of it
  };
  What what = What::Done;
  std::optional<std::string> expected = {}, actual = {};  ///< Changed: etags; empty: no file
  std::string code = {}, message = {};                    ///< why not
  std::string diff = {};                                  ///< of a preview
};

/// Does acts, or only tells what they would do. An Error ends the undo; it goes on with the next
/// try.
class Undoing {
 public:
  virtual ~Undoing() = default;
  /// Gives the file what it held before the job, if it is as the job left it: `file.etag`.
  virtual Result<UndoOutcome> restore(const UndoFile& file, const UndoAct& act) = 0;
  /// The same for a move; `etag` of the file, empty for a folder.
  virtual Result<UndoOutcome> move_back(const UndoAct& act, const std::string& etag) = 0;
};

/// One restore as a step of the context with this key; a note that the job made goes to the trash.
Result<UndoOutcome> restore_file(Context& ctx, const JobId& job, const UndoFile& file,
                                 const UndoAct& act, const std::string& key);

/// Does each act as a step of its own, named by its number. A race with an editor is lost.
class WritingUndo : public Undoing {
 public:
  WritingUndo(Context& ctx, JobId job) : ctx_(ctx), job_(std::move(job)) {}
  Result<UndoOutcome> restore(const UndoFile& file, const UndoAct& act) override;
  Result<UndoOutcome> move_back(const UndoAct& act, const std::string& etag) override;

 private:
  Context& ctx_;
  const JobId job_;
};

/// Looks at the files and at what earlier acts would have made of them. Writes nothing.
class UndoPreview : public Undoing {
 public:
  UndoPreview(Context& ctx, JobId job) : ctx_(ctx), job_(std::move(job)) {}
  Result<UndoOutcome> restore(const UndoFile& file, const UndoAct& act) override;
  Result<UndoOutcome> move_back(const UndoAct& act, const std::string& etag) override;
  /// Diffs that would have made the answer too long, or are of bytes that are no text.
  int diffs_left_out() const { return diffs_left_out_; }

 private:
  struct Seen {
    std::optional<std::string> etag;  ///< empty: no file
    std::string real_path;  ///< where its bytes are now; empty: they are the restored ones
  };
  /// Where a path of the preview is on disk; nullopt: a folder that stood there has moved away.
  std::optional<std::string> real_path(const std::string& path) const;
  Result<Seen> look(const std::string& path) const;
  Result<UndoOutcome> folder_back(const UndoAct& act);
  std::string diff(const std::string& path, const Seen& now, const std::string& before);

  Context& ctx_;
  const JobId job_;
  std::map<std::string, Seen> changed_;
  std::vector<std::pair<std::string, std::string>> folders_;  ///< moved back: from, to
  int diffs_ = 0, diffs_left_out_ = 0;
  std::size_t diff_bytes_ = 0;
};

/// Of what ends with this error.
UndoOutcome undo_outcome(UndoOutcome::What what, const Error& error);

/// Whether the caller may use these files of the folder `from`, there and at `to`.
bool may_use_files(Context& ctx, const std::vector<std::string>& files, const std::string& from,
                   const std::string& to);

/// What is said of a name that something else has by now.
UndoOutcome name_taken(const std::string& etag, const std::string& name);

}  // namespace indx
