#pragma once
#include "base/http_proxy.hpp"
#include "base/json.hpp"
#include "base/result.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace indx {

enum class Durability : std::uint8_t { Full, Normal, Off };
enum class LogFormat : std::uint8_t { Text, JsonLines };

/// US dollars for 1,000 tokens.
struct TokenPrice {
  double input_per_1k = 0, output_per_1k = 0;
};

struct AiConfig {
  bool enabled = true;   ///< config `ai.enabled`, env `INDX_AI_ENABLED`
  std::string provider;  ///< env `INDX_AI_PROVIDER`, config `ai.provider`; empty: AI is off
  std::string model;     ///< `INDX_AI_MODEL`, `ai.model`
  std::string openai_base_url = "https://api.openai.com/v1";  ///< `INDX_OPENAI_BASE_URL`
  std::string openai_api_key;  ///< `INDX_OPENAI_API_KEY`, then `OPENAI_API_KEY`; never logged
  std::string openai_structured_output = "json_schema";    ///< `INDX_OPENAI_STRUCTURED_OUTPUT`
  std::string ollama_base_url = "http://127.0.0.1:11434";  ///< `INDX_OLLAMA_BASE_URL`
  std::string anthropic_base_url = "https://api.anthropic.com";  ///< `INDX_ANTHROPIC_BASE_URL`
  std::string anthropic_api_key;  ///< `INDX_ANTHROPIC_API_KEY`, then `ANTHROPIC_API_KEY`
  std::string gemini_base_url =
      "https://generativelanguage.googleapis.com/v1beta";  ///< `INDX_GEMINI_BASE_URL`
  std::string gemini_api_key;  ///< `INDX_GEMINI_API_KEY`, then `GEMINI_API_KEY`
  std::string gateway_base_url = "https://ai-gateway.vercel.sh/v1";  ///< `INDX_AI_GATEWAY_BASE_URL`
  std::string gateway_api_key;  ///< `INDX_AI_GATEWAY_KEY`, then `AI_GATEWAY_API_KEY`
  /// `INDX_EMBEDDINGS_PROVIDER`, else builtin where `provider` is; empty: search by meaning is off
  std::string embeddings_provider;
  std::string embeddings_model;  ///< `INDX_EMBEDDINGS_MODEL`; empty: the provider's usual one
  int max_input_tokens = 64000;  ///< `INDX_AI_MAX_INPUT_TOKENS`, `ai.max_input_tokens`
  int max_output_tokens = 2048;  ///< `INDX_AI_MAX_OUTPUT_TOKENS`, `ai.max_output_tokens`
  double temperature = 0;        ///< `INDX_AI_TEMPERATURE`, `ai.temperature`
  /// `INDX_AI_ASK_GATE`, `ai.ask_gate`: cosine of a sentence that answers without a model
  double ask_gate = 0.47;
  std::chrono::milliseconds timeout{30000};         ///< `INDX_AI_TIMEOUT_MS`: a whole call
  std::chrono::milliseconds connect_timeout{5000};  ///< `INDX_AI_CONNECT_TIMEOUT_MS`
  std::chrono::milliseconds first_byte_timeout{0};  ///< `INDX_AI_FIRST_BYTE_TIMEOUT_MS`; 0: none
  std::chrono::milliseconds idle_timeout{0};        ///< `INDX_AI_IDLE_TIMEOUT_MS`; 0: none
  ProxySettings proxies;                            ///< http_proxy, https_proxy, no_proxy
  /// `INDX_AI_REQUESTS_PER_MINUTE`, `ai.requests_per_minute`; 0: any number
  std::int64_t requests_per_minute = 0;
  /// `INDX_AI_TOKENS_PER_MINUTE`, `ai.tokens_per_minute`; 0: any number
  std::int64_t tokens_per_minute = 0;
  bool test_record = false;  ///< `AI_TEST_RECORD`: replies are kept in fixtures_dir
  bool test_replay = false;  ///< `AI_TEST_REPLAY`: and served from there, without any call
  std::string fixtures_dir;  ///< `AI_TEST_FIXTURES`; default `<index_dir>/ai-fixtures`
  std::vector<std::string> allow_globs;  ///< `INDX_AI_ALLOW_GLOBS`, `ai.allow_globs`; empty: all
  std::vector<std::string> deny_globs;   ///< `INDX_AI_DENY_GLOBS`, `ai.deny_globs`; wins over allow
  bool cache_enabled = true;             ///< `INDX_AI_CACHE`, `ai.cache.enabled`
  double cache_ttl_hours = 24;           ///< `INDX_AI_CACHE_TTL_HOURS`, `ai.cache.ttl_hours`
  /// `INDX_AI_CACHE_MAX_BYTES`, `ai.cache.max_bytes`
  std::int64_t cache_max_bytes = std::int64_t{256} << 20U;
  /// `INDX_AI_DAILY_COST_USD`, `ai.daily_cost_usd`; nullopt: no limit
  std::optional<double> daily_cost_usd;
  /// `ai.prices`, by `provider/model`; they stand before the list of ai/prices.inc
  std::map<std::string, TokenPrice> prices;
  /// `INDX_EMBEDDINGS_MODEL_FILE`; empty: where the program was installed
  std::string embeddings_model_file;
};

/// What is not set here is as `.obsidian/daily-notes.json` says.
struct DailyConfig {
  std::string folder, format, template_path;  ///< `daily.folder`, `daily.format`, `daily.template`
};

struct JobsConfig {  // `INDX_JOBS_*` (upper snake case of the name), config `jobs.*`
  std::chrono::milliseconds lease{15000};
  std::chrono::milliseconds heartbeat{5000};
  std::chrono::milliseconds sweep{5000};
  std::chrono::milliseconds stop_grace{5000};
  int runners = 4;
  int lanes_per_job = 8;
  int lanes = 32;
  int max_attempts = 5;
  int max_crashes = 3;
};

struct McpConfig {
  int max_sessions = 1000;                                        ///< `INDX_MCP_MAX_SESSIONS`
  std::chrono::milliseconds session_idle{std::chrono::hours(1)};  ///< `INDX_MCP_SESSION_IDLE_MS`
};

/// Everything that can be set. Precedence: command line, then for safety keys (enabled,
/// credentials, listeners) the environment over the file, for tuning keys (temperature, max_*,
/// globs) the file over the environment (row D26).
struct Config {
  std::string vault_dir;                     ///< absolute
  std::string index_dir;                     ///< absolute; default `<vault>/.indx`
  std::string host = "127.0.0.1";            ///< `INDX_HOST`
  int port = 8080;                           ///< `INDX_PORT`; 0: the system picks
  Durability durability = Durability::Full;  ///< `INDX_DURABILITY` full|normal|off
  LogFormat log_format = LogFormat::Text;    ///< `INDX_LOG_FORMAT` text|json
  std::string log_level = "info";            ///< `INDX_LOG_LEVEL` debug|info|warn|error
  int http_workers = 8;                      ///< `INDX_HTTP_WORKERS`, `http.workers`
  int rate_limit_per_minute =
      6000;  ///< `INDX_RATE_LIMIT_PER_MINUTE`, `http.rate_limit_per_minute`; 0: none
  std::vector<std::string>
      public_names;  ///< `INDX_HTTP_PUBLIC_NAMES`, `http.public_names`; in lower case
  bool case_insensitive_match = false;                       ///< `case_insensitive_match`
  bool legacy_properties = false;                            ///< `legacy_properties`
  bool watch = true;                                         ///< `INDX_WATCH`
  int versions_per_note = 50;                                ///< `versions.max_per_note`
  int version_days = 30;                                     ///< `versions.days`
  std::int64_t versions_max_bytes = std::int64_t{1} << 30U;  ///< `versions.max_bytes`
  std::string time_zone;  ///< `INDX_TIME_ZONE`, `time_zone`: Europe/Berlin; empty: the system's
  std::int64_t max_attachment_bytes =
      std::int64_t{100} << 20U;  ///< `INDX_ATTACHMENTS_MAX_BYTES`, `attachments.max_bytes`
  DailyConfig daily;
  AiConfig ai;
  JobsConfig jobs;
  McpConfig mcp;
};

/// Reads an environment variable; a parameter so that tests need no real environment. Asked for
/// `INDX_*` it may answer with the names that are set, one a line.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment process_environment();

/// Every key as it is in force: `{"http.workers": {"value": 8, "source":
/// "default|file|environment", "is_settable": true, "variable": "INDX_HTTP_WORKERS", "about": …}}`.
/// Secrets say only whether they are set.
Result<Json> effective_config(const std::string& vault_dir, const Environment& env);

/// Sets keys (`http.workers`) of `<index_dir>/config.json`, null takes one away; other members
/// stay. Nothing is written unless the whole file is valid then. Fails like load_config, with
/// source `call` for a value of `changes`.
Status change_config_file(const std::string& index_dir, const Json& changes);

/// Builds the configuration for the vault at `vault_dir` from the environment and
/// `<index_dir>/config.json`. An error names the key, its value (unless secret), and what is
/// allowed. Unknown `INDX_*` names and file keys are warnings in `*warnings`, when given.
Result<Config> load_config(const std::string& vault_dir, const Environment& env,
                           std::vector<std::string>* warnings = nullptr);

}  // namespace indx
