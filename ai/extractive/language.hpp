#pragma once
#include <string>
#include <string_view>

namespace indx {

/// The language of a text as its ISO 639-1 code: by script where one script means one language,
/// else by the share of each language's commonest function words. Empty: too short, or no language
/// stands out.
std::string language_of(std::string_view text);

}  // namespace indx
