#pragma once
#include <cstddef>
#include <string_view>

namespace indx {

/// Internal to `vault/`: tags as they are written (rule 4.2).

/// The end of the tag that begins at `begin`, after the `#`; `begin` if there is none.
std::size_t tag_end(std::string_view text, std::size_t begin);
/// Whether white space or nothing stands before `at`, where a tag may begin.
bool white_space_before(std::string_view text, std::size_t at);

}  // namespace indx
