#pragma once
#include "base/result.hpp"
#include "ops/operation.hpp"

#include <string>
#include <string_view>

namespace indx {

bool is_terminal(int fd);
/// All of it to the descriptor; false when the reader is gone.
bool write_all(int fd, std::string_view bytes);

/// One line of JSON, or several on a terminal.
std::string data_text(const Json& data, bool is_pretty);
/// The text that the answer is. Else with `--ndjson` the list that it is about, one item a line;
/// the whole when it is no list.
std::string lines_text(const Operation& operation, const Json& data);
/// Prints lines_text; false when the reader is gone. A terminal gets no control characters.
bool print_lines_text(const Operation& operation, const Json& data);
/// `error: message`, then the JSON of the error on a line of its own.
std::string error_text(const Error& error);

/// Prints data on stdout or the error on stderr; gives the exit code.
int print_result(const Result<Json>& result);
/// On a terminal: lists as tables, answers of AI operations as text, all else as JSON in several
/// lines.
int print_for_people(const Operation& operation, const Json& data);
int print_error(const Error& error);

}  // namespace indx
