#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace indx {

/// Markdown as a terminal of `width` columns shows it: headings, emphasis, lists and tasks, quotes,
/// code, tables, links with their address. Without colour, headings keep their `#` and code its
/// backticks. What the text holds cannot steer the terminal, also not through entities such as
/// `&#27;`; HTML is shown as it is written. Ends with a line feed unless empty.
std::string markdown_text(std::string_view markdown, std::size_t width, bool has_color);

}  // namespace indx
