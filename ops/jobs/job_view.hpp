#pragma once
#include "ops/context.hpp"
#include "ops/define.hpp"

namespace indx {

/// A job of the caller, or of anyone for an admin. Someone else's job is `not_found`: ids are no
/// capabilities.
Result<Job> find_job(Context& ctx, const std::string& id);

template <typename Struct>
Field<Struct> job_id_field(std::string Struct::*member) {
  return field("id", member, "Id of the job.", length(1, 64));
}

}  // namespace indx
