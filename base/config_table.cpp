#include "base/config_table.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <utility>

namespace indx {
namespace {

constexpr double kNoLimit = 9e15;  // every integer below is exact as a double
constexpr double kMaxMillis = 86'400'000;

/// Where the file wins.
ConfigKey tuning(std::string key, std::string variable, ConfigKind kind, std::string about,
                 double least = 0, double most = 0) {
  return {.key = std::move(key),
          .variable = std::move(variable),
          .kind = kind,
          .wins = ConfigWins::File,
          .least = least,
          .most = most,
          .choices = {},
          .about = std::move(about)};
}
/// Where the environment wins.
ConfigKey safety(std::string key, std::string variable, ConfigKind kind, std::string about) {
  auto row = tuning(std::move(key), std::move(variable), kind, std::move(about));
  row.wins = ConfigWins::Variable;
  return row;
}
ConfigKey limited_safety(std::string key, std::string variable, ConfigKind kind, std::string about,
                         double least, double most) {
  auto row = safety(std::move(key), std::move(variable), kind, std::move(about));
  row.least = least, row.most = most;
  return row;
}
ConfigKey variable_only(std::string key, std::string variable, ConfigKind kind, std::string about,
                        double least = 0, double most = 0) {
  auto row = safety(std::move(key), std::move(variable), kind, std::move(about));
  row.least = least, row.most = most;
  row.in_file = false;
  return row;
}
ConfigKey choice(std::string key, std::string variable, std::vector<std::string> choices,
                 std::string about) {
  auto row = variable_only(std::move(key), std::move(variable), ConfigKind::Text, std::move(about));
  row.choices = std::move(choices);
  return row;
}
ConfigKey secret_variable(std::string key, std::string variable, std::string about) {
  auto row = variable_only(std::move(key), std::move(variable), ConfigKind::Text, std::move(about));
  row.is_secret = true;
  return row;
}

std::string number_text(double value) {
  return value == static_cast<double>(static_cast<std::int64_t>(value))
             ? cat(static_cast<std::int64_t>(value))
             : cat(value);
}

}  // namespace

const std::vector<ConfigKey>& config_keys() {
  using enum ConfigKind;
  static const auto* const all = new std::vector<ConfigKey>{
      // never freed: other statics may still read it at exit
      variable_only(
          "index_dir", "INDX_INDEX_DIR", Text,
          "Folder of the index, the state and config.json; left out: .indx in the vault."),
      variable_only("host", "INDX_HOST", Text,
                    "Address that serve listens on; other than loopback asks every route for a "
                    "token."),
      variable_only("port", "INDX_PORT", Integer,
                    "Port that serve listens on; 0: the system picks.", 0, 65535),
      choice("durability", "INDX_DURABILITY", {"full", "normal", "off"},
             "What outlives a loss of power: full: all that was answered; normal: perhaps not the "
             "last moment; off: nothing is synced, for tests only."),
      choice("log.format", "INDX_LOG_FORMAT", {"text", "json"}, "How log lines look."),
      choice("log.level", "INDX_LOG_LEVEL", {"debug", "info", "warn", "error"},
             "The least that is logged; commands that are no server begin at warn."),
      variable_only("watch", "INDX_WATCH", Flag,
                    "Whether serve notices changes that other programs make."),
      tuning("http.workers", "INDX_HTTP_WORKERS", Integer, "Threads that answer requests.", 1,
             1024),
      tuning("http.rate_limit_per_minute", "INDX_RATE_LIMIT_PER_MINUTE", Integer,
             "Calls that one token may make in a minute; 0: no limit.", 0, 1e9),
      safety("http.public_names", "INDX_HTTP_PUBLIC_NAMES", Text,
             "Host names under which others reach this server, with commas between them, such as "
             "that of a proxy in front of it; left out: none."),
      tuning("case_insensitive_match", "", Flag,
             "Find a file also when its path is given in other upper and lower case."),
      tuning("legacy_properties", "", Flag,
             "Understand the properties tag, alias and cssclass, and lists written with commas or "
             "spaces."),
      tuning("attachments.max_bytes", "INDX_ATTACHMENTS_MAX_BYTES", Integer,
             "Largest attachment that can be stored.", 0, kNoLimit),
      tuning("time_zone", "INDX_TIME_ZONE", Text,
             "Zone of days and times, such as Europe/Berlin; left out: that of the system."),
      tuning("daily.folder", "", Text,
             "Folder of daily notes; left out: as .obsidian/daily-notes.json says."),
      tuning("daily.format", "", Text,
             "Name of a daily note, such as YYYY-MM-DD; left out: likewise."),
      tuning("daily.template", "", Text,
             "Note that a new daily note begins with; left out: "
             "likewise."),
      tuning("versions.max_per_note", "", Integer,
             "Versions that are kept of one note; more go at the next prune, every 10 minutes.", 0,
             1e6),
      tuning("versions.days", "", Integer, "Days that a version is kept; pruned likewise.", 0,
             36500),
      tuning("versions.max_bytes", "", Integer,
             "Bytes of all versions together, the oldest go first; pruned likewise.", 0, kNoLimit),
      safety("ai.enabled", "INDX_AI_ENABLED", Flag,
             "Whether AI operations may run; false in either place turns them off."),
      safety("ai.provider", "INDX_AI_PROVIDER", Text,
             "builtin (local, without a model), openai (any compatible server), ollama, anthropic, "
             "gemini, vercel-ai-gateway, replay (recorded answers) or none."),
      variable_only(
          "embeddings.provider", "INDX_EMBEDDINGS_PROVIDER", Text,
          "What makes vectors for search by meaning: builtin, openai, ollama, gemini, "
          "vercel-ai-gateway, replay or none; left out: builtin where ai.provider is, else none. "
          "Stands for ai.provider where that is not set."),
      variable_only("embeddings.model", "INDX_EMBEDDINGS_MODEL", Text,
                    "The model for vectors; left out: the provider's usual one. Vectors of another "
                    "one wait for `vault embed --reset`."),
      safety("ai.model", "INDX_AI_MODEL", Text,
             "The model to ask; every provider but builtin needs one."),
      variable_only("openai.base_url", "INDX_OPENAI_BASE_URL", Text,
                    "Address of the OpenAI-compatible server."),
      secret_variable("openai.api_key", "INDX_OPENAI_API_KEY", "Key for that server."),
      secret_variable("openai.api_key_alias", "OPENAI_API_KEY",
                      "Stands for INDX_OPENAI_API_KEY where that is not set."),
      choice("openai.structured_output", "INDX_OPENAI_STRUCTURED_OUTPUT",
             {"json_schema", "tool_call", "json_object"},
             "How the OpenAI-compatible server is asked for JSON of a given shape: by schema, by "
             "a call of a tool, or by words alone, with one more try when it does not fit."),
      variable_only("ollama.base_url", "INDX_OLLAMA_BASE_URL", Text, "Address of Ollama."),
      variable_only("anthropic.base_url", "INDX_ANTHROPIC_BASE_URL", Text,
                    "Address of the Anthropic API."),
      secret_variable("anthropic.api_key", "INDX_ANTHROPIC_API_KEY", "Key for that server."),
      secret_variable("anthropic.api_key_alias", "ANTHROPIC_API_KEY",
                      "Stands for INDX_ANTHROPIC_API_KEY where that is not set."),
      variable_only("gemini.base_url", "INDX_GEMINI_BASE_URL", Text, "Address of the Gemini API."),
      secret_variable("gemini.api_key", "INDX_GEMINI_API_KEY", "Key for that server."),
      secret_variable("gemini.api_key_alias", "GEMINI_API_KEY",
                      "Stands for INDX_GEMINI_API_KEY where that is not set."),
      variable_only("gateway.base_url", "INDX_AI_GATEWAY_BASE_URL", Text,
                    "Address of the Vercel AI Gateway."),
      secret_variable("gateway.api_key", "INDX_AI_GATEWAY_KEY", "Key for that server."),
      secret_variable("gateway.api_key_alias", "AI_GATEWAY_API_KEY",
                      "Stands for INDX_AI_GATEWAY_KEY where that is not set."),
      tuning("ai.max_input_tokens", "INDX_AI_MAX_INPUT_TOKENS", Integer,
             "Most tokens of one prompt.", 1, 1e8),
      tuning("ai.max_output_tokens", "INDX_AI_MAX_OUTPUT_TOKENS", Integer,
             "Most tokens of one answer.", 1, 1e8),
      tuning("ai.temperature", "INDX_AI_TEMPERATURE", Number,
             "How freely the model words its answer; 0: as little as it can.", 0, 2),
      tuning("ai.ask_gate", "INDX_AI_ASK_GATE", Number,
             "How near in meaning to a question (cosine) a sentence must be to answer it where no "
             "model does and its section lacks a word of middling rarity; less is asked of a "
             "section with all words, more where a rare word, a name or a number is missing. The "
             "default is that of the builtin embedder.",
             0, 1),
      variable_only("ai.timeout_ms", "INDX_AI_TIMEOUT_MS", Integer,
                    "Milliseconds to wait for the model.", 1, kMaxMillis),
      variable_only("ai.connect_timeout_ms", "INDX_AI_CONNECT_TIMEOUT_MS", Integer,
                    "Milliseconds of that for the connection.", 1, kMaxMillis),
      variable_only("ai.first_byte_timeout_ms", "INDX_AI_FIRST_BYTE_TIMEOUT_MS", Integer,
                    "Milliseconds until the answer begins; 0: no limit but the whole.", 0,
                    kMaxMillis),
      variable_only("ai.idle_timeout_ms", "INDX_AI_IDLE_TIMEOUT_MS", Integer,
                    "Milliseconds that a begun answer may stand still; 0: likewise.", 0,
                    kMaxMillis),
      variable_only("ai.test_record", "AI_TEST_RECORD", Flag,
                    "For tests: keep each answer of the model as a fixture, with its prompt."),
      variable_only("ai.test_replay", "AI_TEST_REPLAY", Flag,
                    "For tests: answer from the fixtures and call nobody; one that is missing is "
                    "an error."),
      variable_only("ai.fixtures_dir", "AI_TEST_FIXTURES", Text,
                    "Folder of the fixtures; left out: ai-fixtures in the index folder."),
      tuning("ai.requests_per_minute", "INDX_AI_REQUESTS_PER_MINUTE", Integer,
             "Calls of the model that may start in a minute, of all jobs and callers together; 0: "
             "no limit.",
             0, 1e6),
      tuning("ai.tokens_per_minute", "INDX_AI_TOKENS_PER_MINUTE", Integer,
             "Tokens of prompts and answers that calls of one minute may use together; 0: no "
             "limit.",
             0, 1e9),
      tuning("ai.allow_globs", "INDX_AI_ALLOW_GLOBS", Globs,
             "Only notes that match may reach a model; left out: all. Commas separate globs in the "
             "variable."),
      tuning("ai.deny_globs", "INDX_AI_DENY_GLOBS", Globs,
             "Notes that match never reach a model, whatever ai.allow_globs says."),
      tuning("ai.cache.enabled", "INDX_AI_CACHE", Flag,
             "Whether answers of the model are kept in ai-cache.db of the index folder and used "
             "again for the same question."),
      tuning("ai.cache.ttl_hours", "INDX_AI_CACHE_TTL_HOURS", Number,
             "Hours that an answer is kept, where a call does not say how long.", 0, 87600),
      tuning("ai.cache.max_bytes", "INDX_AI_CACHE_MAX_BYTES", Integer,
             "Bytes of kept answers together; the oldest go first.", 1, kNoLimit),
      limited_safety("ai.daily_cost_usd", "INDX_AI_DAILY_COST_USD", Number,
                     "US dollars that all callers together may spend on models from one midnight "
                     "UTC to the next; left out: no limit.",
                     0, 1e9),
      tuning("ai.prices", "", Prices,
             "Prices of models, by provider/model, that stand before the list of the program."),
      variable_only("embeddings.model_file", "INDX_EMBEDDINGS_MODEL_FILE", Text,
                    "File of the builtin embedding model; left out: in share/indx where the "
                    "program is installed."),
      tuning("jobs.lease_ms", "INDX_JOBS_LEASE_MS", Integer,
             "Milliseconds after which a job without a heartbeat counts as left behind.", 2,
             kMaxMillis),
      tuning("jobs.heartbeat_ms", "INDX_JOBS_HEARTBEAT_MS", Integer,
             "Milliseconds between the heartbeats of a running job; at most a third of the lease "
             "when left out.",
             1, kMaxMillis),
      tuning("jobs.sweep_ms", "INDX_JOBS_SWEEP_MS", Integer,
             "Milliseconds between two looks for jobs that were left behind.", 1, kMaxMillis),
      tuning("jobs.stop_grace_ms", "INDX_JOBS_STOP_GRACE_MS", Integer,
             "Milliseconds that running jobs get to stop in when the server does.", 0, kMaxMillis),
      tuning("jobs.runners", "INDX_JOBS_RUNNERS", Integer, "Jobs that run at a time.", 1, 256),
      tuning("jobs.lanes_per_job", "INDX_JOBS_LANES_PER_JOB", Integer,
             "Notes that one job works on at a time.", 1, 1024),
      tuning("jobs.lanes", "INDX_JOBS_LANES", Integer, "Notes that all jobs work on at a time.", 1,
             1024),
      tuning("jobs.max_attempts", "INDX_JOBS_MAX_ATTEMPTS", Integer,
             "Times that a failing job is tried.", 1, 1000),
      tuning("jobs.max_crashes", "INDX_JOBS_MAX_CRASHES", Integer,
             "Crashes of the program after which a job that was running is given up.", 1, 1000),
      tuning("mcp.max_sessions", "INDX_MCP_MAX_SESSIONS", Integer,
             "Sessions of MCP clients over HTTP; one more ends the one that was idle the longest.",
             1, 100000),
      tuning("mcp.session_idle_ms", "INDX_MCP_SESSION_IDLE_MS", Integer,
             "Milliseconds without use after which such a session ends; 24 times as long while its "
             "client listens.",
             1000, 7 * kMaxMillis),
  };
  return *all;
}

const ConfigKey* find_config_key(std::string_view key) {
  const auto& all = config_keys();
  const auto it =
      std::find_if(all.begin(), all.end(), [&](const ConfigKey& row) { return row.key == key; });
  return it == all.end() ? nullptr : &*it;
}

std::string allowed_values(const ConfigKey& key) {
  const auto range = cat(" from ", number_text(key.least), " to ", number_text(key.most));
  switch (key.kind) {
    case ConfigKind::Text:
      return key.choices.empty() ? "text" : cat("one of ", join(key.choices, ", "));
    case ConfigKind::Integer:
      return "a whole number" + range;
    case ConfigKind::Number:
      return "a number" + range;
    case ConfigKind::Flag:
      return "true or false";
    case ConfigKind::Globs:
      return "a list of path globs";
    case ConfigKind::Prices:
      return "an object of provider/model: {input_per_1k, output_per_1k}, in US dollars for 1,000 "
             "tokens";
  }
  return {};
}

const std::vector<PlaceVariable>& place_variables() {
  static const auto* const all = new std::vector<PlaceVariable>{
      {"INDX_VAULT", "The vault, when --vault does not say."},
      {"INDX_URL", "The server to ask, when --remote does not say."},
      {"INDX_TOKEN", "The token for that server."},
      {"https_proxy", "The HTTP proxy for calls of AI providers over TLS; also HTTPS_PROXY."},
      {"http_proxy", "The one for other calls of AI providers; also HTTP_PROXY."},
      {"all_proxy", "Stands for either of the two where that is not set; also ALL_PROXY."},
      {"no_proxy", "Comma list of hosts and domains that are called directly; also NO_PROXY."},
      {"NO_COLOR", "When set, terminals get no colours."},
  };
  return *all;
}

}  // namespace indx
