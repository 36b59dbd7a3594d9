#pragma once
#include <string_view>

namespace indx {

/// Internal to `vault/`: the HTML blocks of CommonMark 0.29, section 4.6, whose kinds it numbers.

/// The kind (1 to 7) of HTML block that a line starts, 0 for none.
int html_block_kind(std::string_view text, bool in_paragraph);
/// Whether a block of kinds 1 to 5 ends with this line; those of 6 and 7 end before a blank one.
bool ends_html_block(int kind, std::string_view text);

}  // namespace indx
