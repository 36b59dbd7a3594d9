#pragma once
#include "base/result.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace indx {

/// One node of a schema tree. The same tree validates input, describes REST bodies and makes the
/// MCP form.
struct SchemaNode {
  enum class Type : std::uint8_t { String, Integer, Number, Boolean, Array, Object, Map, Any };

  Type type = Type::Object;
  std::string description;
  std::vector<std::string> allowed;                   ///< String: the enum
  std::optional<double> minimum, maximum;             ///< Integer, Number
  std::optional<std::size_t> min_length, max_length;  ///< String: bytes; Array: items; Map: entries
  Json default_value;                                 ///< null: none
  bool is_nullable = false;    ///< JSON null is a value of its own (note_write's frontmatter)
  bool is_secret = false;      ///< masked wherever a call is shown
  bool is_header = false;      ///< also taken from a header: if_match, idempotency_key
  bool splits_commas = false;  ///< Array of words that hold no comma: as text, `a,b` is two of them
  std::shared_ptr<const SchemaNode> items;  ///< Array, Map
  struct Property;
  std::vector<Property> properties;  ///< Object, required ones first
  /// String: a path of the vault; Array: each item is one.
  bool is_vault_path = false;
  /// Of an input: means something only to a call that writes; who may not write is not shown it.
  bool is_for_writing = false;
  /// Of an input: for programs. Taken everywhere, but no model is told of it.
  bool is_for_programs = false;
  /// Of an input: models know by its name what it is, so their schemas do not describe it.
  bool is_plain = false;
  /// Of an output: optional, but there in most answers.
  bool is_usual = false;

  const Property* find(std::string_view name) const;
};
struct SchemaNode::Property {
  std::string name;
  SchemaNode schema;
  bool is_required = false;
};

enum class SchemaUse : std::uint8_t { Input, Output };
/// JSON Schema 2020-12 for OpenAPI. A secret is a password; as input also `writeOnly`.
Json to_json_schema(const SchemaNode& node, SchemaUse use = SchemaUse::Input);
/// Who a portable schema is for: one that may not write is not shown what only writing needs.
enum class SchemaReader : std::uint8_t { Writer, Reader };
/// The portable projection of an input for MCP hosts (mcp.md section 9): single types, typed items,
/// no refs; a field of any JSON `x` becomes the string `x_json`. Lengths and ranges are left to
/// `validate`, whose errors say them; a catalog must stay small.
Json to_portable_schema(const SchemaNode& node, SchemaReader reader = SchemaReader::Writer);
/// One property of it: its name and its schema.
std::pair<std::string, Json> to_portable_property(const SchemaNode::Property& property,
                                                  SchemaReader reader);
/// Whether the projection has the property.
bool is_offered(const SchemaNode::Property& property, SchemaReader reader);
/// The same of an output: the types of what is always or mostly there, one level deep.
Json to_portable_output(const SchemaNode& node);

/// A value of the schema as MCP hosts must see it: null for "none" is left out, so that it fits the
/// portable schema.
Json to_portable_value(const SchemaNode& node, Json value);

/// The value without its secrets, for what is stored or shown again.
Json mask_secrets(const SchemaNode& node, Json value);

/// Takes the values of secret fields out of a validated input, which keeps the text `***` in their
/// place. Gives them by JSON pointer, `{"/auth/token": "…"}`; null: there are none.
Json take_secrets(const SchemaNode& node, Json& input);
/// The input with its secrets in their places again.
Json with_secrets(Json input, const Json& secrets);

/// Deepest nesting of a value that `validate` takes.
inline constexpr int kMaxJsonDepth = 64;
/// Most mistakes that one answer lists.
inline constexpr std::size_t kMaxSchemaErrors = 20;

/// Checks `value` and fills in defaults. Errors: `validation_failed` with details {path, expected,
/// actual} of the first mistake and `errors` with all of them; unknown keys are named with the
/// closest known one.
Result<Json> validate(const SchemaNode& node, const Json& value);
/// Repairs what MCP hosts get wrong (mcp.md section 9): stringified arrays, numbers and booleans,
/// null for absent, `x_json` strings. Names of repaired fields go to `*repaired`.
Json repair_arguments(const SchemaNode& node, Json value, std::vector<std::string>* repaired);
/// One value given as text on a command line or in a query string.
Result<Json> parse_text_value(const SchemaNode& node, const std::string& name,
                              const std::vector<std::string>& values);

}  // namespace indx
