#pragma once
#include "actors/core.hpp"
#include "ops/files.hpp"

namespace indx {

/// Files that are no notes, over the vault and the index, for one caller.
class EngineFiles : public Files {
 public:
  EngineFiles(Core& core, PathScope scope) : core_(core), scope_(std::move(scope)) {}

  Result<Page<AttachmentRow>> list(AttachmentFilter filter, int limit,
                                   const std::string& cursor) override;
  Result<OpenedFile> open(const NotePath& path) override;

 private:
  Result<std::string> etag_of_opened(const Vault::Opened& file);

  Core& core_;
  const PathScope scope_;
};

}  // namespace indx
