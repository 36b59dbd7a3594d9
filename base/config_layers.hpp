#pragma once
#include "base/config.hpp"
#include "base/config_table.hpp"
#include "base/json.hpp"
#include "base/result.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace indx {

/// Where values of the configuration stand, as text, before they are read into fields: the file
/// `config.json` in the index folder, and the environment.

inline constexpr const char* kConfigFileName = "config.json";

enum class ConfigOrigin : std::uint8_t { Variable, File, Call };

/// `validation_failed`: says where the value stands and what is allowed; shows no secret.
Error bad_config_value(const ConfigKey& setting, ConfigOrigin origin, const std::string& value,
                       const std::string& allowed);
/// ` Did you mean x?` for a name that is near to a known one; empty otherwise.
std::string meant_instead(const std::string& name, std::string ConfigKey::*known);
/// Whether it is `{"provider/model": {input_per_1k, output_per_1k}}`.
bool is_price_list(const Json& value);

/// The text of the file, `{}` when there is none; at most 1 MB.
Result<std::string> read_config_text(const std::string& index_dir);
/// The object in the file, refused when it holds a secret or a wrong type. `*warnings`, unless
/// null, gets what is not known.
Result<Json> parse_config_text(const std::string& text, std::vector<std::string>* warnings);
/// A reader sees the old file or the new one.
Status replace_config_file(const std::string& index_dir, const std::string& text);

/// What the file and the environment set, each key as text; which of them wins is up to the key.
class ConfigLayers {
 public:
  /// `document` was checked, see parse_config_text.
  ConfigLayers(Json document, const Environment& env);

  struct Found {
    std::string text;
    ConfigOrigin origin;
  };
  std::optional<Found> find(const std::string& key) const;
  /// Strings as they are, everything else as JSON; null is not set.
  std::optional<std::string> file_text(const std::string& key) const;

 private:
  Json file_;
  std::map<std::string, std::string> environment_;  ///< by key
};

}  // namespace indx
