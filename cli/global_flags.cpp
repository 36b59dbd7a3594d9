#include "cli/global_flags.hpp"

#include <algorithm>
#include <array>

namespace indx {
namespace {

using G = GlobalFlags;

GlobalFlag text_flag(std::string_view name, std::string_view value,
                     std::optional<std::string> G::*member, std::string_view help) {
  return {name, value, help, member, nullptr};
}
GlobalFlag switch_flag(std::string_view name, bool G::*member, std::string_view help) {
  return {name, "", help, nullptr, member};
}

}  // namespace

std::span<const GlobalFlag> global_flags() {
  static const std::array rows = {
      text_flag("vault", "DIR", &G::vault,
                "The vault; default $INDX_VAULT, then the current folder."),
      text_flag("remote", "URL", &G::remote,
                "Ask this server instead of opening a vault; default $INDX_URL."),
      text_flag("token", "TOKEN", &G::token,
                "Token for the server; default $INDX_TOKEN, or the owner's of a local server."),
      switch_flag("local", &G::local,
                  "Open the vault here; fails with exit 4 when a live server holds it."),
      switch_flag("yes", &G::yes, "Confirm a command that may lose something."),
      switch_flag("ndjson", &G::ndjson, "Print a list as one JSON object a line."),
      switch_flag("json", &G::json,
                  "Print JSON on a terminal too, where lists are tables and AI answers a text."),
      switch_flag("stream", &G::stream,
                  "Print the events of the call, one JSON object a line, as they come."),
      text_flag("idempotency-key", "KEY", &G::idempotency_key,
                "Repeat the call safely: the same key gives the same answer."),
      text_flag("if-match", "ETAG", &G::if_match,
                "Write only if the file is still at this version."),
      switch_flag("dry-run", &G::dry_run, "Show what would change; write nothing."),
      switch_flag("async", &G::is_async, "Answer with a job at once."),
      switch_flag("no-scan", &G::no_scan, "Trust the index; do not look for changed files first."),
      text_flag("log-level", "LEVEL", &G::log_level,
                "debug, info, warn or error; default warn, for servers info."),
      text_flag("log-format", "FORMAT", &G::log_format, "text or json."),
      switch_flag("help", &G::help, "Show help and end."),
      switch_flag("version", &G::version, "Show the version and end."),
  };
  return rows;
}

const GlobalFlag* find_global_flag(std::string_view name) {
  const auto rows = global_flags();
  const auto it = std::find_if(rows.begin(), rows.end(),
                               [&](const GlobalFlag& row) { return row.name == name; });
  return it == rows.end() ? nullptr : &*it;
}

}  // namespace indx
