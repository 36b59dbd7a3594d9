#include "base/config_layers.hpp"

#include "base/edit_distance.hpp"
#include "base/json_depth.hpp"
#include "base/json_text.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace indx {
namespace {

constexpr std::size_t kMaxFileBytes = 1U << 20U;

Error bad_file(const std::string& message, Json details = Json::object()) {
  details["source"] = kConfigFileName;
  return invalid(message, std::move(details));
}

bool is_price(const Json& value) {
  return value.is_object() && value.size() == 2 &&
         std::all_of(value.begin(), value.end(),
                     [](const Json& one) { return one.is_number() && one.get<double>() >= 0; }) &&
         value.contains("input_per_1k") && value.contains("output_per_1k");
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

bool has_kind(const Json& value, ConfigKind kind) {
  switch (kind) {
    case ConfigKind::Text:
      return value.is_string();
    case ConfigKind::Integer:
      return value.is_number_integer();
    case ConfigKind::Number:
      return value.is_number();
    case ConfigKind::Flag:
      return value.is_boolean();
    case ConfigKind::Globs:
      return value.is_array() &&
             std::all_of(value.begin(), value.end(), [](const Json& v) { return v.is_string(); });
    case ConfigKind::Prices:
      return is_price_list(value);
  }
  return false;
}

bool is_group(const std::string& key) {
  return std::any_of(config_keys().begin(), config_keys().end(),
                     [&](const ConfigKey& s) { return s.in_file && s.key.starts_with(key + "."); });
}

/// Refuses secrets and wrong types in `object`; `prefix` is the dotted path to it.
Status check_members(const Json& object, const std::string& prefix,
                     std::vector<std::string>* warnings) {
  for (const auto& [name, value] : object.items()) {
    const auto key = prefix + name;
    if (looks_secret(name) ||
        (value.is_string() && value.get_ref<const std::string&>().starts_with("sk-")))
      return bad_file(cat(key, " looks like a secret: secrets never in ", kConfigFileName,
                          "; set the environment variable instead."),
                      {{"key", key}});
    if (value.is_null()) continue;
    const auto* setting = name.find('.') == name.npos ? find_config_key(key) : nullptr;
    if (setting != nullptr && setting->in_file) {
      if (!has_kind(value, setting->kind))
        return bad_config_value(*setting, ConfigOrigin::File, json_text(value),
                                allowed_values(*setting));
    } else if (name.find('.') == name.npos && is_group(key)) {
      if (!value.is_object())
        return bad_file(cat(key, " must be an object in ", kConfigFileName, "."), {{"key", key}});
      INDX_TRY(check_members(value, key + ".", warnings));
    } else {
      if (value.is_object()) INDX_TRY(check_members(value, key + ".", nullptr));  // for secrets
      if (warnings != nullptr)
        warnings->push_back(cat(kConfigFileName, " sets ", key,
                                ", which is not a key of this version.",
                                meant_instead(key, &ConfigKey::key)));
    }
  }
  return {};
}

/// Globs are a comma list in a variable; both layers hold them as a JSON list.
std::string env_text(const ConfigKey& setting, std::string value) {
  if (setting.kind != ConfigKind::Globs) return value;
  Json list = Json::array();
  for (const auto& glob : split(value, ','))
    if (!trim(glob).empty()) list.push_back(replace_invalid_utf8(trim(glob)));
  return list.dump();
}

}  // namespace

Error bad_config_value(const ConfigKey& setting, ConfigOrigin origin, const std::string& value,
                       const std::string& allowed) {
  const auto& name = origin == ConfigOrigin::Variable ? setting.variable : setting.key;
  const std::string source = origin == ConfigOrigin::File       ? kConfigFileName
                             : origin == ConfigOrigin::Variable ? "environment"
                                                                : "call";
  const std::string place = origin == ConfigOrigin::File ? cat("; it is set in ", kConfigFileName)
                            : origin == ConfigOrigin::Variable ? "; it is set in the environment"
                                                               : "";
  const auto shown =
      setting.is_secret ? std::string() : cat(" is `", prefix_at_grapheme(value, 100), "` but");
  auto message = cat(name, shown, " must be ", allowed, place, ".");
  Json details{{"key", name}, {"source", source}, {"allowed", allowed}};
  if (!setting.is_secret) details["value"] = std::string(prefix_at_grapheme(value, 100));
  return invalid(std::move(message), std::move(details));
}

std::string meant_instead(const std::string& name, std::string ConfigKey::*known) {
  std::string nearest;
  std::size_t best = std::max<std::size_t>(2, name.size() / 4) + 1;
  for (const auto& setting : config_keys()) {
    if ((setting.*known).empty() || (known == &ConfigKey::key && !setting.in_file)) continue;
    const auto distance = edit_distance(name.substr(0, 64), setting.*known);
    if (distance < best) best = distance, nearest = setting.*known;
  }
  return nearest.empty() ? "" : cat(" Did you mean ", nearest, "?");
}

bool is_price_list(const Json& value) {
  if (!value.is_object()) return false;
  return std::all_of(value.items().begin(), value.items().end(), [](const auto& model) {
    return model.key().find('/') != std::string::npos && is_price(model.value());
  });
}

Result<std::string> read_config_text(const std::string& index_dir) {
  const auto path = std::filesystem::path(index_dir) / kConfigFileName;
  std::error_code failure;
  if (!std::filesystem::exists(path, failure)) return std::string("{}");
  std::ifstream in(path, std::ios::binary);
  if (!in) return bad_file(cat(kConfigFileName, " cannot be read; check its permissions."));
  std::string text(kMaxFileBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (in.bad()) return bad_file(cat(kConfigFileName, " cannot be read."));
  if (text.size() > kMaxFileBytes) return bad_file(cat(kConfigFileName, " is larger than 1 MB."));
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  return text;
}

Result<Json> parse_config_text(const std::string& text, std::vector<std::string>* warnings) {
  if (is_nested_deeper(text, kMaxJsonLevels))
    return bad_file(cat(kConfigFileName, " is nested deeper than ", kMaxJsonLevels, " levels."));
  if (holds_zero_byte(text)) return bad_file(cat(kConfigFileName, " holds a zero byte."));
  Json document;
  try {
    document = Json::parse(text);
  } catch (
      const Json::parse_error& failure) {  // its text may quote the file, so only the place is told
    const auto end =
        text.begin() + static_cast<std::ptrdiff_t>(std::min(failure.byte, text.size()));
    const auto line = 1 + std::count(text.begin(), end == text.begin() ? end : end - 1, '\n');
    return bad_file(cat(kConfigFileName, " is not valid JSON: error in line ", line, "."),
                    {{"line", line}});
  }
  if (!document.is_object()) return bad_file(cat(kConfigFileName, " must hold one JSON object."));
  INDX_TRY(check_members(document, "", warnings));
  return document;
}

ConfigLayers::ConfigLayers(Json document, const Environment& env) : file_(std::move(document)) {
  for (const auto& setting : config_keys()) {
    if (setting.variable.empty()) continue;
    const auto value = env(setting.variable);
    if (!value || trim(*value).empty()) continue;  // set to nothing is not set
    environment_[setting.key] = env_text(setting, std::string(trim(*value)));
  }
}

std::optional<ConfigLayers::Found> ConfigLayers::find(const std::string& key) const {
  const auto& setting = *find_config_key(key);
  auto in_file = setting.in_file ? file_text(key) : std::nullopt;
  const auto in_environment = environment_.find(key);
  const bool has_variable = in_environment != environment_.end();
  if (in_file && (setting.wins == ConfigWins::File || !has_variable))
    return Found{std::move(*in_file), ConfigOrigin::File};
  if (has_variable) return Found{in_environment->second, ConfigOrigin::Variable};
  return std::nullopt;
}

std::optional<std::string> ConfigLayers::file_text(const std::string& key) const {
  const Json* place = &file_;
  for (const auto& name : split(key, '.')) {
    if (!place->is_object()) return std::nullopt;
    const auto member = place->find(name);
    if (member == place->end()) return std::nullopt;
    place = &*member;
  }
  if (place->is_null()) return std::nullopt;
  return place->is_string() ? place->get<std::string>() : place->dump();
}

Status replace_config_file(const std::string& index_dir, const std::string& text) {
  const auto file = std::filesystem::path(index_dir) / kConfigFileName;
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
                    cat(kConfigFileName, " cannot be written; check the folder's permissions."));
}

}  // namespace indx
