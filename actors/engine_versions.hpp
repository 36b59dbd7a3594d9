#pragma once
#include "actors/core.hpp"
#include "ops/versions.hpp"
#include "vault/note_query.hpp"

namespace indx {

/// Versions, over state.db, for one caller.
class EngineVersions : public Versions {
 public:
  EngineVersions(Core& core, PathScope scope) : core_(core), scope_(std::move(scope)) {}

  Result<Page<VersionRow>> list(const NotePath& path, int limit,
                                const std::string& cursor) override;
  Result<KeptVersion> read(const NotePath& path, std::int64_t id) override;
  Result<std::string> before_image(const NotePath& path, const JobId& job,
                                   const std::string& sha256) override;
  Result<std::vector<std::string>> reverted_by(const JobId& job) override;

 private:
  Status check_in_scope(const NotePath& path) const;

  Core& core_;
  const PathScope scope_;
};

}  // namespace indx
