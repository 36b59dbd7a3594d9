#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

enum class ConfigKind : std::uint8_t { Text, Integer, Number, Flag, Globs, Prices };
/// Who wins when both the variable and the file set a key (row D26).
enum class ConfigWins : std::uint8_t { Variable, File };

/// One key: its name in the file and the variable that sets it (empty: only the other one does).
struct ConfigKey {
  std::string key;
  std::string variable;
  ConfigKind kind = ConfigKind::Text;
  ConfigWins wins = ConfigWins::Variable;
  double least = 0, most = 0;        ///< of numbers
  std::vector<std::string> choices;  ///< of text; empty: any
  bool in_file = true;
  bool is_secret = false;
  std::string about;  ///< what it does, for docs/configuration.md and `vault config get`
};

/// A variable that is no key of the configuration: it says where to work, or how to show it.
struct PlaceVariable {
  std::string_view name, about;
};

/// Everything that can be set, each once.
const std::vector<ConfigKey>& config_keys();
/// nullptr: no key has that name.
const ConfigKey* find_config_key(std::string_view key);
/// "a whole number from 1 to 16"
std::string allowed_values(const ConfigKey& key);
const std::vector<PlaceVariable>& place_variables();

}  // namespace indx
