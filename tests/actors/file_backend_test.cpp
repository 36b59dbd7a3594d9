#include "actors/file_backend.hpp"

#include "actors/engine.hpp"
#include "tests/support/process.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

namespace indx {
namespace {

/// A vault with a note, a canvas and a picture, and who asks about them.
struct FilesToRead {
  FilesToRead() {
    vault.write("a/Note.md", "---\ntag: old\naliases: [x]\n---\n# One\n\ntext #t [[b]] ^id\n");
    vault.write("b.canvas", R"({"nodes":[{"id":"1","type":"text","text":"[[Note]]"}]})");
    vault.write("c.png", "no picture");
    vault.write("d.md", std::string("\xff\xfe bytes"));
    config.vault_dir = vault.path();
    config.index_dir = vault.path() + "/.indx";
    config.durability = Durability::Off;
    config.ai.enabled = false;
    caller.subject = "local";
    caller.scopes = {Scope::VaultRead};
  }

  Answer ask(Backend& backend, const std::string& operation, const Json& input) const {
    Call call;
    call.operation = registry.find(operation);
    call.input = input;
    call.principal = caller;
    return make_dispatcher(registry, backend)->call_and_wait(std::move(call));
  }

  TempFolder vault;
  const Registry registry = make_registry();
  Config config;
  Principal caller;
};

Json shown(const Answer& answer) {
  return answer.result ? Json{{"data", *answer.result}, {"has_file", answer.file != nullptr}}
                       : answer.result.error().to_json();
}

/// Inputs that are tried with every operation that needs only files.
std::vector<Json> inputs_of(const Operation& operation) {
  std::vector<Json> inputs = {Json::object()};
  if (operation.input->find("path") != nullptr)
    for (const auto* path : {"a/Note.md", "A/NOTE.md", "b.canvas", "c.png", "d.md", "none.md",
                             "none.canvas", ".indx/token", "../x.md"})
      inputs.push_back({{"path", path}});
  if (operation.input->find("heading") != nullptr) {
    inputs.push_back({{"path", "a/Note.md"}, {"heading", "One"}});
    inputs.push_back({{"path", "a/Note.md"}, {"heading", "Two"}});
    inputs.push_back({{"path", "a/Note.md"}, {"block_id", "id"}, {"include", {"body", "links"}}});
  }
  if (operation.input->find("date") != nullptr) inputs.push_back({{"date", "2026-01-02"}});
  if (operation.input->find("key") != nullptr) inputs.push_back({{"key", "http.workers"}});
  return inputs;
}

}  // namespace

TEST_CASE("what needs only files answers the same with an engine and without", "[actors][A93]") {
  FilesToRead f;
  for (const bool ignores_case : {false, true}) {
    f.config.case_insensitive_match = f.config.legacy_properties = ignores_case;
    const auto files = open_file_backend(f.config);
    REQUIRE(files);
    const auto engine = Engine::start(f.config, f.registry, {});
    REQUIRE(engine);
    int compared = 0;
    for (const auto& globs : {std::vector<std::string>{}, {"b.canvas"}, {"A/**", "a/**"}}) {
      f.caller.path_globs = globs;
      for (const auto& operation : f.registry.all()) {
        if (operation.needs != Needs::Files) continue;
        for (const auto& input : inputs_of(operation)) {
          INFO(operation.name << " " << input.dump());
          CHECK(shown(f.ask(**files, operation.name, input)) ==
                shown(f.ask(**engine, operation.name, input)));
          ++compared;
        }
      }
    }
    CHECK(compared > 150);
    (*engine)->stop();
  }
}

TEST_CASE("a read without an engine leaves no trace", "[actors]") {
  const FilesToRead f;
  const auto files = open_file_backend(f.config);
  REQUIRE(files);

  const auto answer = f.ask(**files, "note_read", {{"path", "a/Note.md"}});

  REQUIRE(answer.result);
  CHECK((*answer.result)["title"] == "One");
  CHECK_FALSE(std::filesystem::exists(f.config.index_dir));
  const auto lock = VaultLock::acquire(f.config.vault_dir);
  CHECK(lock);
}

TEST_CASE("who asks for more than it says it needs gets an internal error", "[actors]") {
  const FilesToRead f;
  const auto files = open_file_backend(f.config);
  REQUIRE(files);

  for (const auto* operation : {"note_list", "tag_list", "link_orphans", "recent_changes"}) {
    INFO(operation);
    const auto answer = f.ask(**files, operation, Json::object());
    REQUIRE_FALSE(answer.result);
    CHECK(answer.result.error().reason == Reason::Internal);
  }
}

TEST_CASE("without an engine a wrong vault or provider is refused as with one", "[actors]") {
  FilesToRead f;
  f.config.ai.enabled = true;
  f.config.ai.provider = "nobody";

  const auto files = open_file_backend(f.config);
  const auto engine = Engine::start(f.config, f.registry, {});

  REQUIRE_FALSE(files);
  REQUIRE_FALSE(engine);
  CHECK(files.error().to_json() == engine.error().to_json());
}

}  // namespace indx
