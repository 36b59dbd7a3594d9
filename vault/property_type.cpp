#include "vault/property_type.hpp"

#include "base/unicode.hpp"

namespace indx {
namespace {

/// `0` stands for a digit, anything else for itself.
bool has_shape(std::string_view text, std::string_view shape) {
  if (text.size() != shape.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (shape[i] == '0' ? !digit : text[i] != shape[i]) return false;
  }
  return true;
}

}  // namespace

std::string_view property_type(std::string_view name, const Json& value) {
  const std::string folded = fold_case(name);
  if (folded == "tags") return "tags";
  if (folded == "aliases") return "aliases";
  if (value.is_null()) return "empty";
  if (value.is_boolean()) return "checkbox";
  if (value.is_number()) return "number";
  if (value.is_array()) return "list";
  if (value.is_object()) return "object";
  const auto& text = value.get_ref<const std::string&>();
  if (has_shape(text, "0000-00-00")) return "date";
  if (has_shape(text, "0000-00-00T00:00:00") || has_shape(text, "0000-00-00T00:00"))
    return "datetime";
  return "text";
}

}  // namespace indx
