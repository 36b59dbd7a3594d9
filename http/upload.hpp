#pragma once
#include "http/router.hpp"
#include "ops/dispatch.hpp"

#include <memory>

namespace indx {

/// The file that a request brings for an operation that takes one: its body, or the one file of a
/// multipart/form-data body, whose other parts are fields of the input.
Result<std::shared_ptr<const Upload>> read_upload(const Operation& operation,
                                                  const HttpRequest& request, Json& input);

}  // namespace indx
