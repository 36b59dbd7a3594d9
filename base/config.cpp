#include "base/config.hpp"

#include "base/config_layers.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>

extern char** environ;  // NOLINT(readability-redundant-declaration): not declared by every unistd.h

namespace indx {
namespace {

std::optional<bool> parse_flag(const std::string& text) {
  const auto word = to_lower(text);
  if (word == "true" || word == "1" || word == "on" || word == "yes") return true;
  if (word == "false" || word == "0" || word == "off" || word == "no") return false;
  return std::nullopt;
}

template <typename T>
std::optional<T> parse_number(const std::string& text) {
  T value{};
  const auto* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc() || stop != end) return std::nullopt;
  return value;
}

/// Reads keys into fields; the first error stays, later reads do nothing.
class Reader {
 public:
  /// `effective`: gets every key that is read, see effective_config; or null.
  Reader(const ConfigLayers& layers, Json* effective) : layers_(layers), effective_(effective) {}

  void text(const char* key, std::string& field) {
    read(key, [&](const ConfigKey& setting, const std::string& value) {
      const auto& all = setting.choices;
      if (!all.empty() && std::find(all.begin(), all.end(), value) == all.end()) return false;
      field = value;
      return std::none_of(value.begin(), value.end(),
                          [](char c) { return static_cast<unsigned char>(c) < 0x20; });
    });
    note(key, field);
  }
  void flag(const char* key, bool& field) {
    read(key, [&](const ConfigKey&, const std::string& value) {
      const auto parsed = parse_flag(value);
      field = parsed.value_or(field);
      return parsed.has_value();
    });
    note(key, field);
  }
  template <typename T>
  void number(const char* key, T& field) {
    read(key, [&](const ConfigKey& setting, const std::string& value) {
      using Parsed = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;
      const auto parsed = parse_number<Parsed>(value);
      if (!parsed || !(static_cast<double>(*parsed) >= setting.least &&
                       static_cast<double>(*parsed) <= setting.most))
        return false;
      field = static_cast<T>(*parsed);
      return true;
    });
    note(key, field);
  }
  void duration(const char* key, std::chrono::milliseconds& field) {
    std::int64_t millis = field.count();
    number(key, millis);
    field = std::chrono::milliseconds(millis);
  }
  void globs(const char* key, std::vector<std::string>& field) {
    read(key, [&](const ConfigKey&, const std::string& value) {
      const auto list = Json::parse(value, nullptr, false);
      if (!list.is_array()) return false;
      field = list.get<std::vector<std::string>>();
      return true;
    });
    note(key, field);
  }
  /// Not set: it has no value.
  void optional_number(const char* key, std::optional<double>& field) {
    if (!is_set(key)) return note(key, "");
    double value = 0;
    number(key, value);
    field = value;
  }
  void prices(const char* key, std::map<std::string, TokenPrice>& field) {
    Json all = Json::object();
    read(key, [&](const ConfigKey&, const std::string& value) {
      all = Json::parse(value, nullptr, false);
      if (!is_price_list(all)) return false;
      for (const auto& [model, price] : all.items())
        field[model] = {price["input_per_1k"].get<double>(), price["output_per_1k"].get<double>()};
      return true;
    });
    note(key, all);
  }
  bool is_set(const char* key) const { return layers_.find(key).has_value(); }
  void fail(const char* key, const std::string& allowed) {
    const auto found = layers_.find(key);
    if (!error_ && found)
      error_ = bad_config_value(*find_config_key(key), found->origin, found->text, allowed);
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  template <typename Use>
  void read(const char* key, Use use) {
    if (error_) return;
    const auto found = layers_.find(key);
    if (!found) return;
    const auto& setting = *find_config_key(key);
    if (!use(setting, found->text)) fail(key, allowed_values(setting));
  }

  void note(const char* key, const Json& value) const {
    if (effective_ == nullptr) return;
    const auto found = layers_.find(key);
    const auto& setting = *find_config_key(key);
    (*effective_)[key] = {{"value", setting.is_secret ? Json(found ? "(set)" : "") : value},
                          {"source", !found                                ? "default"
                                     : found->origin == ConfigOrigin::File ? "file"
                                                                           : "environment"},
                          {"is_settable", setting.in_file},
                          {"variable", setting.variable},
                          {"about", setting.about}};
  }

  const ConfigLayers& layers_;
  Json* const effective_;
  std::optional<Error> error_;
};

/// Names with commas between them.
void read_names(Reader& reader, const char* key, std::vector<std::string>& field) {
  std::string list;
  reader.text(key, list);
  for (const auto& part : split(list, ',')) {
    const std::string name = to_lower(trim(part));
    if (name.find_first_of("/:@ ") != name.npos && !name.starts_with('['))
      reader.fail(key, "host names without a scheme or port, with commas between them");
    if (!name.empty()) field.push_back(name);
  }
}

void read_server(Reader& reader, Config& config) {
  reader.text("host", config.host);
  reader.number("port", config.port);
  std::string durability = "full", format = "text";
  reader.text("durability", durability);
  config.durability = durability == "off"      ? Durability::Off
                      : durability == "normal" ? Durability::Normal
                                               : Durability::Full;
  reader.text("log.format", format);
  config.log_format = format == "json" ? LogFormat::JsonLines : LogFormat::Text;
  reader.text("log.level", config.log_level);
  reader.flag("watch", config.watch);
  reader.number("http.workers", config.http_workers);
  reader.number("http.rate_limit_per_minute", config.rate_limit_per_minute);
  read_names(reader, "http.public_names", config.public_names);
  reader.flag("case_insensitive_match", config.case_insensitive_match);
  reader.flag("legacy_properties", config.legacy_properties);
  reader.number("attachments.max_bytes", config.max_attachment_bytes);
  reader.text("time_zone", config.time_zone);
  reader.text("daily.folder", config.daily.folder);
  reader.text("daily.format", config.daily.format);
  reader.text("daily.template", config.daily.template_path);
  reader.number("versions.max_per_note", config.versions_per_note);
  reader.number("versions.days", config.version_days);
  reader.number("versions.max_bytes", config.versions_max_bytes);
}

/// One of the providers, empty: none; `google` is another name of gemini.
void read_provider_name(Reader& reader, const char* key, std::string& field) {
  reader.text(key, field);
  if (field == "none" || field == "off") field.clear();
  if (field == "google") field = "gemini";
  const std::vector<std::string> known = {
      "", "builtin", "openai", "ollama", "anthropic", "gemini", "vercel-ai-gateway", "replay"};
  if (std::find(known.begin(), known.end(), field) != known.end()) return;
  reader.fail(
      key, cat("builtin, openai, ollama, anthropic, gemini, vercel-ai-gateway, replay or none",
               field == "huggingface" ? " (the named one is not available in this version)" : ""));
}

void read_providers(Reader& reader, AiConfig& ai) {
  read_provider_name(reader, "embeddings.provider", ai.embeddings_provider);
  if (reader.is_set("ai.provider"))
    read_provider_name(reader, "ai.provider", ai.provider);
  else
    ai.provider = ai.embeddings_provider;
  // Vectors stay on this machine unless somebody else is named for them (row D2).
  if (!reader.is_set("embeddings.provider") && ai.provider == "builtin")
    ai.embeddings_provider = ai.provider;
  reader.text("ai.model", ai.model);
  reader.text("embeddings.model", ai.embeddings_model);
}

void read_base_url(Reader& reader, const char* key, std::string& url) {
  reader.text(key, url);
  if (!url.starts_with("http://") && !url.starts_with("https://"))
    reader.fail(key, "a http:// or https:// URL");
  while (url.ends_with('/')) url.pop_back();
}

/// From our own variable, else from the one that the vendor's tools read.
void read_key(Reader& reader, const char* key, const char* alias, std::string& field) {
  reader.text(reader.is_set(key) ? key : alias, field);
}

void read_endpoints(Reader& reader, AiConfig& ai) {
  read_base_url(reader, "openai.base_url", ai.openai_base_url);
  read_key(reader, "openai.api_key", "openai.api_key_alias", ai.openai_api_key);
  reader.text("openai.structured_output", ai.openai_structured_output);
  read_base_url(reader, "ollama.base_url", ai.ollama_base_url);
  read_base_url(reader, "anthropic.base_url", ai.anthropic_base_url);
  read_key(reader, "anthropic.api_key", "anthropic.api_key_alias", ai.anthropic_api_key);
  read_base_url(reader, "gemini.base_url", ai.gemini_base_url);
  read_key(reader, "gemini.api_key", "gemini.api_key_alias", ai.gemini_api_key);
  read_base_url(reader, "gateway.base_url", ai.gateway_base_url);
  read_key(reader, "gateway.api_key", "gateway.api_key_alias", ai.gateway_api_key);
}

void read_fixtures(Reader& reader, AiConfig& ai, const std::string& index_dir) {
  reader.flag("ai.test_record", ai.test_record);
  reader.flag("ai.test_replay", ai.test_replay);
  if (ai.test_record && (ai.test_replay || ai.provider == "replay"))
    reader.fail("ai.test_record", "left out where replies are replayed");
  reader.text("ai.fixtures_dir", ai.fixtures_dir);
  if (ai.fixtures_dir.empty()) ai.fixtures_dir = index_dir + "/ai-fixtures";
}

void read_ai(Reader& reader, AiConfig& ai) {
  read_providers(reader, ai);
  reader.text("embeddings.model_file", ai.embeddings_model_file);
  read_endpoints(reader, ai);
  reader.number("ai.max_input_tokens", ai.max_input_tokens);
  reader.number("ai.max_output_tokens", ai.max_output_tokens);
  reader.number("ai.temperature", ai.temperature);
  reader.number("ai.ask_gate", ai.ask_gate);
  reader.duration("ai.timeout_ms", ai.timeout);
  reader.duration("ai.connect_timeout_ms", ai.connect_timeout);
  reader.duration("ai.first_byte_timeout_ms", ai.first_byte_timeout);
  reader.duration("ai.idle_timeout_ms", ai.idle_timeout);
  reader.number("ai.requests_per_minute", ai.requests_per_minute);
  reader.number("ai.tokens_per_minute", ai.tokens_per_minute);
  reader.globs("ai.allow_globs", ai.allow_globs);
  reader.globs("ai.deny_globs", ai.deny_globs);
  reader.flag("ai.cache.enabled", ai.cache_enabled);
  reader.number("ai.cache.ttl_hours", ai.cache_ttl_hours);
  reader.number("ai.cache.max_bytes", ai.cache_max_bytes);
  reader.optional_number("ai.daily_cost_usd", ai.daily_cost_usd);
  reader.prices("ai.prices", ai.prices);
}

void read_jobs(Reader& reader, JobsConfig& jobs) {
  reader.duration("jobs.lease_ms", jobs.lease);
  jobs.heartbeat = std::min(jobs.heartbeat, std::max(jobs.lease / 3, std::chrono::milliseconds(1)));
  reader.duration("jobs.heartbeat_ms", jobs.heartbeat);
  if (jobs.heartbeat >= jobs.lease)
    reader.fail("jobs.heartbeat_ms", cat("shorter than the lease of ", jobs.lease.count(), " ms"));
  reader.duration("jobs.sweep_ms", jobs.sweep);
  reader.duration("jobs.stop_grace_ms", jobs.stop_grace);
  reader.number("jobs.runners", jobs.runners);
  reader.number("jobs.lanes_per_job", jobs.lanes_per_job);
  reader.number("jobs.lanes", jobs.lanes);
  reader.number("jobs.max_attempts", jobs.max_attempts);
  reader.number("jobs.max_crashes", jobs.max_crashes);
}

void read_mcp(Reader& reader, McpConfig& mcp) {
  reader.number("mcp.max_sessions", mcp.max_sessions);
  reader.duration("mcp.session_idle_ms", mcp.session_idle);
}

/// AI is off when either place says so: `false` in the file holds whatever the environment says
/// (row D22).
void read_enabled(Reader& reader, const ConfigLayers& layers, bool& enabled) {
  reader.flag("ai.enabled", enabled);
  if (layers.file_text("ai.enabled") == "false") enabled = false;
}

void warn_of_unknown_variables(const Environment& env, std::vector<std::string>& warnings) {
  for (const auto& name : split(env("INDX_*").value_or(""), '\n')) {
    const auto& others = place_variables();
    if (name.empty() || std::any_of(others.begin(), others.end(),
                                    [&](const auto& row) { return row.name == name; }))
      continue;
    if (std::none_of(config_keys().begin(), config_keys().end(),
                     [&](const ConfigKey& s) { return s.variable == name; }))
      warnings.push_back(cat("The environment sets ", name, ", which this version does not know.",
                             meant_instead(name, &ConfigKey::variable)));
  }
}

std::string absolute_path(const std::string& path) {
  std::error_code failure;
  auto whole = std::filesystem::absolute(path, failure);
  auto text = (failure ? std::filesystem::path(path) : whole).lexically_normal().string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

Config located_config(const std::string& vault_dir, const Environment& env) {
  Config config;
  config.vault_dir = absolute_path(vault_dir);
  const auto relocated = env("INDX_INDEX_DIR").value_or("");
  config.index_dir = relocated.empty() ? config.vault_dir + "/.indx" : absolute_path(relocated);
  return config;
}

Status read_config(Config& config, const std::string& file_text, const Environment& env,
                   std::vector<std::string>* warnings, Json* effective) {
  const ConfigLayers layers(INDX_TRY(parse_config_text(file_text, warnings)), env);
  if (warnings != nullptr) warn_of_unknown_variables(env, *warnings);
  Reader reader(layers, effective);
  read_server(reader, config);
  read_enabled(reader, layers, config.ai.enabled);
  read_ai(reader, config.ai);
  read_fixtures(reader, config.ai, config.index_dir);
  config.ai.proxies = proxies_of(env);
  read_jobs(reader, config.jobs);
  read_mcp(reader, config.mcp);
  if (reader.error()) return *reader.error();
  return {};
}

/// Sets the member at the end of the names, making objects on the way; null takes it away.
void change_member(Json& object, const std::vector<std::string>& names, const Json& value) {
  Json* place = &object;
  for (std::size_t i = 0; i + 1 < names.size(); ++i) {
    place = &(*place)[names[i]];
    if (!place->is_object()) *place = Json::object();
  }
  if (value.is_null())
    place->erase(names.back());
  else
    (*place)[names.back()] = value;
}

/// Whether a file with this text could be read.
Status check_text(const std::string& text) {
  INDX_TRY(parse_config_text(text, nullptr));
  Config trial;
  const auto nothing = [](const std::string&) { return std::optional<std::string>(); };
  return read_config(trial, text, nothing, nullptr, nullptr);
}

/// A value that was given and not written is not "set in config.json".
Error of_change(const Error& error, const Json& changes) {
  const auto key = error.details.value("key", std::string());
  const bool is_given = changes.contains(key) && error.details.contains("allowed");
  const auto* setting = is_given ? find_config_key(key) : nullptr;
  if (setting == nullptr) return error;
  return bad_config_value(*setting, ConfigOrigin::Call, error.details.value("value", std::string()),
                          error.details["allowed"].get<std::string>());
}

}  // namespace

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    if (name == "INDX_*") {
      std::vector<std::string> names;
      for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
        if (const std::string_view pair = *entry; pair.starts_with("INDX_"))
          names.emplace_back(pair.substr(0, pair.find('=')));
      return join(names, "\n");
    }
    const char* value = std::getenv(
        name.c_str());  // NOLINT(concurrency-mt-unsafe): nobody sets variables after start
    if (value == nullptr) return std::nullopt;
    return value;
  };
}

Result<Config> load_config(const std::string& vault_dir, const Environment& env,
                           std::vector<std::string>* warnings) {
  Config config = located_config(vault_dir, env);
  const auto file_text = INDX_TRY(read_config_text(config.index_dir));
  INDX_TRY(read_config(config, file_text, env, warnings, nullptr));
  return config;
}

Result<Json> effective_config(const std::string& vault_dir, const Environment& env) {
  Config config = located_config(vault_dir, env);
  const auto file_text = INDX_TRY(read_config_text(config.index_dir));
  Json effective = Json::object();
  INDX_TRY(read_config(config, file_text, env, nullptr, &effective));
  return effective;
}

Status change_config_file(const std::string& index_dir, const Json& changes) {
  static std::mutex mutex;  // of this process; the vault's lock keeps others away
  const std::scoped_lock lock(mutex);
  const auto old_text = INDX_TRY(read_config_text(index_dir));
  Json document = INDX_TRY(parse_config_text(old_text, nullptr));
  for (const auto& [key, value] : changes.items()) {
    const auto* setting = find_config_key(key);
    if (setting == nullptr || !setting->in_file)
      return invalid(cat(key,
                         setting == nullptr
                             ? " is no key of this version."
                             : cat(" is set by the environment alone: ", setting->variable, "."),
                         setting == nullptr ? meant_instead(key, &ConfigKey::key) : ""),
                     {{"key", key}});
    change_member(document, split(key, '.'), value);
  }
  const auto text = document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  if (const auto checked = check_text(text); !checked) return of_change(checked.error(), changes);
  return replace_config_file(index_dir, text);
}

}  // namespace indx
