#pragma once
#include "ops/define.hpp"

namespace indx {

/// A key of the configuration as it is in force.
struct ConfigKeyView {
  std::string key;
  Json value;
  std::string source;
  bool is_settable = false;
  std::string variable, about;
  static Fields<ConfigKeyView> fields();
};
Result<std::vector<ConfigKeyView>> view_config(Context& ctx);

}  // namespace indx
