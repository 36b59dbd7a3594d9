#pragma once
#include "actors/core.hpp"
#include "base/cancel.hpp"
#include "ops/doctor.hpp"

#include <functional>
#include <string>

namespace indx {

/// Makes an index of the files in a scratch folder beside the real one and compares the two. What a
/// try of a job read there is there for the next try, unless the machine was started anew.
class EngineDoctor : public Doctor {
 public:
  using TellProgress = std::function<void(const JobProgress&)>;
  struct Caller {
    CancelToken cancel;
    std::string job;  ///< its id; empty for a call that nobody goes on with
    TellProgress tell;
    /// Commits a change together with the step that it is.
    std::function<Result<Json>(std::function<Result<Json>(State&)>)> commit;
  };
  EngineDoctor(Core& core, Caller caller) : core_(core), caller_(std::move(caller)) {}

  Result<Checkup> examine() override;
  Result<Pruned> prune() override;

 private:
  Status check_index(Checkup& checkup);
  /// With the index that is made in the folder `scratch`.
  Status compare_index(Checkup& checkup, const std::string& scratch, const ParseOptions& options);
  Status check_state(Checkup& checkup);
  void check_temp_files(Checkup& checkup);

  Core& core_;
  Caller caller_;
};

}  // namespace indx
