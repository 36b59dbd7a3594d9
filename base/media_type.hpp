#pragma once
#include <string_view>

namespace indx {

/// What a file is by the extension of its name: `image/png`; `application/octet-stream` for one
/// that is not known.
std::string_view media_type_of(std::string_view path);

/// Whether a browser may show it in place: it cannot run scripts in the page's origin.
bool is_safe_to_show(std::string_view media_type);

}  // namespace indx
