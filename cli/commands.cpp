#include "cli/commands.hpp"

#include "base/assert.hpp"
#include "base/edit_distance.hpp"
#include "base/text.hpp"
#include "cli/global_flags.hpp"
#include "cli/mcp_config.hpp"
#include "ops/define.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>

namespace indx {
namespace {

using Type = SchemaNode::Type;

std::string value_name(const SchemaNode& node) {
  switch (node.type) {
    case Type::String:
      return node.allowed.empty() ? "TEXT" : join(node.allowed, "|");
    case Type::Integer:
    case Type::Number:
      return "N";
    case Type::Boolean:
      return "";
    case Type::Array:
      return value_name(*node.items).empty() ? "JSON" : value_name(*node.items);
    case Type::Object:
    case Type::Map:
    case Type::Any:
      return "JSON";
  }
  return "JSON";
}

/// Row D75: what a scope is called on the command line, and the kind that it means.
struct ScopeFlag {
  std::string_view flag, property, kind;
};
constexpr std::array kScopeFlags = {
    ScopeFlag{"paths", "paths", "paths"}, ScopeFlag{"glob", "path_glob", "glob"},
    ScopeFlag{"tag", "tag", "tag"},       ScopeFlag{"query", "q", "query"},
    ScopeFlag{"note", "path", "note"},    ScopeFlag{"note", "path", "path"},
};

const ScopeFlag* scope_flag_of(const SchemaNode& object, const std::string& property) {
  const auto* kind = object.find("kind");
  if (kind == nullptr) return nullptr;
  for (const auto& row : kScopeFlags) {
    const auto& allowed = kind->schema.allowed;
    if (row.property == property &&
        std::find(allowed.begin(), allowed.end(), row.kind) != allowed.end())
      return &row;
  }
  return nullptr;
}

Flag flag_of(const std::string& name, std::vector<std::string> target, const SchemaNode& schema) {
  return {.name = kebab(name),
          .value = value_name(schema),
          .target = std::move(target),
          .schema = schema};
}

void add_flattened(const SchemaNode::Property& object, std::vector<Flag>& flags) {
  for (const auto& property : object.schema.properties) {
    const auto* scope = scope_flag_of(object.schema, property.name);
    Flag flag =
        flag_of(object.name + "-" + std::string(scope != nullptr ? scope->flag : property.name),
                {object.name, property.name}, property.schema);
    flag.splits_commas = property.schema.type == Type::Array;
    if (scope != nullptr) flag.implied_kind = scope->kind;
    flags.push_back(std::move(flag));
  }
}

/// Whose members may have short forms first: what is no scope, then the scope that a call needs.
int short_form_rank(const SchemaNode::Property& object) {
  const bool is_scope = object.schema.find("kind") != nullptr;
  return !is_scope ? 0 : object.is_required ? 1 : 2;
}

/// `--max-per-note` for `--vocabulary-max-per-note`, where it can mean nothing else: of several
/// members of one name, those of the best rank have it, if that is one.
void add_short_forms(const SchemaNode& input, std::vector<Flag>& flags) {
  struct Claim {
    int rank = 3, count = 0;
  };
  std::map<std::string, Claim> claims;
  std::set<std::string> taken = {"kind"};
  const auto short_name = [](const Flag& flag) {
    return flag.name.substr(kebab(flag.target[0]).size() + 1);
  };
  const auto rank_of = [&](const Flag& flag) {
    return short_form_rank(*input.find(flag.target[0]));
  };
  for (const auto& flag : flags) {
    taken.insert(flag.name);
    if (flag.target.size() != 2) continue;
    auto& claim = claims[short_name(flag)];
    const int rank = rank_of(flag);
    if (rank < claim.rank) claim = {rank, 0};
    if (rank == claim.rank) ++claim.count;
  }
  const std::size_t count = flags.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (flags[i].target.size() != 2) continue;
    Flag flag = flags[i];
    flag.name = short_name(flags[i]);
    flag.is_listed = false;
    const auto& claim = claims[flag.name];
    if (claim.rank == rank_of(flag) && claim.count == 1 && !taken.contains(flag.name) &&
        find_global_flag(flag.name) == nullptr)
      flags.push_back(std::move(flag));
  }
}

/// `--schema-file FILE` beside `--schema JSON` (row C80), for an object that is a document of its
/// own: a call makes no sense without it, and it is too long to be typed.
void add_file_form(const SchemaNode::Property& property, std::vector<Flag>& flags) {
  if (property.schema.type != Type::Map || !property.is_required) return;
  SchemaNode schema = property.schema;
  schema.description = cat("A file that holds `--", property.name, "`, as JSON; `-` is stdin.");
  Flag flag = flag_of(property.name + "_file", {property.name}, schema);
  flag.value = "FILE";
  flag.reads_file = true;
  flags.push_back(std::move(flag));
}

/// The schema of `write.path`; null: there is no such field.
const SchemaNode* node_at(const SchemaNode& input, const std::vector<std::string>& target) {
  const SchemaNode* node = &input;
  for (const auto& name : target) {
    const auto* property = node->find(name);
    if (property == nullptr) return nullptr;
    node = &property->schema;
  }
  return node;
}

/// The operation's own flags in front of those of its fields, instead of others with their names.
void add_own_flags(const Operation& operation, std::vector<Flag>& flags) {
  std::vector<Flag> own;
  for (const auto& row : operation.cli_flags) {
    const auto target = row.field.empty() ? std::vector<std::string>() : split(row.field, '.');
    const auto* node = node_at(operation.input, target);
    INDX_ASSERT(node != nullptr);
    SchemaNode schema = *node;
    if (target.empty()) schema = node_of(Type::Boolean);
    schema.description = row.summary;
    Flag flag = flag_of(row.name, target, schema);
    flag.also = row.also;
    std::erase_if(flags, [&](const Flag& other) { return other.name == flag.name; });
    own.push_back(std::move(flag));
  }
  flags.insert(flags.begin(), std::make_move_iterator(own.begin()),
               std::make_move_iterator(own.end()));
}

SchemaNode text_node(std::string description, std::vector<std::string> allowed = {}) {
  SchemaNode node;
  node.type = Type::String;
  node.description = std::move(description);
  node.allowed = std::move(allowed);
  return node;
}

Arguments arguments_of(const Operation& operation) {
  Arguments arguments;
  for (const auto& name : operation.cli_positional)
    if (const auto* property = operation.input->find(name))
      arguments.positionals.push_back({name, property->schema, property->is_required});
  arguments.flags = flags_of(operation.input, operation.cli_positional);
  add_own_flags(operation, arguments.flags);
  if (operation.takes_file)
    arguments.positionals.push_back(
        {std::string(kFileArgument), text_node("The file to send; `-` is stdin."), true});
  if (operation.gives_file)
    arguments.flags.push_back(flag_of(
        std::string(kOutputFlag), {std::string(kOutputFlag)},
        text_node("Write the file there and tell about it on stdout; left out or `-`: write the "
                  "file to stdout.")));
  return arguments;
}

Command command_of(const Operation& operation) {
  Command command;
  command.words =
      split(operation.cli.empty() ? replace_all(operation.name, "_", " ") : operation.cli, ' ');
  command.summary = operation.summary;
  command.guidance = operation.guidance;
  command.operation = &operation;
  command.arguments = Lazy<Arguments>([&operation] { return arguments_of(operation); });
  return command;
}

SchemaNode typed_node(Type type, std::string description) {
  SchemaNode node = text_node(std::move(description));
  node.type = type;
  return node;
}

Command special_command(Special special, std::string_view words, std::string summary,
                        std::string guidance, Arguments arguments = {}) {
  Command command;
  command.words = split(words, ' ');
  command.summary = std::move(summary);
  command.guidance = std::move(guidance);
  command.special = special;
  command.arguments = std::move(arguments);
  return command;
}

/// `mcp config` and `mcp doctor`.
std::pair<Command, Command> mcp_helpers(const Flag& scopes) {
  const auto url = [](std::string about) {
    return flag_of("url", {"url"}, text_node(std::move(about)));
  };
  Arguments of_config;
  of_config.positionals = {
      {"host", text_node("The host; left out: list those there are.", mcp_host_names()), false}};
  of_config.flags = {
      flag_of("http", {"http"},
              typed_node(Type::Boolean, "For a running server instead of one the host starts.")),
      url("Address of that server, with --http; default http://127.0.0.1:8080."), scopes};
  auto config = special_command(
      Special::McpConfig, "mcp config", "Print what an MCP host must be told to use this vault.",
      "The text for the host's configuration file goes to stdout, where it belongs and what else "
      "to "
      "do to stderr; with --json all of it is one object. Nothing is written.",
      std::move(of_config));
  config.example = "indx mcp config claude-code --vault ~/notes --scopes vault:read";
  Arguments of_doctor;
  of_doctor.flags = {url("Check this server over HTTP, with the token of --token or INDX_TOKEN."),
                     scopes};
  auto doctor = special_command(
      Special::McpDoctor, "mcp doctor", "Check what an MCP host would meet, and say what to do.",
      "Without --url it looks at the vault and starts `indx mcp serve --stdio` as a host would. "
      "Ends with 1 when a check failed.",
      std::move(of_doctor));
  doctor.example = "indx mcp doctor --vault ~/notes";
  return {std::move(config), std::move(doctor)};
}

std::vector<Command> special_commands() {
  Arguments of_serve;
  of_serve.flags = {
      flag_of("host", {"host"}, text_node("Address to listen on; default 127.0.0.1.")),
      flag_of("port", {"port"},
              typed_node(Type::Integer, "Port to listen on; default 8080, 0: the system picks.")),
      flag_of("socket_only", {"socket_only"},
              typed_node(Type::Boolean, "Listen on the socket in the index folder only."))};
  auto serve = special_command(Special::Serve, "serve",
                               "Serve the vault over REST, SSE and MCP until a signal comes.",
                               "Without --vault and INDX_VAULT it serves /vault. SIGTERM and "
                               "Ctrl-C stop it; a second one at once.",
                               std::move(of_serve));
  serve.example = "indx serve --vault ~/notes --port 8080";
  SchemaNode scopes = typed_node(
      Type::Array,
      "What the client may do; default vault:read,vault:write. `path:GLOB` narrows it to notes.");
  scopes.items = std::make_shared<SchemaNode>(text_node(""));
  Arguments of_mcp;
  of_mcp.flags = {flag_of("stdio", {"stdio"},
                          typed_node(Type::Boolean,
                                     "Use stdin and stdout; the only transport of this command.")),
                  flag_of("scopes", {"scopes"}, scopes)};
  of_mcp.flags.back().splits_commas = true;
  const Flag scopes_flag = of_mcp.flags.back();
  auto mcp = special_command(
      Special::McpServe, "mcp serve", "Serve one MCP client over stdin and stdout.",
      "For the configuration of an MCP host. Uses the live server of the vault when there is one.",
      std::move(of_mcp));
  mcp.example = "indx mcp serve --stdio --vault ~/notes --scopes vault:read";
  const auto [config, doctor] = mcp_helpers(scopes_flag);
  const auto positional = [](std::string name, SchemaNode schema, bool is_required) {
    return Arguments{{{std::move(name), std::move(schema), is_required}}, {}};
  };
  auto watch = special_command(
      Special::JobWatch, "job watch", "Watch all jobs live, or follow one to its end.",
      "On a terminal a table of all live jobs until Ctrl-C, or a progress bar for the job with the "
      "ID; else one JSON object a line for each change. Goes on when the server comes back after a "
      "restart. With an ID it ends with the exit code of the job.",
      positional("id", text_node("Id of the job to follow; left out: all."), false));
  watch.example = "indx job watch";
  auto run = special_command(
      Special::JobRun, "job run", "Run a job that waits for a server here, and wait for it.",
      "For jobs that an earlier command or server left behind. Where a server runs, it "
      "runs them: follow one with `indx job watch ID`.",
      positional("id", text_node("Id of the job."), true));
  run.example = "indx job run 01JQ3V0F8Y4T2XK8M6N1ZB5C7D";
  auto schema = special_command(
      Special::Schema, "schema", "Print the contract: operations, inputs, outputs, errors.", "",
      positional("operation", text_node("Name of one operation; left out: all."), false));
  schema.example = "indx schema note_read";
  auto openapi = special_command(Special::OpenApi, "openapi",
                                 "Print the OpenAPI 3.1 document of the REST routes.", "");
  openapi.example = "indx openapi > openapi.json";
  auto man = special_command(Special::Man, "man", "Print the manual page.", "");
  man.example = "indx man | man -l -";
  auto completion = special_command(
      Special::Completion, "completion", "Print the completion script of a shell.", "",
      positional("shell", text_node("The shell.", {"bash", "zsh", "fish"}), true));
  completion.example = "indx completion bash > ~/.local/share/bash-completion/completions/indx";
  auto version = special_command(Special::Version, "version", "Print name and version.", "");
  version.example = "indx version";
  return {serve, mcp, config, doctor, watch, run, schema, openapi, completion, man, version};
}

}  // namespace

const Flag* Command::find_flag(std::string_view name) const {
  const auto it = std::find_if(flags().begin(), flags().end(),
                               [&](const Flag& flag) { return flag.name == name; });
  return it == flags().end() ? nullptr : &*it;
}

std::vector<Command> make_commands(const Registry& registry) {
  std::vector<Command> commands;
  for (const auto& operation : registry.all()) commands.push_back(command_of(operation));
  for (auto& command : special_commands()) commands.push_back(std::move(command));
  return commands;
}

std::vector<Flag> flags_of(const SchemaNode& input, const std::vector<std::string>& positionals) {
  std::vector<Flag> flags;
  for (const auto& property : input.properties) {
    if (std::find(positionals.begin(), positionals.end(), property.name) != positionals.end())
      continue;
    flags.push_back(flag_of(property.name, {property.name}, property.schema));
    flags.back().is_required = property.is_required;
    if (property.schema.type == Type::Object) add_flattened(property, flags);
    add_file_form(property, flags);
  }
  add_short_forms(input, flags);
  return flags;
}

std::string kebab(std::string_view name) { return replace_all(name, "_", "-"); }

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const auto& candidate : candidates) {
    const std::size_t d = edit_distance(word.substr(0, 64), candidate);
    if (d >= best_distance) continue;
    best = candidate;
    best_distance = d;
  }
  return best;
}

}  // namespace indx
