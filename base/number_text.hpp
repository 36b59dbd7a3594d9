#pragma once
#include "base/error.hpp"

#include <optional>
#include <string_view>

namespace indx {

/// The first whole number in a JSON text that neither 64 bits nor a `double` can hold, as it is
/// spelled there. A parser would round it, and what is written then is not what was asked for.
std::optional<std::string_view> oversized_integer(std::string_view json);
/// `validation_failed` for such a number in `what`.
Error number_too_large(std::string_view what, std::string_view number);

}  // namespace indx
