#pragma once
#include "actors/core.hpp"
#include "base/cancel.hpp"
#include "ops/doctor.hpp"

#include <functional>
#include <string>

namespace indx {

/// Makes an index of the files in a scratch folder beside the real one and compares the two.
class EngineDoctor : public Doctor {
 public:
  using TellProgress = std::function<void(const JobProgress&)>;
  EngineDoctor(Core& core, CancelToken cancel, TellProgress tell)
      : core_(core), cancel_(std::move(cancel)), tell_(std::move(tell)) {}

  Result<Checkup> examine() override;
  Result<Pruned> prune() override;

 private:
  Status check_index(Checkup& checkup);
  Status check_state(Checkup& checkup);
  void check_temp_files(Checkup& checkup);

  Core& core_;
  CancelToken cancel_;
  TellProgress tell_;
};

}  // namespace indx
