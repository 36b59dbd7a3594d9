#pragma once
#include "actors/core.hpp"
#include "actors/visible_files.hpp"
#include "ops/files.hpp"

namespace indx {

/// Files that are no notes, over the vault and the index, for one caller.
class EngineFiles : public Files {
 public:
  EngineFiles(Core& core, const PathScope& scope)
      : core_(core), scope_(scope), visible_(core.parts.vault, core.parts.config, scope) {}

  Result<Page<AttachmentRow>> list(AttachmentFilter filter, int limit,
                                   const std::string& cursor) override;
  Result<OpenedFile> open(const NotePath& path) override;

 private:
  Result<std::string> etag_of_opened(const Vault::Opened& file);

  Core& core_;
  const PathScope scope_;
  const VisibleFiles visible_;
};

}  // namespace indx
