#include "base/config.hpp"

#include "base/edit_distance.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"

#include <Poco/AutoPtr.h>
#include <Poco/Exception.h>
#include <Poco/Util/JSONConfiguration.h>
#include <Poco/Util/LayeredConfiguration.h>
#include <Poco/Util/MapConfiguration.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <mutex>
#include <sstream>

extern char** environ;  // NOLINT(readability-redundant-declaration): not declared by every unistd.h

namespace indx {
namespace {

constexpr std::size_t kMaxFileBytes = 1U << 20U;
constexpr const char* kFileName = "config.json";

enum class Kind : std::uint8_t { Text, Integer, Number, Flag, Globs };
/// Who wins when both the environment and the file set a key (row D26).
enum class Wins : std::uint8_t { Environment, File };

/// One key: its name in the file and the variable that sets it (empty: only the other one does).
struct Setting {
  std::string key;
  std::string variable;
  Kind kind = Kind::Text;
  Wins wins = Wins::Environment;
  double least = 0, most = 0;        ///< of numbers
  std::vector<std::string> choices;  ///< of text; empty: any
  bool in_file = true;
  bool is_secret = false;
};

constexpr double kNoLimit = 9e15;  // every integer below is exact as a double
constexpr double kMaxMillis = 86'400'000;

Setting tuning(std::string key, std::string variable, Kind kind, double least, double most) {
  return {std::move(key), std::move(variable), kind, Wins::File, least, most, {}, true, false};
}
Setting variable_only(std::string key, std::string variable, Kind kind) {
  return {std::move(key), std::move(variable), kind, Wins::Environment, 0, 0, {}, false, false};
}
Setting choice(std::string key, std::string variable, std::vector<std::string> choices) {
  auto setting = variable_only(std::move(key), std::move(variable), Kind::Text);
  setting.choices = std::move(choices);
  return setting;
}

const std::vector<Setting>& settings() {
  static const auto* const all = [] {
    auto port = variable_only("port", "INDX_PORT", Kind::Integer);
    port.most = 65535;
    auto timeout = variable_only("ai.timeout_ms", "INDX_AI_TIMEOUT_MS", Kind::Integer);
    timeout.least = 1, timeout.most = kMaxMillis;
    auto api_key = variable_only("openai.api_key", "INDX_OPENAI_API_KEY", Kind::Text);
    auto other_api_key = variable_only("openai.api_key_alias", "OPENAI_API_KEY", Kind::Text);
    api_key.is_secret = other_api_key.is_secret = true;
    return new std::vector<Setting>{
        // never freed: other statics may still read it at exit
        variable_only("index_dir", "INDX_INDEX_DIR", Kind::Text),
        variable_only("host", "INDX_HOST", Kind::Text),
        port,
        choice("durability", "INDX_DURABILITY", {"full", "normal", "off"}),
        choice("log.format", "INDX_LOG_FORMAT", {"text", "json"}),
        choice("log.level", "INDX_LOG_LEVEL", {"debug", "info", "warn", "error"}),
        variable_only("watch", "INDX_WATCH", Kind::Flag),
        tuning("http.workers", "INDX_HTTP_WORKERS", Kind::Integer, 1, 1024),
        tuning("http.rate_limit_per_minute", "INDX_RATE_LIMIT_PER_MINUTE", Kind::Integer, 0, 1e9),
        tuning("case_insensitive_match", "", Kind::Flag, 0, 0),
        tuning("legacy_properties", "", Kind::Flag, 0, 0),
        tuning("attachments.max_bytes", "INDX_ATTACHMENTS_MAX_BYTES", Kind::Integer, 0, kNoLimit),
        tuning("time_zone", "INDX_TIME_ZONE", Kind::Text, 0, 0),
        tuning("daily.folder", "", Kind::Text, 0, 0),
        tuning("daily.format", "", Kind::Text, 0, 0),
        tuning("daily.template", "", Kind::Text, 0, 0),
        tuning("versions.max_per_note", "", Kind::Integer, 0, 1e6),
        tuning("versions.days", "", Kind::Integer, 0, 36500),
        tuning("versions.max_bytes", "", Kind::Integer, 0, kNoLimit),
        {"ai.enabled", "INDX_AI_ENABLED", Kind::Flag, Wins::Environment, 0, 0, {}, true, false},
        {"ai.provider", "INDX_AI_PROVIDER", Kind::Text, Wins::Environment, 0, 0, {}, true, false},
        variable_only("embeddings.provider", "INDX_EMBEDDINGS_PROVIDER", Kind::Text),
        {"ai.model", "INDX_AI_MODEL", Kind::Text, Wins::Environment, 0, 0, {}, true, false},
        variable_only("openai.base_url", "INDX_OPENAI_BASE_URL", Kind::Text),
        api_key,
        other_api_key,
        tuning("ai.max_input_tokens", "INDX_AI_MAX_INPUT_TOKENS", Kind::Integer, 1, 1e8),
        tuning("ai.max_output_tokens", "INDX_AI_MAX_OUTPUT_TOKENS", Kind::Integer, 1, 1e8),
        tuning("ai.temperature", "INDX_AI_TEMPERATURE", Kind::Number, 0, 2),
        timeout,
        tuning("ai.allow_globs", "INDX_AI_ALLOW_GLOBS", Kind::Globs, 0, 0),
        tuning("ai.deny_globs", "INDX_AI_DENY_GLOBS", Kind::Globs, 0, 0),
        tuning("jobs.lease_ms", "INDX_JOBS_LEASE_MS", Kind::Integer, 2, kMaxMillis),
        tuning("jobs.heartbeat_ms", "INDX_JOBS_HEARTBEAT_MS", Kind::Integer, 1, kMaxMillis),
        tuning("jobs.sweep_ms", "INDX_JOBS_SWEEP_MS", Kind::Integer, 1, kMaxMillis),
        tuning("jobs.stop_grace_ms", "INDX_JOBS_STOP_GRACE_MS", Kind::Integer, 0, kMaxMillis),
        tuning("jobs.runners", "INDX_JOBS_RUNNERS", Kind::Integer, 1, 256),
        tuning("jobs.lanes_per_job", "INDX_JOBS_LANES_PER_JOB", Kind::Integer, 1, 1024),
        tuning("jobs.lanes", "INDX_JOBS_LANES", Kind::Integer, 1, 1024),
        tuning("jobs.max_attempts", "INDX_JOBS_MAX_ATTEMPTS", Kind::Integer, 1, 1000),
        tuning("jobs.max_crashes", "INDX_JOBS_MAX_CRASHES", Kind::Integer, 1, 1000),
    };
  }();
  return *all;
}

/// Variables that other parts of the program read.
constexpr const char* kOtherVariables[] = {"INDX_VAULT", "INDX_URL", "INDX_TOKEN"};

const Setting* find_setting(std::string_view key) {
  const auto it = std::find_if(settings().begin(), settings().end(),
                               [&](const Setting& s) { return s.key == key; });
  return it == settings().end() ? nullptr : &*it;
}

std::string number_text(double value) {
  return value == static_cast<double>(static_cast<std::int64_t>(value))
             ? cat(static_cast<std::int64_t>(value))
             : cat(value);
}

std::string allowed_values(const Setting& setting) {
  const auto range = cat(" from ", number_text(setting.least), " to ", number_text(setting.most));
  switch (setting.kind) {
    case Kind::Text:
      return setting.choices.empty() ? "text" : cat("one of ", join(setting.choices, ", "));
    case Kind::Integer:
      return "a whole number" + range;
    case Kind::Number:
      return "a number" + range;
    case Kind::Flag:
      return "true or false";
    case Kind::Globs:
      return "a list of path globs";
  }
  return {};
}

enum class Origin : std::uint8_t { Environment, File };

Error bad_value(const Setting& setting, Origin origin, const std::string& value,
                const std::string& allowed) {
  const bool from_file = origin == Origin::File;
  const auto& name = from_file ? setting.key : setting.variable;
  const auto shown =
      setting.is_secret ? std::string() : cat(" is `", prefix_at_grapheme(value, 100), "` but");
  auto message = cat(name, shown, " must be ", allowed, "; it is set in ",
                     from_file ? kFileName : "the environment", ".");
  Json details{
      {"key", name}, {"source", from_file ? kFileName : "environment"}, {"allowed", allowed}};
  if (!setting.is_secret) details["value"] = std::string(prefix_at_grapheme(value, 100));
  return invalid(std::move(message), std::move(details));
}

Error bad_file(const std::string& message, Json details = Json::object()) {
  details["source"] = kFileName;
  return invalid(message, std::move(details));
}

bool looks_secret(std::string name) {
  name = to_lower(replace_all(name, "-", "_"));
  for (const std::string_view secret : {"key", "apikey", "token", "secret", "password"}) {
    if (name == secret) return true;
    if (name.size() > secret.size() && name.ends_with(secret) &&
        name[name.size() - secret.size() - 1] == '_')
      return true;
  }
  return false;
}

bool has_kind(const Json& value, Kind kind) {
  switch (kind) {
    case Kind::Text:
      return value.is_string();
    case Kind::Integer:
      return value.is_number_integer();
    case Kind::Number:
      return value.is_number();
    case Kind::Flag:
      return value.is_boolean();
    case Kind::Globs:
      return value.is_array() &&
             std::all_of(value.begin(), value.end(), [](const Json& v) { return v.is_string(); });
  }
  return false;
}

bool is_group(const std::string& key) {
  return std::any_of(settings().begin(), settings().end(),
                     [&](const Setting& s) { return s.in_file && s.key.starts_with(key + "."); });
}

/// ` Did you mean x?` for a name that is near to a known one; empty otherwise.
std::string meant_instead(const std::string& name, std::string Setting::*known) {
  std::string nearest;
  std::size_t best = std::max<std::size_t>(2, name.size() / 4) + 1;
  for (const auto& setting : settings()) {
    if ((setting.*known).empty() || (known == &Setting::key && !setting.in_file)) continue;
    const auto distance = edit_distance(name.substr(0, 64), setting.*known);
    if (distance < best) best = distance, nearest = setting.*known;
  }
  return nearest.empty() ? "" : cat(" Did you mean ", nearest, "?");
}

/// Refuses secrets and wrong types in `object`; `prefix` is the dotted path to it.
Status check_members(const Json& object, const std::string& prefix,
                     std::vector<std::string>* warnings) {
  for (const auto& [name, value] : object.items()) {
    const auto key = prefix + name;
    if (looks_secret(name) ||
        (value.is_string() && value.get_ref<const std::string&>().starts_with("sk-")))
      return bad_file(cat(key, " looks like a secret: secrets never in ", kFileName,
                          "; set the environment variable instead."),
                      {{"key", key}});
    if (value.is_null()) continue;
    const auto* setting = name.find('.') == name.npos ? find_setting(key) : nullptr;
    if (setting != nullptr && setting->in_file) {
      if (!has_kind(value, setting->kind))
        return bad_value(*setting, Origin::File,
                         value.dump(-1, ' ', false, Json::error_handler_t::replace),
                         allowed_values(*setting));
    } else if (name.find('.') == name.npos && is_group(key)) {
      if (!value.is_object())
        return bad_file(cat(key, " must be an object in ", kFileName, "."), {{"key", key}});
      INDX_TRY(check_members(value, key + ".", warnings));
    } else {
      if (value.is_object()) INDX_TRY(check_members(value, key + ".", nullptr));  // for secrets
      if (warnings != nullptr)
        warnings->push_back(cat(kFileName, " sets ", key, ", which is not a key of this version.",
                                meant_instead(key, &Setting::key)));
    }
  }
  return {};
}

/// The text of the file, `{}` when there is none.
Result<std::string> read_file_text(const std::string& index_dir) {
  const auto path = std::filesystem::path(index_dir) / kFileName;
  std::error_code failure;
  if (!std::filesystem::exists(path, failure)) return std::string("{}");
  std::ifstream in(path, std::ios::binary);
  if (!in) return bad_file(cat(kFileName, " cannot be read; check its permissions."));
  std::string text(kMaxFileBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (in.bad()) return bad_file(cat(kFileName, " cannot be read."));
  if (text.size() > kMaxFileBytes) return bad_file(cat(kFileName, " is larger than 1 MB."));
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  return text;
}

Status check_file_text(const std::string& text, std::vector<std::string>* warnings) {
  Json document;
  try {
    document = Json::parse(text);
  } catch (
      const Json::parse_error& failure) {  // its text may quote the file, so only the place is told
    const auto end =
        text.begin() + static_cast<std::ptrdiff_t>(std::min(failure.byte, text.size()));
    const auto line = 1 + std::count(text.begin(), end == text.begin() ? end : end - 1, '\n');
    return bad_file(cat(kFileName, " is not valid JSON: error in line ", line, "."),
                    {{"line", line}});
  }
  if (!document.is_object()) return bad_file(cat(kFileName, " must hold one JSON object."));
  return check_members(document, "", warnings);
}

/// Both layers in both orders, so that each key is looked up in the order that it asks for.
class Layers {
 public:
  static Result<Layers> load(const std::string& file_text, const Environment& env) {
    try {
      Layers layers;
      std::istringstream in(file_text);
      layers.file_ = new Poco::Util::JSONConfiguration(in);
      for (const auto& setting : settings()) {
        if (setting.variable.empty()) continue;
        auto value = env(setting.variable);
        if (!value || trim(*value).empty()) continue;  // set to nothing is not set
        layers.environment_->setString(setting.key, env_text(setting, std::string(trim(*value))));
      }
      layers.stack();
      return layers;
    } catch (const Poco::Exception& failure) {
      return bad_file(cat(kFileName, " cannot be used: ", failure.name(), "."));
    }
  }

  struct Found {
    std::string text;
    Origin origin;
  };
  std::optional<Found> find(const std::string& key) const {
    const auto& setting = *find_setting(key);
    const auto& layer = layer_of(setting);
    if (!layer.has(key)) return std::nullopt;
    const bool has_file = setting.in_file && file_->has(key);
    const bool file_won = has_file && (setting.wins == Wins::File || !environment_->has(key));
    return Found{layer.getRawString(key), file_won ? Origin::File : Origin::Environment};
  }
  const Poco::Util::AbstractConfiguration& file() const { return *file_; }

 private:
  /// Globs are a comma list in a variable; both layers hold them as a JSON list.
  static std::string env_text(const Setting& setting, std::string value) {
    if (setting.kind != Kind::Globs) return value;
    Json list = Json::array();
    for (const auto& glob : split(value, ','))
      if (!trim(glob).empty()) list.push_back(replace_invalid_utf8(trim(glob)));
    return list.dump();
  }
  const Poco::Util::AbstractConfiguration& layer_of(const Setting& setting) const {
    if (!setting.in_file) return *environment_;
    return setting.wins == Wins::File ? *file_first_ : *environment_first_;
  }
  void stack() {
    environment_first_->add(environment_, 0);
    environment_first_->add(file_, 1);
    file_first_->add(file_, 0);
    file_first_->add(environment_, 1);
  }

  template <typename T>
  using Ptr = Poco::AutoPtr<T>;  // Poco counts the references of its configurations
  Ptr<Poco::Util::AbstractConfiguration> file_;
  Ptr<Poco::Util::AbstractConfiguration> environment_{new Poco::Util::MapConfiguration};
  Ptr<Poco::Util::LayeredConfiguration> environment_first_{new Poco::Util::LayeredConfiguration};
  Ptr<Poco::Util::LayeredConfiguration> file_first_{new Poco::Util::LayeredConfiguration};
};

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
  Reader(const Layers& layers, Json* effective) : layers_(layers), effective_(effective) {}

  void text(const char* key, std::string& field) {
    read(key, [&](const Setting& setting, const std::string& value) {
      const auto& all = setting.choices;
      if (!all.empty() && std::find(all.begin(), all.end(), value) == all.end()) return false;
      field = value;
      return std::none_of(value.begin(), value.end(),
                          [](char c) { return static_cast<unsigned char>(c) < 0x20; });
    });
    note(key, field);
  }
  void flag(const char* key, bool& field) {
    read(key, [&](const Setting&, const std::string& value) {
      const auto parsed = parse_flag(value);
      field = parsed.value_or(field);
      return parsed.has_value();
    });
    note(key, field);
  }
  template <typename T>
  void number(const char* key, T& field) {
    read(key, [&](const Setting& setting, const std::string& value) {
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
    read(key, [&](const Setting&, const std::string& value) {
      const auto list = Json::parse(value, nullptr, false);
      if (!list.is_array()) return false;
      field = list.get<std::vector<std::string>>();
      return true;
    });
    note(key, field);
  }
  bool is_set(const char* key) const { return layers_.find(key).has_value(); }
  void fail(const char* key, const std::string& allowed) {
    const auto found = layers_.find(key);
    if (!error_ && found)
      error_ = bad_value(*find_setting(key), found->origin, found->text, allowed);
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  template <typename Use>
  void read(const char* key, Use use) {
    if (error_) return;
    const auto found = layers_.find(key);
    if (!found) return;
    const auto& setting = *find_setting(key);
    if (!use(setting, found->text)) fail(key, allowed_values(setting));
  }

  void note(const char* key, const Json& value) const {
    if (effective_ == nullptr) return;
    const auto found = layers_.find(key);
    const auto& setting = *find_setting(key);
    (*effective_)[key] = {{"value", setting.is_secret ? Json(found ? "(set)" : "") : value},
                          {"source", !found                          ? "default"
                                     : found->origin == Origin::File ? "file"
                                                                     : "environment"},
                          {"is_settable", setting.in_file}};
  }

  const Layers& layers_;
  Json* const effective_;
  std::optional<Error> error_;
};

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

void read_provider(Reader& reader, AiConfig& ai) {
  const char* key = reader.is_set("ai.provider") ? "ai.provider" : "embeddings.provider";
  reader.text(key, ai.provider);
  if (ai.provider == "none" || ai.provider == "off") ai.provider.clear();
  if (ai.provider.empty() || ai.provider == "builtin" || ai.provider == "openai") return;
  const std::vector<std::string> later = {"vercel-ai-gateway", "ollama", "anthropic", "google",
                                          "huggingface"};
  const bool is_later = std::find(later.begin(), later.end(), ai.provider) != later.end();
  reader.fail(key, cat("builtin, openai or none",
                       is_later ? " (the named one is not available in this version)" : ""));
}

void read_ai(Reader& reader, AiConfig& ai) {
  read_provider(reader, ai);
  reader.text("ai.model", ai.model);
  reader.text("openai.base_url", ai.openai_base_url);
  const auto& url = ai.openai_base_url;
  if (!url.starts_with("http://") && !url.starts_with("https://"))
    reader.fail("openai.base_url", "a http:// or https:// URL");
  while (ai.openai_base_url.ends_with('/')) ai.openai_base_url.pop_back();
  reader.text(reader.is_set("openai.api_key") ? "openai.api_key" : "openai.api_key_alias",
              ai.openai_api_key);
  reader.number("ai.max_input_tokens", ai.max_input_tokens);
  reader.number("ai.max_output_tokens", ai.max_output_tokens);
  reader.number("ai.temperature", ai.temperature);
  reader.duration("ai.timeout_ms", ai.timeout);
  reader.globs("ai.allow_globs", ai.allow_globs);
  reader.globs("ai.deny_globs", ai.deny_globs);
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

/// AI is off when either place says so: `false` in the file holds whatever the environment says
/// (row D22).
void read_enabled(Reader& reader, const Layers& layers, bool& enabled) {
  reader.flag("ai.enabled", enabled);
  if (layers.file().has("ai.enabled") && layers.file().getRawString("ai.enabled") == "false")
    enabled = false;
}

void warn_of_unknown_variables(const Environment& env, std::vector<std::string>& warnings) {
  for (const auto& name : split(env("INDX_*").value_or(""), '\n')) {
    const auto is_known = [&](const auto& known) { return name == known; };
    if (name.empty() ||
        std::any_of(std::begin(kOtherVariables), std::end(kOtherVariables), is_known))
      continue;
    if (std::none_of(settings().begin(), settings().end(),
                     [&](const Setting& s) { return s.variable == name; }))
      warnings.push_back(cat("The environment sets ", name, ", which this version does not know.",
                             meant_instead(name, &Setting::variable)));
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
  INDX_TRY(check_file_text(file_text, warnings));
  const auto layers = INDX_TRY(Layers::load(file_text, env));
  if (warnings != nullptr) warn_of_unknown_variables(env, *warnings);
  Reader reader(layers, effective);
  read_server(reader, config);
  read_enabled(reader, layers, config.ai.enabled);
  read_ai(reader, config.ai);
  read_jobs(reader, config.jobs);
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

/// A reader sees the old file or the new one.
Status replace_file(const std::filesystem::path& file, const std::string& text) {
  auto temp = file;
  temp += ".new";
  std::error_code failure;
  std::filesystem::create_directories(file.parent_path(), failure);
  std::ofstream out(temp, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (out) std::filesystem::rename(temp, file, failure);
  if (out && !failure) return {};
  return make_error(Reason::Unavailable,
                    cat(kFileName, " cannot be written; check the folder's permissions."));
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
  const auto file_text = INDX_TRY(read_file_text(config.index_dir));
  INDX_TRY(read_config(config, file_text, env, warnings, nullptr));
  return config;
}

Result<Json> effective_config(const std::string& vault_dir, const Environment& env) {
  Config config = located_config(vault_dir, env);
  const auto file_text = INDX_TRY(read_file_text(config.index_dir));
  Json effective = Json::object();
  INDX_TRY(read_config(config, file_text, env, nullptr, &effective));
  return effective;
}

Status change_config_file(const std::string& index_dir, const Json& changes) {
  static std::mutex mutex;  // of this process; the vault's lock keeps others away
  const std::scoped_lock lock(mutex);
  const auto old_text = INDX_TRY(read_file_text(index_dir));
  INDX_TRY(check_file_text(old_text, nullptr));
  Json document = Json::parse(old_text);
  for (const auto& [key, value] : changes.items()) {
    const auto* setting = find_setting(key);
    if (setting == nullptr || !setting->in_file)
      return invalid(cat(key,
                         setting == nullptr
                             ? " is no key of this version."
                             : cat(" is set by the environment alone: ", setting->variable, "."),
                         setting == nullptr ? meant_instead(key, &Setting::key) : ""),
                     {{"key", key}});
    change_member(document, split(key, '.'), value);
  }
  const auto text = document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  INDX_TRY(check_file_text(text, nullptr));
  Config trial;
  const auto nothing = [](const std::string&) { return std::optional<std::string>(); };
  INDX_TRY(read_config(trial, text, nothing, nullptr, nullptr));
  return replace_file(std::filesystem::path(index_dir) / kFileName, text);
}

}  // namespace indx
