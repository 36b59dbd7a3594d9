#pragma once
#include "ops/schema.hpp"

#include <string>
#include <string_view>

namespace indx {

/// Internal to `ops/schema*.cpp`: schemas and values in words.

/// As JSON Schema calls it.
std::string_view type_name(SchemaNode::Type type);
/// What a node takes, such as `integer from 1 to 20`.
/// What a text of expected_text or actual_text says in a sentence: `a string of 1 to 9 bytes`.
std::string with_article(const std::string& text);
std::string expected_text(const SchemaNode& node);
/// A value as an error may show it: short, and hidden where it is a secret.
std::string actual_text(const SchemaNode& node, const Json& value);
/// `x` for the key `x_json` of a property of any JSON; nullptr otherwise.
const SchemaNode::Property* any_property_of(const SchemaNode& node, std::string_view key);

}  // namespace indx
