#pragma once
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

#include <string>
#include <string_view>

namespace indx {

/// Why a step of a patch is refused: a field that its `op` needs is missing (`given` false), or one
/// is there that does not belong to it. `means` joins the field and the op: "is required by",
/// "means nothing to".
inline Error wrong_step_field(std::size_t op_index, std::string_view field, std::string_view means,
                              std::string_view op, bool given) {
  const std::string at = cat("ops[", op_index, "].", field);
  return invalid(cat("`", at, "` ", means, " `", op, "`."),
                 Json{{"path", at},
                      {"expected", given ? "nothing" : "a value"},
                      {"actual", given ? "a value" : "missing"},
                      {"op_index", op_index}});
}

}  // namespace indx
