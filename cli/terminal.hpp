#pragma once
#include "ops/operation.hpp"

#include <cstddef>
#include <string>

namespace indx {

/// Columns of the terminal behind a descriptor; 80 when it does not say.
std::size_t terminal_width(int fd);
std::size_t terminal_height(int fd);  ///< its lines; 24 when it does not say
/// Whether colours are welcome: not with NO_COLOR, and not on a dumb terminal.
bool wants_color();

/// For people, on a terminal: a list as a table of the columns that its rows have in common, what
/// else the answer says below it. Empty when the answer is no list.
std::string table_text(const Operation& operation, const Json& data, std::size_t width,
                       bool has_color);

}  // namespace indx
