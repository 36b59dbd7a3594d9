#include "base/config.hpp"

#include "base/clock.hpp"
#include "base/config_table.hpp"
#include "base/text.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

namespace indx {
namespace {

/// A vault folder with the given `config.json`, gone at the end of the test.
struct ConfigFolder {
  std::filesystem::path root;

  explicit ConfigFolder(const std::string& config = "") {
    std::string name = (std::filesystem::temp_directory_path() / "indx-config-XXXXXX").string();
    root = mkdtemp(name.data());
    if (config.empty()) return;
    std::filesystem::create_directory(root / ".indx");
    std::ofstream(root / ".indx" / "config.json") << config;
  }
  ~ConfigFolder() { std::filesystem::remove_all(root); }
  ConfigFolder(const ConfigFolder&) = delete;
  ConfigFolder& operator=(const ConfigFolder&) = delete;
};

/// A row of docs/configuration.md as the table wants it.
std::string reference_row(const ConfigKey& key, const Json& effective) {
  const auto code = [](const std::string& text) {
    return text.empty() ? "none" : "`" + text + "`";
  };
  const Json value = effective.contains(key.key) ? effective[key.key]["value"] : Json("");
  const std::string initial = value.is_string()                   ? value.get<std::string>()
                              : value.is_array() && value.empty() ? std::string()
                                                                  : value.dump();
  const std::string place = !key.in_file                   ? "variable"
                            : key.variable.empty()         ? "file"
                            : key.wins == ConfigWins::File ? "file, variable"
                                                           : "variable, file";
  return cat("\n| `", key.key, "` | ", code(key.variable), " | ", place, " | ", code(initial),
             " | ", allowed_values(key), " | ", key.about, " |\n");
}

using Variables = std::map<std::string, std::string>;

Environment environment_of(Variables variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    if (name == "INDX_*") {
      std::vector<std::string> names;
      for (const auto& [key, value] : variables) names.push_back(key);
      return join(names, "\n");
    }
    const auto it = variables.find(name);
    if (it == variables.end()) return std::nullopt;
    return it->second;
  };
}

Result<Config> load(const std::string& file, Variables variables = {},
                    std::vector<std::string>* warnings = nullptr) {
  const ConfigFolder folder(file);
  return load_config(folder.root.string(), environment_of(std::move(variables)), warnings);
}

/// The error of a configuration that must be refused.
Error refused(const std::string& file, Variables variables = {}) {
  const auto config = load(file, std::move(variables));
  REQUIRE_FALSE(config.has_value());
  REQUIRE(config.error().name() == "validation_failed");
  return config.error();
}

}  // namespace

TEST_CASE("without file and environment the defaults hold and AI is off",
          "[base][D11][D12][D13][D14]") {
  const auto config = load("");

  REQUIRE(config.has_value());
  CHECK(config->index_dir == config->vault_dir + "/.indx");
  CHECK(config->port == 8080);
  CHECK(config->durability == Durability::Full);
  CHECK(config->ai.provider.empty());
  CHECK(config->ai.model.empty());
  CHECK(config->ai.max_input_tokens == 64000);
  CHECK(config->ai.max_output_tokens == 2048);
  CHECK(config->ai.temperature == 0);
  CHECK(config->ai.ask_gate == 0.47);
  CHECK(config->ai.requests_per_minute == 0);
  CHECK(config->ai.tokens_per_minute == 0);
  CHECK(config->jobs.lease == milliseconds(15000));
}

TEST_CASE("the index folder can stand outside the vault and its config.json is the one read",
          "[base][A7]") {
  const ConfigFolder vault(R"({"ai": {"temperature": 1}})"),
      other(R"({"ai": {"temperature": 0.5}})");
  const auto index = (other.root / ".indx").string();

  const auto config = load_config(vault.root.string(), environment_of({{"INDX_INDEX_DIR", index}}));

  REQUIRE(config.has_value());
  CHECK(config->index_dir == index);
  CHECK(config->ai.temperature == 0.5);
}

TEST_CASE("environment variables set every kind of value", "[base][D16][D17][D20]") {
  const auto config = load("", {{"INDX_PORT", "0"},
                                {"INDX_DURABILITY", "off"},
                                {"INDX_LOG_FORMAT", "json"},
                                {"INDX_WATCH", "off"},
                                {"INDX_AI_PROVIDER", "openai"},
                                {"INDX_AI_MODEL", "m"},
                                {"INDX_AI_TEMPERATURE", "0.25"},
                                {"INDX_AI_REQUESTS_PER_MINUTE", "60"},
                                {"INDX_AI_TOKENS_PER_MINUTE", "90000"},
                                {"INDX_AI_TIMEOUT_MS", "1500"},
                                {"INDX_AI_ALLOW_GLOBS", "Public/**, [a-c]*.md"},
                                {"INDX_OPENAI_BASE_URL", "http://127.0.0.1:1/v1/"},
                                {"OPENAI_API_KEY", "sk-alias"},
                                {"INDX_JOBS_LANES_PER_JOB", "3"}});

  REQUIRE(config.has_value());
  CHECK(config->port == 0);
  CHECK(config->durability == Durability::Off);
  CHECK(config->log_format == LogFormat::JsonLines);
  CHECK_FALSE(config->watch);
  CHECK(config->ai.provider == "openai");
  CHECK(config->ai.temperature == 0.25);
  CHECK(config->ai.requests_per_minute == 60);
  CHECK(config->ai.tokens_per_minute == 90000);
  CHECK(config->ai.timeout == milliseconds(1500));
  CHECK(config->ai.allow_globs == std::vector<std::string>{"Public/**", "[a-c]*.md"});
  CHECK(config->ai.openai_base_url == "http://127.0.0.1:1/v1");
  CHECK(config->ai.openai_api_key == "sk-alias");
  CHECK(config->jobs.lanes_per_job == 3);
}

TEST_CASE("the file wins for tuning keys and the environment for safety keys",
          "[base][D23][D24][D26]") {
  const auto config = load(
      R"({"ai": {"enabled": true, "provider": "builtin", "temperature": 0.5, "max_input_tokens": 10,
                               "max_output_tokens": 20, "allow_globs": ["a/**"], "deny_globs": ["b/**"]}})",
      {{"INDX_AI_ENABLED", "false"},
       {"INDX_AI_PROVIDER", "openai"},
       {"INDX_AI_TEMPERATURE", "1"},
       {"INDX_AI_MAX_INPUT_TOKENS", "11"},
       {"INDX_AI_MAX_OUTPUT_TOKENS", "21"},
       {"INDX_AI_ALLOW_GLOBS", "c/**"},
       {"INDX_AI_DENY_GLOBS", "d/**"}});

  REQUIRE(config.has_value());
  CHECK_FALSE(config->ai.enabled);
  CHECK(config->ai.provider == "openai");
  CHECK(config->ai.temperature == 0.5);
  CHECK(config->ai.max_input_tokens == 10);
  CHECK(config->ai.max_output_tokens == 20);
  CHECK(config->ai.allow_globs == std::vector<std::string>{"a/**"});
  CHECK(config->ai.deny_globs == std::vector<std::string>{"b/**"});
}

TEST_CASE("ai.enabled false in the file holds whatever the environment says", "[base][D22]") {
  const auto config = load(R"({"ai": {"enabled": false}})", {{"INDX_AI_ENABLED", "true"}});

  REQUIRE(config.has_value());
  CHECK_FALSE(config->ai.enabled);
}

TEST_CASE("the provider defaults to that of embeddings and none means off", "[base][D10]") {
  CHECK(load("", {{"INDX_EMBEDDINGS_PROVIDER", "builtin"}})->ai.provider == "builtin");
  CHECK(load("", {{"INDX_EMBEDDINGS_PROVIDER", "builtin"}, {"INDX_AI_PROVIDER", "openai"}})
            ->ai.provider == "openai");
  CHECK(load("", {{"INDX_EMBEDDINGS_PROVIDER", "builtin"}, {"INDX_AI_PROVIDER", "none"}})
            ->ai.provider.empty());
}

TEST_CASE("every provider is known by name, google as gemini, for both roles", "[base][D7][D10]") {
  for (const char* name :
       {"builtin", "openai", "ollama", "anthropic", "gemini", "vercel-ai-gateway", "replay"})
    CHECK(load("", {{"INDX_AI_PROVIDER", name}})->ai.provider == name);
  const auto google = load("", {{"INDX_EMBEDDINGS_PROVIDER", "google"},
                                {"INDX_EMBEDDINGS_MODEL", "gemini-embedding-001"}});
  CHECK(google->ai.provider == "gemini");
  CHECK(google->ai.embeddings_provider == "gemini");
  CHECK(google->ai.embeddings_model == "gemini-embedding-001");
}

TEST_CASE("vectors come from the provider named for them, else from the builtin one if that is on",
          "[base][D2][D20]") {
  const auto provider = [](const std::map<std::string, std::string>& env) {
    return load("", env)->ai.embeddings_provider;
  };

  CHECK(provider({}).empty());
  CHECK(provider({{"INDX_AI_PROVIDER", "builtin"}}) == "builtin");
  CHECK(provider({{"INDX_AI_PROVIDER", "openai"},
                  {"INDX_AI_MODEL", "m"},
                  {"INDX_EMBEDDINGS_PROVIDER", "builtin"}}) == "builtin");
  CHECK(provider({{"INDX_AI_PROVIDER", "builtin"}, {"INDX_EMBEDDINGS_PROVIDER", "none"}}).empty());
  CHECK(provider({{"INDX_AI_PROVIDER", "openai"}, {"INDX_AI_MODEL", "m"}}).empty());
}

TEST_CASE("a provider of a later version is refused as such, an unknown one as unknown",
          "[base][D10]") {
  const auto later = refused("", {{"INDX_AI_PROVIDER", "huggingface"}});
  CHECK(later.message.find("not available in this version") != later.message.npos);
  const auto unknown = refused("", {{"INDX_AI_PROVIDER", "nobody"}});
  CHECK(unknown.message.find("builtin, openai, ollama") != unknown.message.npos);
  CHECK(unknown.message.find("not available") == unknown.message.npos);
  CHECK(refused("", {{"INDX_EMBEDDINGS_PROVIDER", "nobody"}}).details["key"] ==
        "INDX_EMBEDDINGS_PROVIDER");
}

TEST_CASE("each provider has its own address, key and alias of the key", "[base][D20]") {
  const auto config = load("", {{"INDX_AI_GATEWAY_KEY", "gw-own"},
                                {"AI_GATEWAY_API_KEY", "gw-alias"},
                                {"ANTHROPIC_API_KEY", "an-alias"},
                                {"INDX_GEMINI_API_KEY", "ge-own"},
                                {"INDX_OLLAMA_BASE_URL", "http://127.0.0.1:1/"},
                                {"INDX_ANTHROPIC_BASE_URL", "http://127.0.0.1:2"}});
  REQUIRE(config.has_value());
  CHECK(config->ai.gateway_api_key == "gw-own");
  CHECK(config->ai.anthropic_api_key == "an-alias");
  CHECK(config->ai.gemini_api_key == "ge-own");
  CHECK(config->ai.ollama_base_url == "http://127.0.0.1:1");
  CHECK(config->ai.anthropic_base_url == "http://127.0.0.1:2");
  CHECK(config->ai.gateway_base_url == "https://ai-gateway.vercel.sh/v1");
  CHECK(refused("", {{"INDX_OLLAMA_BASE_URL", "127.0.0.1:1"}}).details["key"] ==
        "INDX_OLLAMA_BASE_URL");
}

TEST_CASE("recording and replaying exclude each other, and fixtures lie in the index folder",
          "[base][D21]") {
  const auto recording = load("", {{"AI_TEST_RECORD", "1"}});
  REQUIRE(recording.has_value());
  CHECK(recording->ai.test_record);
  CHECK(recording->ai.fixtures_dir == recording->index_dir + "/ai-fixtures");
  CHECK(load("", {{"AI_TEST_REPLAY", "1"}, {"AI_TEST_FIXTURES", "/x"}})->ai.fixtures_dir == "/x");
  CHECK(refused("", {{"AI_TEST_RECORD", "1"}, {"AI_TEST_REPLAY", "1"}}).details["key"] ==
        "AI_TEST_RECORD");
}

TEST_CASE("proxies come from the environment", "[base]") {
  const auto config = load("", {{"https_proxy", "http://proxy.test:3128"}, {"NO_PROXY", "a.test"}});
  REQUIRE(config.has_value());
  CHECK(config->ai.proxies.https == "http://proxy.test:3128");
  CHECK(config->ai.proxies.bypass == "a.test");
}

TEST_CASE("an INDX key wins over its alias and never shows in an error", "[base][D20]") {
  CHECK(load("", {{"INDX_OPENAI_API_KEY", "sk-own"}, {"OPENAI_API_KEY", "sk-alias"}})
            ->ai.openai_api_key == "sk-own");

  const auto error = refused("", {{"INDX_OPENAI_API_KEY", "sk-se\ncret"}});

  CHECK(error.details["key"] == "INDX_OPENAI_API_KEY");
  CHECK(error.to_json().dump().find("cret") == std::string::npos);
}

TEST_CASE("a bad value is told with key, value, allowed values and place", "[base]") {
  const auto port = refused("", {{"INDX_PORT", "99999"}});
  CHECK(port.details == Json{{"key", "INDX_PORT"},
                             {"source", "environment"},
                             {"allowed", "a whole number from 0 to 65535"},
                             {"value", "99999"}});
  CHECK(port.message ==
        "INDX_PORT is `99999` but must be a whole number from 0 to 65535; it is set in the "
        "environment.");

  const auto durability = refused("", {{"INDX_DURABILITY", "maybe"}});
  CHECK(durability.details["allowed"] == "one of full, normal, off");

  const auto temperature = refused(R"({"ai": {"temperature": 3}})");
  CHECK(temperature.details["key"] == "ai.temperature");
  CHECK(temperature.details["source"] == "config.json");
}

TEST_CASE("numbers are whole texts inside their range", "[base]") {
  for (const char* bad : {"12x", "-1", "1e3", "0x10", "99999999999999999999", "1.5"})
    CHECK(refused("", {{"INDX_HTTP_WORKERS", bad}}).details["value"] == bad);
  for (const char* bad : {"nan", "inf", "2.1"}) refused("", {{"INDX_AI_TEMPERATURE", bad}});
  refused("", {{"INDX_WATCH", "perhaps"}});
}

TEST_CASE("wrong types in the file are refused with the key", "[base]") {
  CHECK(refused(R"({"ai": {"temperature": "0.5"}})").details["key"] == "ai.temperature");
  CHECK(refused(R"({"ai": {"max_input_tokens": 1.5}})").details["key"] == "ai.max_input_tokens");
  CHECK(refused(R"({"ai": {"deny_globs": "a/**"}})").details["key"] == "ai.deny_globs");
  CHECK(refused(R"({"ai": {"deny_globs": [1]}})").details["key"] == "ai.deny_globs");
  CHECK(refused(R"({"ai": {"enabled": "true"}})").details["key"] == "ai.enabled");
  CHECK(refused(R"({"ai": true})").details["key"] == "ai");
}

TEST_CASE("a broken file is refused with its line and without its text", "[base]") {
  const auto broken = refused("{\n  \"ai\": {\n    \"model\": hunter2\n  }\n}");
  CHECK(broken.details["line"] == 3);
  CHECK(broken.to_json().dump().find("hunter2") == std::string::npos);
  CHECK(refused("[1]").message == "config.json must hold one JSON object.");
  refused(std::string(5000, '['));
  refused(std::string(2U << 20U, ' '));
}

TEST_CASE("a file that is nested too deep is refused before anything walks it", "[base]") {
  constexpr int kLevels = 150'000;
  std::string text;
  for (int i = 0; i < kLevels; ++i) text += "{\"\":";
  text += "0" + std::string(kLevels, '}');
  CHECK(refused(text).message.find("nested deeper") != std::string::npos);
}

TEST_CASE("a secret in the file is refused and not repeated", "[base][A78]") {
  for (const char* file : {R"({"openai_api_key": "hidden"})", R"({"ai": {"api-key": "hidden"}})",
                           R"({"x": {"token": "hidden"}})", R"({"ai": {"model": "sk-hidden"}})",
                           R"({"PASSWORD": 1})"}) {
    const auto error = refused(file);
    CHECK(error.message.find("secrets never in config.json") != error.message.npos);
    CHECK(error.to_json().dump().find("hidden") == std::string::npos);
  }
}

TEST_CASE("unknown keys and variables are warnings", "[base]") {
  std::vector<std::string> warnings;

  const auto config = load(R"({"ai": {"temprature": 1}, "ai.temperature": 2, "colour": {"a": 1}})",
                           {{"INDX_PROT", "1"}, {"INDX_VAULT", "v"}}, &warnings);

  REQUIRE(config.has_value());
  CHECK(config->ai.temperature == 0);
  REQUIRE(warnings.size() == 4);
  CHECK(warnings[0].find("ai.temprature") != std::string::npos);
  CHECK(warnings[3].find("INDX_PROT") != std::string::npos);
}

TEST_CASE("a key that only the environment sets is not read from the file", "[base]") {
  std::vector<std::string> warnings;

  const auto config =
      load(R"({"host": "0.0.0.0", "openai": {"base_url": "http://example.com"}})", {}, &warnings);

  REQUIRE(config.has_value());
  CHECK(config->host == "127.0.0.1");
  CHECK(config->ai.openai_base_url == "https://api.openai.com/v1");
  CHECK(warnings.size() == 2);
}

TEST_CASE("only the environment says which file holds the embedding model", "[base]") {
  CHECK(load("")->ai.embeddings_model_file.empty());
  CHECK(load("", {{"INDX_EMBEDDINGS_MODEL_FILE", "/opt/m"}})->ai.embeddings_model_file == "/opt/m");
  CHECK(load(R"({"embeddings": {"model_file": "/vault/m"}})")->ai.embeddings_model_file.empty());
}

TEST_CASE("the file sets tuning of jobs, versions and http", "[base]") {
  const auto config = load(
      R"({"jobs": {"lease_ms": 900, "max_crashes": 7}, "versions": {"max_bytes": 5000000000, "days": null},
                               "http": {"workers": 2}, "legacy_properties": true})");

  REQUIRE(config.has_value());
  CHECK(config->jobs.lease == milliseconds(900));
  CHECK(config->jobs.heartbeat == milliseconds(300));
  CHECK(config->jobs.max_crashes == 7);
  CHECK(config->versions_max_bytes == 5000000000);
  CHECK(config->version_days == 30);
  CHECK(config->http_workers == 2);
  CHECK(config->legacy_properties);
}

TEST_CASE("a heartbeat that is not shorter than the lease is refused", "[base]") {
  CHECK(refused("", {{"INDX_JOBS_LEASE_MS", "100"}, {"INDX_JOBS_HEARTBEAT_MS", "100"}})
            .details["key"] == "INDX_JOBS_HEARTBEAT_MS");
}

TEST_CASE("the file's text is taken as it is, without references", "[base]") {
  CHECK(load(R"({"ai": {"model": "${user.home}/x"}})")->ai.model == "${user.home}/x");
}

TEST_CASE("the reference of the configuration holds every key as the table has it, and no other",
          "[base]") {
  std::ifstream file(std::string(INDX_TEST_DATA) + "/../../docs/configuration.md");
  const std::string page(std::istreambuf_iterator<char>(file), {});
  const ConfigFolder folder;
  const auto effective = effective_config(folder.root, environment_of({}));
  REQUIRE(effective.has_value());

  for (const auto& key : config_keys()) {
    const auto row = reference_row(key, *effective);
    INFO(row);
    CHECK_FALSE(key.about.empty());
    CHECK(page.find(row) != page.npos);
  }
  for (const auto& row : place_variables())
    CHECK(page.find(cat("\n| `", row.name, "` | ", row.about, " |\n")) != page.npos);
  const auto rows = split(page, '\n');
  CHECK(std::count_if(rows.begin(), rows.end(), [](const auto& row) {
          return row.starts_with("| `");
        }) == static_cast<std::ptrdiff_t>(config_keys().size() + place_variables().size()));
}

TEST_CASE("a value that is refused was not set anywhere, and the error says so", "[base]") {
  const ConfigFolder folder(R"({"jobs": {"heartbeat_ms": 900}})");
  const auto index_dir = (folder.root / ".indx").string();

  const auto word = change_config_file(index_dir, {{"case_insensitive_match", "yes"}});
  const auto number = change_config_file(index_dir, {{"http.workers", 0}});
  const auto other = change_config_file(index_dir, {{"jobs.lease_ms", 800}});

  REQUIRE_FALSE(word);
  CHECK(word.error().message == "case_insensitive_match is `\"yes\"` but must be true or false.");
  CHECK(word.error().details["source"] == "call");
  REQUIRE_FALSE(number);
  CHECK(number.error().message == "http.workers is `0` but must be a whole number from 1 to 1024.");
  REQUIRE_FALSE(other);  // what the file holds is told as before
  CHECK(other.error().details["source"] == "config.json");
}

TEST_CASE("cost and cache are set by file and environment", "[base][D15][D18][D25][G44]") {
  const auto plain = load("");
  CHECK(plain->ai.cache_enabled);
  CHECK(plain->ai.cache_ttl_hours == 24);
  CHECK_FALSE(plain->ai.daily_cost_usd);

  const auto file = load(R"({"ai": {"daily_cost_usd": 5, "cache": {"enabled": false,
      "ttl_hours": 0.5}, "prices": {"openai/gpt-4.1": {"input_per_1k": 1, "output_per_1k": 2}}}})");
  CHECK_FALSE(file->ai.cache_enabled);
  CHECK(file->ai.cache_ttl_hours == 0.5);
  CHECK(file->ai.daily_cost_usd == 5.0);
  CHECK(file->ai.prices.at("openai/gpt-4.1").output_per_1k == 2);

  const auto both = load(R"({"ai": {"daily_cost_usd": 5}})",
                         {{"INDX_AI_DAILY_COST_USD", "0.25"}, {"INDX_AI_CACHE", "off"}});
  CHECK(both->ai.daily_cost_usd == 0.25);  // a limit is a matter of safety
  CHECK_FALSE(both->ai.cache_enabled);
  CHECK_FALSE(load(R"({"ai": {"daily_cost_usd": null}})")->ai.daily_cost_usd);

  CHECK(refused(R"({"ai": {"daily_cost_usd": -1}})", {}).details["key"] == "ai.daily_cost_usd");
  CHECK(refused(R"({"ai": {"prices": {"gpt": {"input_per_1k": 1, "output_per_1k": 2}}}})", {})
            .details["key"] == "ai.prices");
  CHECK(refused(R"({"ai": {"prices": {"a/b": {"input_per_1k": -1, "output_per_1k": 2}}}})", {})
            .details["key"] == "ai.prices");
}

}  // namespace indx
