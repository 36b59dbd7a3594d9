#include "base/config.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/args.hpp"
#include "cli/completion.hpp"
#include "cli/help.hpp"
#include "cli/job_watch.hpp"
#include "cli/man_page.hpp"
#include "cli/mcp_config.hpp"
#include "cli/mcp_doctor.hpp"
#include "cli/mcp_serve.hpp"
#include "cli/output.hpp"
#include "cli/run_command.hpp"
#include "cli/serve.hpp"
#include "cli/signals.hpp"
#include "ops/openapi.hpp"

#include <string>
#include <unistd.h>
#include <vector>

namespace {

using namespace indx;  // NOLINT(google-build-using-namespace): the composition root names
                       // everything

Status set_up_log(const Invocation& invocation, const Environment& env) {
  const bool is_server = invocation.command->special == Special::Serve ||
                         invocation.command->special == Special::McpServe;
  const std::string level = invocation.global.log_level.value_or(
      env("INDX_LOG_LEVEL").value_or(is_server ? "info" : "warn"));
  const std::string format =
      invocation.global.log_format.value_or(env("INDX_LOG_FORMAT").value_or("text"));
  if (invocation.global.log_level && level != "debug" && level != "info" && level != "warn" &&
      level != "error")
    return invalid("`--log-level` must be debug, info, warn or error.",
                   Json{{"path", "--log-level"}, {"actual", level}});
  if (invocation.global.log_format && format != "text" && format != "json")
    return invalid("`--log-format` must be text or json.",
                   Json{{"path", "--log-format"}, {"actual", format}});
  configure_log(parse_log_level(level), format == "json" ? LogFormat::JsonLines : LogFormat::Text);
  return {};
}

int print_text(const std::string& text) { return write_all(STDOUT_FILENO, text) ? 0 : 1; }

struct Program {
  const std::string name;
  const Environment env;
  const Registry& registry;
  const std::vector<Command>& commands;
};

int run(const Program& program, const Invocation& invocation) {
  const auto text_of = [&](const char* key) { return invocation.input.value(key, std::string()); };
  switch (invocation.command->special) {
    case Special::None:
      return run_command(invocation, program.env, program.registry);
    case Special::Serve:
      return run_serve(invocation, program.env, program.registry, program.name);
    case Special::McpServe:
      return run_mcp_serve(invocation, program.env, program.registry, take_stdout());
    case Special::McpConfig:
      return run_mcp_config(invocation, program.env);
    case Special::McpDoctor:
      return run_mcp_doctor(invocation, program.env);
    case Special::JobWatch:
      return run_job_watch(invocation, program.env, program.registry);
    case Special::JobRun:
      return run_job_run(invocation, program.env, program.registry);
    case Special::Schema:
      return print_result(contract(program.registry, program.commands, text_of("operation")));
    case Special::OpenApi:
      return print_result(openapi_document(program.registry, {.chat = true, .embeddings = true}));
    case Special::Man:
      return print_text(man_page(program.commands));
    case Special::Version:
      return print_result(Json{{"name", "indx"}, {"version", kVersion}});
    case Special::Completion:
      break;
  }
  const std::string script = completion_script(text_of("shell"));
  return script.empty()
             ? print_error(invalid("The shell must be bash, zsh or fish.", Json{{"path", "shell"}}))
             : print_text(script);
}

}  // namespace

int main(int argc, char** argv) {
  prepare_signals();
  const Registry registry = make_registry();
  const std::vector<Command> commands = make_commands(registry);
  if (argc > 2 && argv[1] == kCompleteWord)
    return run_complete({argv + 3, argv + argc}, process_environment(), registry, commands);
  const auto invocation = parse_args({argv + 1, argv + argc}, commands, read_source);
  if (!invocation) return print_error(invocation.error());
  if (invocation->global.help) return print_text(help_text(invocation->words, commands));
  if (invocation->global.version) return print_text(cat("indx ", kVersion, "\n"));
  if (invocation->command == nullptr) {
    write_all(STDERR_FILENO, help_text({}, commands));
    return 2;
  }
  const Environment env = process_environment();
  if (const auto log_ready = set_up_log(*invocation, env); !log_ready)
    return print_error(log_ready.error());
  const std::string name =
      argc > 0 && std::string(argv[0]).find('/') != std::string::npos ? argv[0] : "indx";
  return run({name, env, registry, commands}, *invocation);
}
