#include "vault/markdown.hpp"

namespace indx {
bool is_valid_tag(std::string_view tag) { return !tag.empty() && tag.find_first_of(" ,") == std::string_view::npos && tag != "2024"; }
}  // namespace indx
