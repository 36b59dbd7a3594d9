#include "cli/man_page.hpp"

#include "base/config_table.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/global_flags.hpp"
#include "cli/help.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace indx {
namespace {

using ManRow = std::pair<std::string_view, std::string_view>;

constexpr std::array kExits = {
    ManRow{"0", "Done."},
    ManRow{"1", "Internal, or what is needed cannot be reached."},
    ManRow{"2", "Usage or validation."},
    ManRow{"3", "Not found."},
    ManRow{"4", "A precondition failed, or --yes is missing."},
    ManRow{"5", "Not allowed."},
    ManRow{"6", "AI is unavailable."},
    ManRow{"7", "The AI quota is exceeded."},
    ManRow{"8", "The AI provider failed."},
};

/// Text as roff reads it: nothing in it is a request, a font change or a hyphenation point.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\'')
      out += "\\(aq";
    else if (c == '`')
      out += "\\(ga";
    else if (c == '^')
      out += "\\(ha";
    else if (c == '~')
      out += "\\(ti";
    else if (c == '\n')
      out += ' ';
    else
      out += c;
  }
  return out.starts_with('.') ? "\\&" + out : out;
}

std::string tagged(const std::string& tag, std::string_view text) {
  return cat(".TP\n.B ", roff(tag), "\n", text.empty() ? "\\&" : roff(text), "\n");
}

std::string with_value(std::string_view name, std::string_view value) {
  return cat("--", name, value.empty() ? "" : " ", value);
}

std::string command_section(const Command& command) {
  std::string text = cat(".SS indx ", roff(usage_of(command)), "\n", roff(command.summary), "\n");
  if (!command.guidance.empty()) text += cat(".PP\n", roff(command.guidance), "\n");
  for (const auto& positional : command.positionals()) {
    std::string name = positional.name;
    std::transform(name.begin(), name.end(), name.begin(), [](char c) {
      return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    text += tagged(name, positional.schema.description);
  }
  for (const auto& flag : command.flags())
    if (flag.is_listed) text += tagged(flag_usage(flag), flag_about(flag));
  for (const auto& flag : command.flags())
    if (const auto members = members_of(flag); flag.is_listed && !members.empty()) {
      text += cat(".PP\n", roff(cat("Each of --", flag.name, " is an object with:")), "\n");
      for (const auto& member : members) text += tagged(member.name, member.about);
    }
  return text + cat(".PP\n", roff("Example: " + example_of(command)), "\n");
}

std::string environment_section() {
  std::string text = ".SH ENVIRONMENT\n";
  for (const auto& row : place_variables()) text += tagged(std::string(row.name), row.about);
  for (const auto& key : config_keys())
    if (!key.variable.empty()) text += tagged(key.variable, key.about);
  return text;
}

template <typename Rows>
std::string rows_section(std::string_view title, const Rows& rows) {
  std::string text = cat(".SH ", title, "\n");
  for (const auto& [name, about] : rows) text += tagged(std::string(name), about);
  return text;
}

}  // namespace

std::string man_page(const std::vector<Command>& commands) {
  std::string text = cat(
      ".TH INDX 1 2026-11-28 \"indx ", kVersion,
      "\" \"User Commands\"\n.SH NAME\nindx \\- a folder of Markdown notes as a service for people "
      "and agents\n.SH SYNOPSIS\n.B indx\n[\\fIglobal flags\\fR] \\fINOUN VERB\\fR "
      "[\\fIarguments\\fR] [\\fIflags\\fR]\n.SH DESCRIPTION\n",
      roff("Results are JSON on stdout, on one line unless stdout is a terminal, where lists are "
           "tables. Everything else goes to stderr. When a command fails, stdout stays empty and "
           "stderr gets the error, then the same as JSON on a line of its own."),
      "\n.PP\n",
      roff("A command runs at the server given by --remote or INDX_URL; else at the live server of "
           "the vault; else in this process. Texts and JSON may be given as @FILE, or - for stdin; "
           "@@ stands for @."),
      "\n.SH GLOBAL FLAGS\n");
  for (const auto& flag : global_flags())
    text += tagged(with_value(flag.name, flag.value), flag.help);
  text += ".SH COMMANDS\n";
  for (const auto& command : commands) text += command_section(command);
  text += rows_section("EXIT STATUS", kExits) + environment_section();
  return text + cat(".SH FILES\n", tagged(".indx/", "In the vault: index, state and settings."),
                    tagged(".indx/config.json", "Settings of the vault."),
                    tagged(".indx/token", "The token of the vault's owner."));
}

}  // namespace indx
