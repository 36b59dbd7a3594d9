#include "cli/args.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "cli/serve.hpp"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>

namespace indx {
namespace {

using Words = std::vector<std::string>;

bool starts_with_words(const Words& words, const Words& prefix) {
  return words.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), words.begin());
}

/// The words that may follow `prefix`.
Words next_words(const std::vector<Command>& commands, const Words& prefix) {
  Words next;
  for (const auto& command : commands)
    if (command.words.size() > prefix.size() && starts_with_words(command.words, prefix) &&
        std::find(next.begin(), next.end(), command.words[prefix.size()]) == next.end())
      next.push_back(command.words[prefix.size()]);
  return next;
}

std::string did_you_mean(const std::string& word, const Words& candidates,
                         std::string_view dashes = "") {
  const std::string best = nearest(word, candidates);
  return best.empty() ? "" : cat(" Did you mean `", dashes, best, "`?");
}

/// What stands for `@` in front of a value: `@file` and `-` are read, `@@x` is `@x`.
bool takes_sources(const SchemaNode& schema) {
  using Type = SchemaNode::Type;
  if (schema.type == Type::String) return schema.allowed.empty();
  if (schema.type == Type::Array) return schema.items->type != Type::String;
  return schema.type == Type::Object || schema.type == Type::Map || schema.type == Type::Any;
}

class ArgParser {
 public:
  ArgParser(const Words& args, const std::vector<Command>& commands, const ReadSource& read)
      : args_(args), commands_(commands), read_(read) {}

  Result<Invocation> parse() {
    if (wants_help()) return help_invocation();
    while (at_ < args_.size()) {
      const std::string arg = args_[at_++];
      if (!is_valid_utf8(arg)) return invalid("The command line is not UTF-8 text.");
      if (arg == "--" && !only_words_)
        only_words_ = true;
      else if (!only_words_ && arg.starts_with("--"))
        INDX_TRY(take_flag(arg.substr(2)));
      else
        INDX_TRY(take_word(arg));  // `- milk` too: no flag has one dash, but for `-h`
    }
    if (result_.global.version) return std::move(result_);
    if (result_.command == nullptr && !result_.words.empty()) return missing_verb();
    if (result_.command == nullptr) return std::move(result_);
    INDX_TRY(fill_positionals());
    INDX_TRY(fill_flags());
    INDX_TRY(apply_globals());
    if (result_.command->takes_file()) result_.file = take_text(kFileArgument);
    if (result_.command->gives_file()) result_.output = take_text(kOutputFlag);
    return std::move(result_);
  }

 private:
  /// What is for the command line alone and no field of the input.
  std::string take_text(std::string_view name) {
    const std::string key(name);
    std::string text = result_.input.value(key, std::string());
    result_.input.erase(key);
    return text;
  }

  bool wants_help() const {
    for (const auto& arg : args_) {
      if (arg == "--") return false;
      if (arg == "--help" || arg == "-h") return true;
    }
    return !args_.empty() && args_[0] == "help";
  }

  /// Help forgives everything but words that name nothing.
  Result<Invocation> help_invocation() {
    result_.global.help = true;
    for (std::size_t i = 0; i < args_.size(); ++i) {
      const auto& arg = args_[i];
      if (arg == "--") break;
      const auto* flag = arg.starts_with("--") ? find_global_flag(arg.substr(2)) : nullptr;
      if (flag != nullptr && flag->text != nullptr) ++i;  // its value
      if (arg.starts_with("-") || (arg == "help" && result_.words.empty())) continue;
      const auto next = next_words(commands_, result_.words);
      if (next.empty()) break;  // positionals
      if (std::find(next.begin(), next.end(), arg) != next.end())
        result_.words.push_back(arg);
      else if (result_.words.empty())
        return unknown_word(arg, next);
      else
        break;
    }
    find_command();
    return std::move(result_);
  }

  void find_command() {
    for (const auto& command : commands_)
      if (command.words == result_.words) result_.command = &command;
  }

  Error unknown_word(const std::string& word, const Words& known) const {
    const std::string before =
        result_.words.empty() ? "" : " after `" + join(result_.words, " ") + "`";
    return invalid(cat("`", word, "` is no command", before, ".", did_you_mean(word, known),
                       " Known: ", join(known, ", "), "."),
                   Json{{"path", join(result_.words, " ")}, {"expected", known}, {"actual", word}});
  }
  Error missing_verb() const {
    const auto next = next_words(commands_, result_.words);
    return invalid(
        cat("`indx ", join(result_.words, " "), "` needs a verb: ", join(next, ", "), "."),
        Json{{"path", join(result_.words, " ")}, {"expected", next}, {"actual", "nothing"}});
  }
  Words known_flags() const {
    Words known;
    for (const auto& row : global_flags()) known.emplace_back(row.name);
    if (result_.command != nullptr)
      for (const auto& flag : result_.command->flags()) known.push_back(flag.name);
    return known;
  }
  /// `typed` is what follows the dashes, `name` the part of it before `=`.
  Error unknown_flag(const std::string& name, const std::string& typed) const {
    const std::string where =
        result_.command == nullptr ? "" : " of `indx " + join(result_.words, " ") + "`";
    const bool takes_more = result_.command != nullptr && positionals_.size() + named_.size() <
                                                              result_.command->positionals().size();
    const std::string hint = takes_more ? cat(" If it is no flag but an argument, type `-- ",
                                              shell_word("--" + typed), "`.")
                                        : "";
    return invalid(
        cat("`--", name, "` is no flag", where, ".", did_you_mean(name, known_flags(), "--"), hint),
        Json{{"path", "--" + name}, {"actual", "unknown flag"}});
  }

  Status take_word(const std::string& word) {
    if (positionals_.empty()) {
      const auto next = next_words(commands_, result_.words);
      if (!only_words_ && std::find(next.begin(), next.end(), word) != next.end()) {
        result_.words.push_back(word);
        result_.command = nullptr;
        find_command();
        return {};
      }
      if (result_.command == nullptr) return unknown_word(word, next);
    }
    if (positionals_.size() == result_.command->positionals().size()) return one_too_many(word);
    positionals_.push_back(word);
    return {};
  }
  Error one_too_many(const std::string& word) const {
    const bool may_be_flag = word.size() > 2 && word[0] == '-' && word[1] != '-';
    return invalid(cat("`", word, "` is one argument too many for `indx ", join(result_.words, " "),
                       "`.", may_be_flag ? did_you_mean(word.substr(1), known_flags(), "--") : ""),
                   Json{{"actual", word}});
  }

  /// `name`, `name=value`, `no-name`.
  Status take_flag(const std::string& text) {
    const auto equals = text.find('=');
    const std::string flag_name = text.substr(0, equals);
    std::optional<std::string> value;
    if (equals != text.npos) value = text.substr(equals + 1);
    if (result_.command != nullptr) {
      if (const auto* flag = result_.command->find_flag(flag_name))
        return take_value(*flag, flag->value.empty(), std::move(value));
      const auto* negated =
          flag_name.starts_with("no-") ? result_.command->find_flag(flag_name.substr(3)) : nullptr;
      if (negated != nullptr && negated->value.empty() && !value)
        return take_value(*negated, true, "false");
      for (const auto& positional : result_.command->positionals())
        if (kebab(positional.name) == flag_name)
          return take_named(positional.name, flag_name, std::move(value));
    }
    const auto* row = find_global_flag(flag_name);
    if (row == nullptr) return unknown_flag(flag_name, text);
    return take_global(*row, std::move(value));
  }

  /// An argument given by its name, as `token create --name n`.
  Status take_named(const std::string& name, const std::string& flag_name,
                    std::optional<std::string> value) {
    if (!value) value = INDX_TRY(next_value(flag_name));
    if (!named_.emplace(name, *value).second)
      return invalid(cat("`--", flag_name, "` is given twice."), Json{{"path", "--" + flag_name}});
    return {};
  }

  Status take_global(const GlobalFlag& row, std::optional<std::string> value) {
    if (row.is_on != nullptr) {
      if (value && *value != "true" && *value != "false")
        return invalid(cat("`--", row.name, "` is a switch and takes no value."));
      result_.global.*row.is_on = !value || *value == "true";
      return {};
    }
    if (!value) value = INDX_TRY(next_value(std::string(row.name)));
    result_.global.*row.text = std::move(value);
    return {};
  }

  Status take_value(const Flag& flag, bool is_switch, std::optional<std::string> value) {
    if (!value) value = is_switch ? "true" : INDX_TRY(next_value(flag.name));
    auto& values = values_[&flag];
    if (!values.empty() && flag.schema.type != SchemaNode::Type::Array &&
        flag.schema.type != SchemaNode::Type::Map)
      return invalid(cat("`--", flag.name, "` is given twice."), Json{{"path", "--" + flag.name}});
    values.push_back(std::move(*value));
    // `--paths a.md b.md`: nothing else could be meant by the words that follow
    if (flag.schema.type == SchemaNode::Type::Array && result_.command->positionals().empty())
      while (at_ < args_.size() && !args_[at_].starts_with("--") && args_[at_] != "-")
        values.push_back(INDX_TRY(next_value(flag.name)));
    return {};
  }

  Result<std::string> next_value(const std::string& flag_name) {
    const bool has_value = at_ < args_.size() && !args_[at_].starts_with("--");
    if (!has_value)
      return invalid(
          cat("`--", flag_name, "` needs a value; one that begins with `--` is given as `--",
              flag_name, "=VALUE`."),
          Json{{"path", "--" + flag_name}, {"actual", "missing"}});
    if (!is_valid_utf8(args_[at_])) return invalid("The command line is not UTF-8 text.");
    return args_[at_++];
  }

  Status fill_positionals() {
    std::size_t used = 0;
    for (const auto& wanted : result_.command->positionals()) {
      const auto named = named_.find(wanted.name);
      if (named != named_.end() || used < positionals_.size()) {
        const auto& text = named != named_.end() ? named->second : positionals_[used++];
        result_.input[wanted.name] = INDX_TRY(parse_text_value(wanted.schema, wanted.name, {text}));
      } else if (wanted.is_required) {
        return invalid(cat("`indx ", join(result_.words, " "), "` needs ", wanted.name, ": ",
                           wanted.schema.description),
                       Json{{"path", wanted.name}, {"actual", "missing"}});
      }
    }
    if (used < positionals_.size()) return one_too_many(positionals_[used]);
    return {};
  }

  /// In the order of the schema, so that `--vocabulary JSON` comes before `--max-per-note`, which
  /// changes it.
  Status fill_flags() {
    // What a flag says besides its value is compared with what others say, whatever the order.
    for (const bool says_more : {false, true})
      for (const auto& flag : result_.command->flags()) {
        const auto given = values_.find(&flag);
        if (given != values_.end() && flag.also.is_object() == says_more)
          INDX_TRY(fill_flag(flag, given->second));
      }
    return {};
  }

  /// What a flag says besides its value: `--note a.md` is also `--mode note`.
  Status set_also(const Flag& flag) {
    if (!flag.also.is_object()) return {};
    for (const auto& [key, value] : flag.also.items()) {
      if (!result_.input.contains(key)) result_.input[key] = value;
      if (result_.input[key] == value) continue;
      return invalid(
          cat("`--", flag.name, "` does not go with `", key, "` ", result_.input[key].dump(), "."),
          Json{{"path", "--" + flag.name}});
    }
    return {};
  }

  Status fill_flag(const Flag& flag, const Words& given) {
    Words values;
    if (flag.target.empty()) {
      const auto is_on = INDX_TRY(parse_text_value(flag.schema, "--" + flag.name, given));
      return is_on == true ? set_also(flag) : Status();
    }
    INDX_TRY(set_also(flag));
    for (const auto& text : given) {
      const std::string value = INDX_TRY(expand(flag, text));
      if (flag.splits_commas && !value.starts_with('['))
        for (auto& part : split(value, ',')) values.push_back(std::move(part));
      else
        values.push_back(value);
    }
    Json* place = &result_.input;
    for (std::size_t i = 0; i + 1 < flag.target.size(); ++i) {
      place = &(*place)[flag.target[i]];
      if (place->is_null()) *place = Json::object();
    }
    if (flag.reads_file && place->contains(flag.target.back()))
      return invalid(
          cat("`--", flag.name, "` and `--", kebab(flag.target.back()), "` exclude each other."),
          Json{{"path", "--" + flag.name}});
    if (!place->is_object())
      return invalid(cat("`--", flag.name, "` needs `", flag.target[0], "` to be an object."));
    (*place)[flag.target.back()] =
        INDX_TRY(parse_text_value(flag.schema, "--" + flag.name, values));
    if (!flag.implied_kind.empty() && !place->contains("kind"))
      (*place)["kind"] = flag.implied_kind;
    return {};
  }

  Result<std::string> expand(const Flag& flag, const std::string& text) {
    if (flag.reads_file) return checked_source(text);
    if (!takes_sources(flag.schema) || flag.target[0] == "if_match" ||
        flag.target[0] == kOutputFlag || text.empty())
      return text;
    if (text == "-") return checked_source("-");
    if (text[0] != '@') return text;
    return text.starts_with("@@") ? Result<std::string>(text.substr(1))
                                  : checked_source(text.substr(1));
  }

  Result<std::string> checked_source(const std::string& file) {
    std::string bytes = INDX_TRY(read_(file));
    if (!is_valid_utf8(bytes))
      return invalid(cat(file == "-" ? "stdin" : "`" + file + "`", " is not UTF-8 text."));
    return bytes;
  }

  /// The flag of the one object that has a field of this name.
  const Flag* nested_flag(const std::string& name) const {
    const Flag* found = nullptr;
    for (const auto& flag : result_.command->flags())
      if (flag.is_listed && flag.target.size() == 2 && flag.target[1] == name) {
        if (found != nullptr) return nullptr;
        found = &flag;
      }
    return found;
  }

  /// Global flags that mean a field of the input. A flag that the command cannot honour is refused,
  /// not ignored.
  Status apply_globals() {
    const Operation* operation = result_.command->operation;
    const auto put = [&](const char* name, const std::string& text) -> Status {
      const auto* flag = result_.command->find_flag(kebab(name));
      if (flag == nullptr) flag = nested_flag(name);
      if (flag == nullptr)
        return invalid(cat("`indx ", join(result_.words, " "), "` takes no --", kebab(name), "."),
                       Json{{"path", "--" + kebab(name)}});
      const Json value = INDX_TRY(parse_text_value(flag->schema, "--" + flag->name, {text}));
      (flag->target.size() == 1 ? result_.input : result_.input[flag->target[0]])[name] = value;
      return {};
    };
    if (result_.global.if_match) INDX_TRY(put("if_match", *result_.global.if_match));
    const bool changes = operation == nullptr || operation->effect != Effect::Reads;
    if (result_.global.dry_run && changes) INDX_TRY(put("dry_run", "true"));
    // `--stream` behind the words names the field, in front of them the flag: both mean the same.
    if (operation != nullptr && operation->streams_answer()) {
      if (const auto field = result_.input.find("stream"); field != result_.input.end()) {
        result_.global.stream = *field == true;
        result_.input.erase(field);
      }
    }
    if (result_.global.local && result_.global.remote)
      return invalid("--local and --remote exclude each other.");
    return {};
  }

  const Words& args_;
  const std::vector<Command>& commands_;
  const ReadSource& read_;
  std::size_t at_ = 0;
  bool only_words_ = false;
  Invocation result_;
  Words positionals_;
  std::map<std::string, std::string> named_;  ///< positionals given as flags
  std::map<const Flag*, Words> values_;
};

}  // namespace

Result<Invocation> parse_args(const std::vector<std::string>& args,
                              const std::vector<Command>& commands, const ReadSource& read) {
  return ArgParser(args, commands, read).parse();
}

Result<std::string> read_source(const std::string& file) {
  std::string bytes;
  if (file == "-") {
    bytes.assign(std::istreambuf_iterator<char>(std::cin), {});
    return bytes;
  }
  std::ifstream in(file, std::ios::binary);
  if (!in) return not_found(cat("The file `", file, "` cannot be read."), Json{{"path", file}});
  bytes.assign(std::istreambuf_iterator<char>(in), {});
  return bytes;
}

}  // namespace indx
