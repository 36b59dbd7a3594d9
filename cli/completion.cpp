#include "cli/completion.hpp"

#include "base/log.hpp"
#include "base/text.hpp"
#include "cli/output.hpp"
#include "cli/place.hpp"

#include <algorithm>
#include <array>
#include <unistd.h>

namespace indx {
namespace {

/// As a shell would read the word, also when its quote is still open.
std::string unquoted(const std::string& typed) {
  std::string word;
  char quote = 0;
  for (std::size_t i = 0; i < typed.size(); ++i) {
    const char c = typed[i];
    if (quote != 0 && c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else {
      if (c == '\\' && quote != '\'' && i + 1 < typed.size()) ++i;
      word += typed[i];
    }
  }
  return word;
}

/// Which names of the vault an argument or flag of this name takes.
std::string value_kind(const std::string& noun, const std::string& name) {
  if (name == "tag") return "tag";
  if (name == "id" || name == "jobs") return noun == "job" ? "job" : "";
  if (name != "path" && name != "paths" && name != "from" && name != "to") return "";
  if (noun == "tag") return "tag";
  return noun == "attachment" || noun == "canvas" || noun == "base" ? "attachment" : "note";
}

class Completer {
 public:
  Completer(const std::vector<std::string>& typed, const std::vector<Command>& commands)
      : commands_(commands) {
    for (const auto& word : typed) typed_.push_back(unquoted(word));
    if (typed_.empty()) typed_.emplace_back();
  }

  Completion run() {
    for (std::size_t i = 0; i + 1 < typed_.size(); ++i) {
      const auto& word = typed_[i];
      if (word == "--") return after_dashes();
      if (!word.starts_with("--")) {
        take_word(word);
        continue;
      }
      const bool has_value = word.find('=') != word.npos;
      const auto name = word.substr(2, has_value ? word.find('=') - 2 : word.npos);
      if (!wants_value(name)) {
        set_global(name, "true");
      } else if (has_value) {
        set_global(name, word.substr(word.find('=') + 1));
      } else if (i + 2 == typed_.size()) {
        result_.prefix = typed_.back();
        return value_of_flag(name);
      } else {
        set_global(name, typed_[++i]);
      }
    }
    return last_word();
  }

 private:
  const Flag* find_flag(const std::string& name) const {
    return command_ == nullptr ? nullptr : command_->find_flag(name);
  }
  bool wants_value(const std::string& name) const {
    if (const auto* flag = find_flag(name)) return !flag->value.empty();
    const auto* global = find_global_flag(name);
    return global != nullptr && global->text != nullptr;
  }
  void set_global(const std::string& name, const std::string& value) {
    const auto* global = find_flag(name) != nullptr ? nullptr : find_global_flag(name);
    if (global != nullptr && global->text != nullptr) result_.global.*global->text = value;
    if (global != nullptr && global->is_on != nullptr) result_.global.*global->is_on = true;
  }

  void take_word(const std::string& word) {
    auto longer = words_;
    longer.push_back(word);
    const bool names_command = std::any_of(commands_.begin(), commands_.end(), [&](const auto& c) {
      return c.words.size() >= longer.size() &&
             std::equal(longer.begin(), longer.end(), c.words.begin());
    });
    if (arguments_ > 0 || !names_command) {
      ++arguments_;
      return;
    }
    words_ = std::move(longer);
    command_ = nullptr;
    for (const auto& command : commands_)
      if (command.words == words_) command_ = &command;
  }

  void offer(const std::string& text, const std::string& about) {
    const bool is_new = std::none_of(result_.words.begin(), result_.words.end(),
                                     [&](const auto& word) { return word.text == text; });
    if (is_new && text.starts_with(result_.prefix)) result_.words.push_back({text, about});
  }
  void offer_values(const std::string& name, const SchemaNode& schema) {
    const SchemaNode& one = schema.items ? *schema.items : schema;
    for (const auto& value : one.allowed) offer(value, "");
    for (const auto& value : schema.allowed) offer(value, "");
    if (one.allowed.empty() && schema.allowed.empty())
      result_.value_of = value_kind(words_.empty() ? "" : words_[0], name);
  }

  Completion value_of_flag(const std::string& name) {
    if (const auto* flag = find_flag(name)) {
      offer_values(flag->target.back(), flag->schema);
      result_.takes_file = result_.value_of.empty() && result_.words.empty();
      return result_;
    }
    result_.takes_file = name == "vault";
    if (name == "log-level")
      for (const auto* level : {"debug", "info", "warn", "error"}) offer(level, "");
    if (name == "log-format")
      for (const auto* format : {"text", "json"}) offer(format, "");
    return result_;
  }

  Completion last_word() {
    result_.prefix = typed_.back();
    if (const auto equals = result_.prefix.find('=');
        result_.prefix.starts_with("--") && equals != result_.prefix.npos)
      return result_;  // shells differ in where such a word begins
    if (result_.prefix.starts_with("-")) {
      if (command_ != nullptr)
        for (const auto& flag : command_->flags())
          if (flag.is_listed) offer(flag_text(flag), flag.schema.description);
      for (const auto& flag : global_flags()) offer(cat("--", flag.name), std::string(flag.help));
      return result_;
    }
    if (arguments_ == 0)
      for (const auto& command : commands_)
        if (command.words.size() > words_.size() &&
            std::equal(words_.begin(), words_.end(), command.words.begin()))
          offer(command.words[words_.size()],
                command.words.size() == words_.size() + 1 ? command.summary : "");
    return argument();
  }
  Completion after_dashes() {
    result_.prefix = typed_.back();
    return argument();
  }
  Completion argument() {
    if (command_ == nullptr || arguments_ >= command_->positionals().size()) return result_;
    const auto& positional = command_->positionals()[arguments_];
    offer_values(positional.name, positional.schema);
    result_.takes_file = command_->takes_file() && positional.name == kFileArgument;
    return result_;
  }
  static std::string flag_text(const Flag& flag) {
    const bool is_on = flag.value.empty() && flag.schema.default_value == Json(true);
    return cat(is_on ? "--no-" : "--", flag.name);
  }

  const std::vector<Command>& commands_;
  std::vector<std::string> typed_;
  std::vector<std::string> words_;
  const Command* command_ = nullptr;
  std::size_t arguments_ = 0;
  Completion result_;
};

/// Where names of a kind come from: the operation, its list, and what of a row is the name.
struct NameSource {
  std::string_view kind, operation, list, name;
};
constexpr std::array kNameSources = {
    NameSource{"note", "note_list", "notes", "path"},
    NameSource{"attachment", "attachment_list", "attachments", "path"},
    NameSource{"tag", "tag_list", "tags", "tag"},
    NameSource{"job", "job_list", "jobs", "id"},
};

void add_names(Completion& completion, const Environment& env, const Registry& registry) {
  const auto source =
      std::find_if(kNameSources.begin(), kNameSources.end(),
                   [&](const NameSource& row) { return row.kind == completion.value_of; });
  const auto* operation = source == kNameSources.end() ? nullptr : registry.find(source->operation);
  if (operation == nullptr) return;
  completion.global.no_scan = true;
  auto place = open_place(completion.global, env, registry, {});
  if (!place) return;  // a shell has no use for the reason
  Call call;
  call.operation = operation;
  call.principal = place->principal;
  if (operation->input->find("path_glob") != nullptr && !completion.prefix.empty())
    call.input["path_glob"] = glob_of_prefix(completion.prefix);
  if (operation->input->find("limit") != nullptr) call.input["limit"] = 100;
  const auto answer = place->dispatcher->call_and_wait(std::move(call));
  const auto rows = answer.result ? answer.result->value(std::string(source->list), Json::array())
                                  : Json::array();
  for (const auto& row : rows) {
    const auto name = row.value(std::string(source->name), std::string());
    const bool fits = name.starts_with(completion.prefix) && name.find('\n') == name.npos;
    if (fits) completion.words.push_back({name, row.value("title", row.value("kind", ""))});
  }
}

constexpr std::string_view kBashScript = R"sh(_indx() {
  local line cur=${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o filenames
      mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$cur")
    else
      COMPREPLY+=("$(printf '%q' "${line%%$'\t'*}")")
    fi
  done < <("${COMP_WORDS[0]}" __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
}
complete -F _indx indx
)sh";

constexpr std::string_view kZshScript = R"sh(#compdef indx
_indx() {
  local line
  local -a found
  for line in "${(@f)$("${words[1]}" __complete -- "${(@)words[2,CURRENT]}" 2> /dev/null)}"; do
    if [[ $line == :files ]]; then
      _files
    elif [[ -n $line ]]; then
      found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    fi
  done
  (( $#found )) && _describe -V indx found
}
if [[ ${funcstack[1]} == _indx ]]; then _indx "$@"; else compdef _indx indx; fi
)sh";

constexpr std::string_view kFishScript = R"sh(function __indx_complete
  set -l typed (commandline -opc)
  $typed[1] __complete -- $typed[2..-1] (commandline -ct) 2> /dev/null
end
complete -c indx -f -a '(__indx_complete | string match -v :files)'
complete -c indx -n '__indx_complete | string match -q :files' -F
)sh";

}  // namespace

std::string completion_script(const std::string& shell) {
  if (shell == "bash") return std::string(kBashScript);
  if (shell == "zsh") return std::string(kZshScript);
  return std::string(shell == "fish" ? kFishScript : "");
}

Completion complete(const std::vector<std::string>& typed, const std::vector<Command>& commands) {
  return Completer(typed, commands).run();
}

int run_complete(const std::vector<std::string>& typed, const Environment& env,
                 const Registry& registry, const std::vector<Command>& commands) {
  configure_log(LogLevel::Error, LogFormat::Text);
  Completion completion = complete(typed, commands);
  if (!completion.value_of.empty()) add_names(completion, env, registry);
  std::string text;
  for (const auto& word : completion.words)
    text += word.text + "\t" + replace_all(word.about, "\n", " ") + "\n";
  if (completion.takes_file) text += ":files\n";
  return write_all(STDOUT_FILENO, text) ? 0 : 1;
}

}  // namespace indx
