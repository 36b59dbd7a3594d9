#include "cli/completion.hpp"

#include "base/text.hpp"
#include "cli/global_flags.hpp"

#include <algorithm>
#include <map>

namespace indx {
namespace {

/// Words typed so far → what may follow: words, and the flags once a command is complete.
std::map<std::string, std::vector<std::string>> completion_table(
    const std::vector<Command>& commands) {
  std::map<std::string, std::vector<std::string>> table;
  const auto add = [&table](const std::string& key, const std::string& word) {
    auto& words = table[key];
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  };
  for (const auto& command : commands) {
    std::string key;
    for (const auto& word : command.words) {
      add(key, word);
      key += key.empty() ? word : " " + word;
    }
    for (const auto& flag : command.flags)
      if (flag.is_listed) add(key, "--" + flag.name);
    for (const auto& positional : command.positionals)
      for (const auto& value : positional.schema.allowed) add(key, value);
    table[key];
  }
  return table;
}

std::vector<std::string> global_words() {
  std::vector<std::string> words;
  for (const auto& flag : global_flags()) words.push_back(cat("--", flag.name));
  return words;
}

/// The longest known run of words, flags left out, decides; bash and zsh (through bashcompinit)
/// share it.
std::string bash_script(const std::vector<Command>& commands) {
  std::string cases;
  for (const auto& [key, words] : completion_table(commands))
    cases += cat("    '", key, "') printf '%s' '", join(words, " "), "' ;;\n");
  return cat(R"(_indx_next() {
  case "$1" in
)",
             cases, R"(    *) return 1 ;;
  esac
}
_indx() {
  local key='' next='' word i
  next=$(_indx_next '')
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    case "$word" in -*) continue ;; esac
    if _indx_next "${key:+$key }$word" >/dev/null; then
      key="${key:+$key }$word"
      next=$(_indx_next "$key")
    fi
  done
  local globals=')",
             join(global_words(), " "), R"('
  COMPREPLY=($(compgen -W "$next $globals" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _indx indx
)");
}

std::string fish_script(const std::vector<Command>& commands) {
  std::string text = "complete -c indx -f\n";
  const auto quoted = [](const std::string& value) {
    return "'" + replace_all(replace_all(value, "\\", "\\\\"), "'", "\\'") + "'";
  };
  for (const auto& flag : global_flags())
    text += cat("complete -c indx -l ", flag.name, flag.value.empty() ? "" : " -r", " -d ",
                quoted(std::string(flag.help)), "\n");
  for (const auto& [key, words] : completion_table(commands)) {
    std::string condition = "__fish_use_subcommand";
    if (!key.empty())
      condition = "__fish_seen_subcommand_from " +
                  replace_all(key, " ", "; and __fish_seen_subcommand_from ");
    for (const auto& word : words)
      text += word.starts_with("--")
                  ? cat("complete -c indx -n ", quoted(condition), " -l ", word.substr(2), "\n")
                  : cat("complete -c indx -n ", quoted(condition), " -a ", quoted(word), "\n");
  }
  return text;
}

}  // namespace

std::string completion_script(const std::string& shell, const std::vector<Command>& commands) {
  if (shell == "bash") return bash_script(commands);
  if (shell == "zsh")
    return "#compdef indx\nautoload -Uz bashcompinit && bashcompinit\n" + bash_script(commands);
  return shell == "fish" ? fish_script(commands) : "";
}

}  // namespace indx
