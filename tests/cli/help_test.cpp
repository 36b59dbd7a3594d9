#include "cli/help.hpp"

#include "cli/completion.hpp"
#include "cli/output.hpp"
#include "cli/serve.hpp"
#include "tests/cli/small_registry.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("help of a command tells usage, arguments, flags and an example", "[cli]") {
  const Registry registry = small_registry();
  const auto commands = make_commands(registry);

  const auto text = help_text({"note", "get"}, commands);

  CHECK(holds(text, "Usage: indx note get PATH [flags]"));
  CHECK(holds(text, "--with-body"));
  CHECK(holds(text, "--include TEXT"));
  CHECK(holds(text, "Before changing it."));
  CHECK(holds(text, "indx note get Projects/Plan.md\n"));
}

TEST_CASE("help of a noun lists its verbs, and the program's lists all", "[cli][A94]") {
  const Registry registry = small_registry();
  const auto commands = make_commands(registry);

  CHECK(holds(help_text({"note"}, commands), "drop"));
  const auto all = help_text({}, commands);
  for (const char* part : {"note get", "ai tag", "mcp serve", "schema", "completion",
                           "--idempotency-key KEY", "Exit codes"})
    CHECK(holds(all, part));
}

TEST_CASE("the contract of an operation is found by name and by its words", "[cli][A94]") {
  const Registry registry = small_registry();
  const auto commands = make_commands(registry);

  const auto by_name = contract(registry, commands, "note_read");
  const auto by_words = contract(registry, commands, "note get");

  REQUIRE(by_name);
  REQUIRE(by_words);
  CHECK(*by_name == *by_words);
  CHECK((*by_name)["errors"][0]["exit_code"] == 3);
  CHECK(contract(registry, commands, "nothing").error().exit_code() == 3);
}

TEST_CASE("completion scripts know words and flags", "[cli]") {
  const Registry registry = small_registry();
  const auto commands = make_commands(registry);

  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const auto script = completion_script(shell, commands);
    CHECK(holds(script, "drop"));
    CHECK(holds(script, "with-body"));
  }
  CHECK(completion_script("ksh", commands).empty());
}

TEST_CASE("an error is a sentence and a line of JSON", "[cli][A93]") {
  CHECK(error_text(not_found("No note.", {{"path", "a.md"}})) ==
        "error: No note.\n{\"code\":\"not_found\",\"message\":\"No "
        "note.\",\"details\":{\"path\":\"a.md\"}}\n");
  CHECK(data_text({{"a", 1}}, false) == "{\"a\":1}\n");
}

TEST_CASE("the banner shows address, token file and three commands", "[cli]") {
  Banner banner{"indx",
                "/my notes",
                "http://127.0.0.1:8080",
                "/my notes/.indx/token",
                "/my notes/.indx/socket",
                true};

  const auto text = banner_text(banner);

  CHECK(holds(text, "address  http://127.0.0.1:8080\n"));
  CHECK(holds(text, "$(cat '/my notes/.indx/token')"));
  CHECK(holds(text, "indx ai tag --scope-glob '**' --apply --async --vault '/my notes'"));
  CHECK(holds(text, "indx job watch --vault '/my notes'"));
}

}  // namespace indx
