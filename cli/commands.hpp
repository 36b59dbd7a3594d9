#pragma once
#include "base/lazy.hpp"
#include "ops/operation.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// A flag of one command, and where in the input its value goes.
struct Flag {
  std::string name;                 ///< `max-per-note`
  std::string value;                ///< `TEXT`; empty: a switch
  std::vector<std::string> target;  ///< {"vocabulary", "max_per_note"}; empty: `also` alone
  SchemaNode schema;
  bool is_required = false;
  bool splits_commas = false;  ///< `a,b` are two values
  std::string implied_kind;    ///< value of the `kind` beside it, when that is not given
  bool reads_file = false;     ///< the value is the name of a file that holds it
  Json also = {};              ///< members that it sets in the input, of CliFlag
  bool is_listed = true;       ///< short forms are understood, but help shows the long ones
};

struct Positional {
  std::string name;
  SchemaNode schema;
  bool is_required = true;
};

/// What may follow the words of a command.
struct Arguments {
  std::vector<Positional> positionals;
  std::vector<Flag> flags;
};

/// Verbs that are no operations.
enum class Special : std::uint8_t {
  None,
  Serve,
  McpServe,
  McpConfig,
  McpDoctor,
  JobWatch,
  JobRun,
  Schema,
  OpenApi,
  Completion,
  Man,
  Version
};

/// Of an operation that takes a file, and of one that gives one: not fields of its input.
inline constexpr std::string_view kFileArgument = "file", kOutputFlag = "output";

/// What can be typed: an operation of the registry, or one of the few verbs that are none.
struct Command {
  std::vector<std::string> words;  ///< {"note", "get"}
  std::string summary, guidance, example;
  const Operation* operation = nullptr;  ///< of the registry that the commands were made from
  Special special = Special::None;
  Lazy<Arguments> arguments;  ///< made for the command that was typed, not for all

  const std::vector<Positional>& positionals() const { return arguments->positionals; }
  const std::vector<Flag>& flags() const { return arguments->flags; }
  bool takes_file() const { return operation != nullptr && operation->takes_file; }
  bool gives_file() const { return operation != nullptr && operation->gives_file; }
  const Flag* find_flag(std::string_view name) const;
};

/// The operations in their order, then the special verbs. `registry` must outlive them.
std::vector<Command> make_commands(const Registry& registry);

/// The flags of an input schema: `--kebab-name` each; objects flattened to `--field-subfield`.
std::vector<Flag> flags_of(const SchemaNode& input, const std::vector<std::string>& positionals);

std::string kebab(std::string_view name);
/// The candidate that `word` most likely stands for; empty when none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace indx
