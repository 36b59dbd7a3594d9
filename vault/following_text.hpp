#pragma once
#include "base/result.hpp"

#include <string>
#include <string_view>

namespace indx {

/// Internal to `vault/`: what stands behind an edit is read as before.

/// `after` is an edit of `before` that keeps all bytes from `from` on. Fails with
/// `validation_failed` when a line of text there would become a part of code, math, HTML or a
/// comment that the edit leaves open, or a heading would be no target any more.
Status check_following(std::string_view before, std::size_t from, std::string_view after);
/// The same for a result.
Result<std::string> with_following(std::string_view before, std::size_t from,
                                   Result<std::string> after);

}  // namespace indx
