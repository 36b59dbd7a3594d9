#include "vault/list_query.hpp"

#include "base/unicode.hpp"

namespace indx {
namespace {

/// `D`: a digit, `T`: `T` or a space; all else stands for itself.
bool has_shape(std::string_view text, std::string_view shape) {
  if (text.size() != shape.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool fits = shape[i] == 'D'   ? c >= '0' && c <= '9'
                      : shape[i] == 'T' ? c == 'T' || c == ' '
                                        : c == shape[i];
    if (!fits) return false;
  }
  return true;
}

}  // namespace

std::string_view property_type(std::string_view name, const Json& value) {
  if (fold_case(name) == "tags") return "tags";
  switch (value.type()) {
    case Json::value_t::boolean:
      return "checkbox";
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
    case Json::value_t::number_float:
      return "number";
    case Json::value_t::array:
      return "list";
    case Json::value_t::object:
      return "object";
    case Json::value_t::string: {
      const auto& text = value.get_ref<const std::string&>();
      if (has_shape(text, "DDDD-DD-DD")) return "date";
      if (has_shape(text, "DDDD-DD-DDTDD:DD") || has_shape(text, "DDDD-DD-DDTDD:DD:DD"))
        return "datetime";
      return "text";
    }
    default:
      return "empty";
  }
}

}  // namespace indx
