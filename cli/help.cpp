#include "cli/help.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "base/version.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr std::size_t kLeftColumn = 34;

constexpr std::size_t kHelpWidth = 120;

/// Broken at spaces; the lines after the first are indented.
std::string wrapped(const std::string& text, std::size_t indent) {
  std::string out;
  std::size_t column = indent;
  for (const auto& word : split(text, ' ')) {
    const std::size_t columns = count_code_points(word);
    const bool is_first = column == indent;
    if (!is_first && column + 1 + columns > kHelpWidth) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!is_first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += columns;
  }
  return out;
}

std::string row(const std::string& left, const std::string& right) {
  std::string line = "  " + left;
  const std::size_t columns = count_code_points(line);
  line += columns + 1 < kLeftColumn ? std::string(kLeftColumn - columns, ' ')
                                    : "\n" + std::string(kLeftColumn, ' ');
  return line + wrapped(right, kLeftColumn) + "\n";
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return text;
}

std::string default_text(const SchemaNode& node) {
  const Json& value = node.default_value;
  const bool says_nothing = value.is_null() || value == Json(false) || value == Json("") ||
                            (value.is_structured() && value.empty());
  if (says_nothing) return "";
  return " Default " + (value.is_string() ? value.get<std::string>() : value.dump()) + ".";
}

std::string choices_text(const SchemaNode& node) {
  return node.allowed.empty() ? "" : " One of " + join(node.allowed, ", ") + ".";
}

bool is_on_by_default(const Flag& flag) {
  return flag.value.empty() && flag.schema.default_value == Json(true);
}

/// `Rewrite links.` as it follows a colon.
std::string in_sentence(std::string text) {
  const bool is_word = text.size() > 1 && text[1] >= 'a' && text[1] <= 'z';
  if (is_word && text[0] >= 'A' && text[0] <= 'Z') text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

std::string global_rows() {
  std::string text;
  for (const auto& flag : global_flags())
    text += row(cat("--", flag.name, flag.value.empty() ? "" : " ", flag.value),
                std::string(flag.help));
  return text;
}

std::string command_help(const Command& command) {
  std::string text = cat(command.summary, "\n",
                         command.guidance.empty() ? "" : "\n" + wrapped(command.guidance, 0) + "\n",
                         "\nUsage: indx ", usage_of(command), "\n");
  if (!command.positionals().empty()) text += "\nArguments:\n";
  for (const auto& positional : command.positionals())
    text += row(upper(positional.name),
                positional.schema.description + choices_text(positional.schema));
  const bool has_flags = std::any_of(command.flags().begin(), command.flags().end(),
                                     [](const Flag& flag) { return flag.is_listed; });
  if (has_flags) text += "\nFlags:\n";
  for (const auto& flag : command.flags())
    if (flag.is_listed) text += row(flag_usage(flag), flag_about(flag));
  for (const auto& flag : command.flags())
    if (const auto members = members_of(flag); flag.is_listed && !members.empty()) {
      text += cat("\nEach of --", flag.name, " is an object with:\n");
      for (const auto& member : members) text += row(member.name, member.about);
    }
  text += "\nExample:\n  " + example_of(command) + "\n";
  if (command.operation != nullptr && command.operation->effect == Effect::Destructive)
    text += "\nIt may lose something: without --yes it ends with exit code 4.\n";
  return text +
         "\nTexts and JSON may be given as @FILE, or - for stdin; @@ stands for @. `indx --help` "
         "lists the global flags.\n";
}

std::string noun_help(const std::vector<std::string>& words, const std::vector<Command>& commands) {
  std::string text = cat("Usage: indx ", join(words, " "), " VERB [arguments] [flags]\n\nVerbs:\n");
  for (const auto& command : commands)
    if (command.words.size() > words.size() &&
        std::equal(words.begin(), words.end(), command.words.begin()))
      text += row(join({command.words.begin() + static_cast<std::ptrdiff_t>(words.size()),
                        command.words.end()},
                       " "),
                  command.summary);
  return text + cat("\n`indx ", join(words, " "), " VERB --help` says more.\n");
}

std::string program_help(const std::vector<Command>& commands) {
  std::string text =
      cat("indx ", kVersion, ": a folder of Markdown notes as a service for people and agents.\n\n",
          "Usage: indx [global flags] NOUN VERB [arguments] [flags]\n\nCommands:\n");
  std::vector<std::string> nouns;
  for (const auto& command : commands)
    if (std::find(nouns.begin(), nouns.end(), command.words[0]) == nouns.end())
      nouns.push_back(command.words[0]);
  for (const auto& noun : nouns)
    for (const auto& command : commands)
      if (command.words[0] == noun) text += row(join(command.words, " "), command.summary);
  text += "\nGlobal flags:\n" + global_rows();
  return text +
         "\nOutput: JSON on stdout, on one line unless stdout is a terminal; everything else on "
         "stderr. When a command fails, stdout\n"
         "stays empty and stderr gets `error: MESSAGE`, then {\"code\", \"message\", \"details\"} "
         "as JSON on a line of its own.\n"
         "\nExit codes: 0 done, 1 internal or cannot be reached, 2 usage or validation, 3 not "
         "found, 4 precondition failed or --yes\n"
         "missing, 5 not allowed, 6 AI unavailable, 7 AI quota exceeded, 8 AI provider failed.\n"
         "\nWhere it runs: at the server given by --remote or INDX_URL; else at the live server of "
         "the vault; else in this process.\n";
}

/// Null: it needs none.
Json required_role(const Operation& operation) {
  if (!operation.needs_provider) return Json();
  return operation.role == AiRole::Either ? Json("either") : Json(name(operation.role));
}

Json operation_contract(const Operation& operation, const std::vector<Command>& commands) {
  Json scopes = Json::array(), failures = Json::array();
  for (const Scope scope : operation.scopes) scopes.push_back(std::string(name(scope)));
  for (const auto& failure : operation.failures) {
    const Error sample = make_error(failure.reason, "");
    failures.push_back(Json{{"code", std::string(sample.name())},
                            {"when", failure.when},
                            {"http_status", sample.http_status()},
                            {"exit_code", sample.exit_code()}});
  }
  const auto command = std::find_if(commands.begin(), commands.end(),
                                    [&](const Command& c) { return c.operation == &operation; });
  const char* effect = operation.effect == Effect::Reads    ? "reads"
                       : operation.effect == Effect::Writes ? "writes"
                                                            : "destructive";
  return {{"name", operation.name},
          {"summary", operation.summary},
          {"guidance", operation.guidance},
          {"effect", effect},
          {"is_idempotent", operation.is_idempotent},
          {"needs_provider", operation.needs_provider},
          {"required_role", required_role(operation)},
          {"scopes", scopes},
          {"http", {{"method", operation.route.method}, {"path", operation.route.pattern}}},
          {"cli", command == commands.end() ? "" : "indx " + usage_of(*command)},
          {"input", to_json_schema(operation.input)},
          {"output", to_json_schema(operation.output, SchemaUse::Output)},
          {"errors", failures}};
}

}  // namespace

std::string usage_of(const Command& command) {
  std::string text = join(command.words, " ");
  for (const auto& positional : command.positionals())
    text +=
        positional.is_required ? " " + upper(positional.name) : " [" + upper(positional.name) + "]";
  const auto& flags = command.flags();
  for (const auto& flag : flags)
    if (flag.is_required && flag.schema.type != SchemaNode::Type::Object)
      text += " " + flag_usage(flag);
  const bool has_more =
      std::any_of(flags.begin(), flags.end(), [](const Flag& flag) { return !flag.is_required; });
  return has_more ? text + " [flags]" : text;
}

std::string flag_usage(const Flag& flag) {
  return cat("--", is_on_by_default(flag) ? "no-" : "", flag.name,
             flag.value.empty() ? "" : " " + flag.value);
}

std::string flag_about(const Flag& flag) {
  if (is_on_by_default(flag))
    return "Turns off what is on by default: " + in_sentence(flag.schema.description);
  std::string about = flag.schema.description + default_text(flag.schema);
  if (flag.schema.type == SchemaNode::Type::Array)
    about += flag.splits_commas ? " Several with commas." : " May be repeated.";
  if (flag.is_required)
    about += flag.schema.type == SchemaNode::Type::Object
                 ? cat(" Required, so or by flags that begin with --", flag.name, "-.")
                 : " Required.";
  return about;
}

std::vector<FlagMember> members_of(const Flag& flag) {
  std::vector<FlagMember> members;
  if (flag.schema.type != SchemaNode::Type::Array) return members;
  for (const auto& property : flag.schema.items->properties)
    members.push_back({property.name + (property.is_required ? " (required)" : ""),
                       property.schema.description + choices_text(property.schema)});
  return members;
}

std::string example_of(const Command& command) {
  if (!command.example.empty()) return command.example;
  std::string text = "indx " + join(command.words, " ");
  const Operation* operation = command.operation;
  if (operation != nullptr && !operation->example.empty())
    text += " " + operation->example;
  else if (!command.positionals().empty() && command.positionals()[0].name == "path")
    text += " Projects/Plan.md";
  return operation != nullptr && operation->effect == Effect::Destructive ? text + " --yes" : text;
}

std::string help_text(const std::vector<std::string>& words, const std::vector<Command>& commands) {
  if (words.empty()) return program_help(commands);
  for (const auto& command : commands)
    if (command.words == words) return command_help(command);
  return noun_help(words, commands);
}

Result<Json> contract(const Registry& registry, const std::vector<Command>& commands,
                      const std::string& operation) {
  if (!operation.empty()) {
    const auto* found = registry.find(replace_all(operation, " ", "_"));
    for (const auto& command : commands)
      if (found == nullptr && command.operation != nullptr && join(command.words, " ") == operation)
        found = command.operation;
    if (found != nullptr) return operation_contract(*found, commands);
    std::vector<std::string> names;
    for (const auto& known : registry.all()) names.push_back(known.name);
    const std::string near = nearest(operation, names);
    return not_found(cat("`", operation, "` is no operation.",
                         near.empty() ? "" : " Did you mean `" + near + "`?"),
                     Json{{"known", names}});
  }
  Json operations = Json::array(), flags = Json::array();
  for (const auto& known : registry.all())
    operations.push_back(operation_contract(known, commands));
  for (const auto& flag : global_flags())
    flags.push_back(
        Json{{"name", cat("--", flag.name)}, {"value", flag.value}, {"help", flag.help}});
  const Json exits{{"0", "done"},
                   {"1", "internal, or cannot be reached"},
                   {"2", "usage or validation"},
                   {"3", "not found"},
                   {"4", "precondition failed, or --yes missing"},
                   {"5", "not allowed"},
                   {"6", "AI unavailable"},
                   {"7", "AI quota exceeded"},
                   {"8", "AI provider failed"}};
  return Json{{"name", "indx"},
              {"version", kVersion},
              {"operations", operations},
              {"global_flags", flags},
              {"exit_codes", exits}};
}

}  // namespace indx
