#include "cli/output.hpp"

#include "base/json_text.hpp"
#include "cli/answer_view.hpp"
#include "cli/terminal.hpp"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <unistd.h>

namespace indx {
namespace {

std::string line_of(const Json& json) { return json_text(json) + "\n"; }

}  // namespace

bool is_terminal(int fd) { return ::isatty(fd) == 1; }

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) {
      pollfd ready{fd, POLLOUT, 0};
      ::poll(&ready, 1, 1000);
      continue;
    }
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::string data_text(const Json& data, bool is_pretty) {
  return is_pretty ? data.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"
                   : line_of(data);
}

std::string lines_text(const Operation& operation, const Json& data) {
  if (const auto* text = operation.text_of(data)) return *text;
  const auto list = operation.list.empty() ? data.end() : data.find(operation.list);
  if (list != data.end() && list->is_array()) {
    std::string lines;
    for (const auto& item : *list) lines += line_of(item);
    for (const auto& gap : operation.gap_lines(data)) lines += line_of(gap);
    return lines;
  }
  return line_of(data);
}

bool print_lines_text(const Operation& operation, const Json& data) {
  auto text = lines_text(operation, data);
  const auto is_control = [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t') ||
           c == 0x7F;
  };
  if (is_terminal(STDOUT_FILENO)) std::replace_if(text.begin(), text.end(), is_control, ' ');
  return write_all(STDOUT_FILENO, text);
}

std::string error_text(const Error& error) {
  std::string message = error.message;
  std::replace(message.begin(), message.end(), '\n', ' ');
  const bool has_color = is_terminal(STDERR_FILENO) && wants_color();
  return (has_color ? "\x1b[1;31merror:\x1b[0m " : "error: ") + message + "\n" +
         line_of(error.to_json());
}

int print_result(const Result<Json>& result) {
  if (!result) return print_error(result.error());
  return write_all(STDOUT_FILENO, data_text(*result, is_terminal(STDOUT_FILENO))) ? 0 : 1;
}

int print_for_people(const Operation& operation, const Json& data) {
  const auto width = terminal_width(STDOUT_FILENO);
  if (operation.is_ai && operation.needs_provider)
    return write_all(STDOUT_FILENO, answer_text(data, width, wants_color())) ? 0 : 1;
  const std::string table = table_text(operation, data, width, wants_color());
  return table.empty() ? print_result(data) : write_all(STDOUT_FILENO, table) ? 0 : 1;
}

int print_error(const Error& error) {
  write_all(STDERR_FILENO, error_text(error));
  return error.exit_code();
}

}  // namespace indx
