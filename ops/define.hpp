#pragma once
#include "ops/operation.hpp"

#include <algorithm>
#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// The typed layer over SchemaNode: an operation lists the fields of its Input and Output once, and
/// gets schema, decoding and encoding from that list. Decoding assumes validated JSON.

template <typename Struct>
struct Field {
  const char* name;
  bool is_list = false;
  std::function<SchemaNode::Property()> property;            ///< makes it: most are never looked at
  std::function<void(const Json&, Struct&)> decode;          ///< a present value
  std::function<std::optional<Json>(const Struct&)> encode;  ///< nullopt: the key is left out
};
template <typename Struct>
using Fields = std::vector<Field<Struct>>;

/// A struct that can be a field's type: it says what it holds with `static Fields<T> fields()`.
template <typename T>
concept HasFields = requires {
  { T::fields() } -> std::same_as<Fields<T>>;
};

SchemaNode node_of(SchemaNode::Type type);
SchemaNode node_of(SchemaNode::Type type, SchemaNode items);

/// What a field may add to its type. Fields are required unless `optional`, or of type
/// std::optional.
struct Constraint {
  std::function<void(SchemaNode::Property&)> apply;
  bool is_nullable = false;
};
inline const Constraint optional{[](SchemaNode::Property& p) { p.is_required = false; }};
/// JSON null is a value of its own: for std::optional<Json> it decodes to null, else null means
/// "none".
inline const Constraint nullable{[](SchemaNode::Property& p) { p.schema.is_nullable = true; },
                                 true};
/// Of an input: no record, error or event of a job holds it, and its file only encrypted. Of an
/// output: shown once.
inline const Constraint secret{[](SchemaNode::Property& p) { p.schema.is_secret = true; }};
/// A path of the vault, or a list of them.
inline const Constraint vault_path{[](SchemaNode::Property& p) { p.schema.is_vault_path = true; }};
inline const Constraint for_writing{
    [](SchemaNode::Property& p) { p.schema.is_for_writing = true; }};
inline const Constraint for_programs{
    [](SchemaNode::Property& p) { p.schema.is_for_programs = true; }};
inline const Constraint plain{[](SchemaNode::Property& p) { p.schema.is_plain = true; }};
inline const Constraint usual{[](SchemaNode::Property& p) { p.schema.is_usual = true; }};
inline const Constraint header{[](SchemaNode::Property& p) { p.schema.is_header = true; }};
/// Of a list of words that never hold a comma: as text, `a,b` is two of them.
inline const Constraint comma_separated{
    [](SchemaNode::Property& p) { p.schema.splits_commas = true; }};
/// Any JSON, but an object: properties with values of any kind.
inline const Constraint json_object{[](SchemaNode::Property& p) {
  p.schema.type = SchemaNode::Type::Map;
  p.schema.items = std::make_shared<SchemaNode>(node_of(SchemaNode::Type::Any));
}};
Constraint between(double minimum, double maximum);
Constraint at_least(double minimum);
/// Bytes of a text, items of a list, entries of a map.
Constraint length(std::size_t minimum, std::size_t maximum);
Constraint one_of(std::vector<std::string> names);  ///< of a text, or of each text in a list
Constraint by_default(Json value);

/// How a C++ type looks in JSON.
template <typename T>
struct Codec;

template <>
struct Codec<std::string> {
  static SchemaNode schema() { return node_of(SchemaNode::Type::String); }
  static void decode(const Json& json, std::string& value) { value = json.get<std::string>(); }
  static std::optional<Json> encode(const std::string& value) { return Json(value); }
};
template <>
struct Codec<bool> {
  static SchemaNode schema() { return node_of(SchemaNode::Type::Boolean); }
  static void decode(const Json& json, bool& value) { value = json.get<bool>(); }
  static std::optional<Json> encode(bool value) { return Json(value); }
};
template <std::integral T>
struct Codec<T> {
  static SchemaNode schema() { return node_of(SchemaNode::Type::Integer); }
  static void decode(const Json& json, T& value) { value = json.get<T>(); }
  static std::optional<Json> encode(T value) { return Json(value); }
};
template <>
struct Codec<double> {
  static SchemaNode schema() { return node_of(SchemaNode::Type::Number); }
  static void decode(const Json& json, double& value) { value = json.get<double>(); }
  static std::optional<Json> encode(double value) { return Json(value); }
};
template <>
struct Codec<Json> {
  static SchemaNode schema() { return node_of(SchemaNode::Type::Any); }
  static void decode(const Json& json, Json& value) { value = json; }
  static std::optional<Json> encode(const Json& value) { return value; }
};
/// A JSON object with properties of any kind, where plain Json would be any value.
struct JsonObject {
  Json value = Json::object();
};
template <>
struct Codec<JsonObject> {
  static SchemaNode schema() {
    return node_of(SchemaNode::Type::Map, node_of(SchemaNode::Type::Any));
  }
  static void decode(const Json& json, JsonObject& object) { object.value = json; }
  static std::optional<Json> encode(const JsonObject& object) { return object.value; }
};
template <typename T>
struct Codec<std::optional<T>> {
  static SchemaNode schema() { return Codec<T>::schema(); }
  static void decode(const Json& json, std::optional<T>& value) {
    if constexpr (!std::same_as<T, Json>)
      if (json.is_null()) return value.reset();
    Codec<T>::decode(json, value.emplace());
  }
  static std::optional<Json> encode(const std::optional<T>& value) {
    return value ? Codec<T>::encode(*value) : std::nullopt;
  }
};
template <typename T>
struct Codec<std::vector<T>> {
  static SchemaNode schema() { return node_of(SchemaNode::Type::Array, Codec<T>::schema()); }
  static void decode(const Json& json, std::vector<T>& value) {
    value.clear();
    for (const auto& item : json) Codec<T>::decode(item, value.emplace_back());
  }
  static std::optional<Json> encode(const std::vector<T>& value) {
    Json json = Json::array();
    for (const auto& item : value) json.push_back(Codec<T>::encode(item).value_or(Json()));
    return json;
  }
};
template <typename T>
struct Codec<std::map<std::string, T>> {
  static SchemaNode schema() { return node_of(SchemaNode::Type::Map, Codec<T>::schema()); }
  static void decode(const Json& json, std::map<std::string, T>& value) {
    value.clear();
    for (const auto& [key, item] : json.items()) Codec<T>::decode(item, value[key]);
  }
  static std::optional<Json> encode(const std::map<std::string, T>& value) {
    Json json = Json::object();
    for (const auto& [key, item] : value) json[key] = Codec<T>::encode(item).value_or(Json());
    return json;
  }
};

template <typename Struct>
SchemaNode schema_of(const Fields<Struct>& fields) {
  SchemaNode node = node_of(SchemaNode::Type::Object);
  for (const auto& field : fields) node.properties.push_back(field.property());
  std::stable_partition(node.properties.begin(), node.properties.end(),
                        [](const auto& property) { return property.is_required; });
  return node;
}
template <typename Struct>
Struct decode_fields(const Fields<Struct>& fields, const Json& json) {
  Struct value{};
  for (const auto& field : fields)
    if (const auto it = json.find(field.name); it != json.end()) field.decode(*it, value);
  return value;
}
template <typename Struct>
Json encode_fields(const Fields<Struct>& fields, const Struct& value) {
  Json json = Json::object();
  // An object that grows copies what it holds: its keys are const.
  json.get_ref<Json::object_t&>().reserve(fields.size());
  for (const auto& field : fields)
    if (auto item = field.encode(value)) json[field.name] = std::move(*item);
  return json;
}

template <HasFields T>
struct Codec<T> {
  static const Fields<T>& fields() {
    static const Fields<T> list = T::fields();
    return list;
  }
  static SchemaNode schema() { return schema_of(fields()); }
  static void decode(const Json& json, T& value) { value = decode_fields(fields(), json); }
  static std::optional<Json> encode(const T& value) { return encode_fields(fields(), value); }
};

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <typename T>
inline constexpr bool kIsList = false;
template <typename T>
inline constexpr bool kIsList<std::vector<T>> = true;

template <typename Struct, typename Member>
SchemaNode::Property property_of(const char* name, Member Struct::*member, const char* description,
                                 const std::vector<Constraint>& constraints) {
  SchemaNode::Property property;
  property.name = name;
  property.schema = Codec<Member>::schema();
  property.schema.description = description;
  property.is_required = !kIsOptional<Member>;
  for (const auto& constraint : constraints) constraint.apply(property);
  SchemaNode& schema = property.schema;
  if (!property.is_required && schema.default_value.is_null() &&
      schema.type != SchemaNode::Type::Object) {
    const auto initial = Codec<Member>::encode(Struct{}.*member);
    const bool is_empty = !initial || initial->is_null() ||
                          (initial->is_structured() && initial->empty()) || *initial == "";
    if (!is_empty) schema.default_value = *initial;
  }
  return property;
}

/// One member, whose texts are literals: `field("max_tags", &Input::max_tags, "Most tags to add.",
/// between(1, 20), optional)`. The default of an optional field is what the member is initialised
/// with; an empty text, list or object counts as no default.
template <typename Struct, typename Member, std::same_as<Constraint>... Constraints>
Field<Struct> field(const char* name, Member Struct::*member, const char* description,
                    const Constraints&... constraints) {
  const bool null_for_none = kIsOptional<Member> && (constraints.is_nullable || ...);
  Field<Struct> result;
  result.name = name;
  result.is_list = kIsList<Member>;
  result.property = [name, member, description, list = std::vector<Constraint>{constraints...}] {
    return property_of(name, member, description, list);
  };
  result.decode = [member](const Json& json, Struct& value) {
    Codec<Member>::decode(json, value.*member);
  };
  result.encode = [member, null_for_none](const Struct& value) {
    auto json = Codec<Member>::encode(value.*member);
    return !json && null_for_none ? std::optional<Json>(Json(nullptr)) : json;
  };
  return result;
}

/// `idempotency_key`, which each operation that changes something takes; dispatch reads it,
/// handlers do not see it.
SchemaNode::Property idempotency_key_property();

/// How far the index is that is still being filled; nullopt: it is whole.
struct IndexProgress {
  std::int64_t done = 0, total = 0;
};
std::optional<IndexProgress> index_progress(Context& ctx);
/// `indexing` and `indexed`, in answers out of an index that is still being filled.
std::vector<SchemaNode::Property> indexing_properties();
void tell_indexing(const IndexProgress& progress, Json& answer);

/// The list of an answer that comes in pages; empty when it has no `next_cursor`, or several lists,
/// of which only the operation can know what the pages bring.
template <typename Struct>
std::string paged_list(const Fields<Struct>& output) {
  const auto named = [](const auto& field) {
    return std::string_view(field.name) == "next_cursor";
  };
  if (std::none_of(output.begin(), output.end(), named)) return {};
  const auto is_list = [](const auto& field) { return field.is_list; };
  const auto list = std::find_if(output.begin(), output.end(), is_list);
  return std::count_if(output.begin(), output.end(), is_list) == 1 ? list->name : "";
}

/// `Operation`, with typed input, output and handler. See there for what each part means.
template <typename Input, typename Output>
struct Definition {
  std::string name = {}, title = {}, summary = {}, guidance = {};
  std::vector<Scope> scopes = {};
  std::function<std::vector<Scope>(const Input&)> extra_scopes = {};
  Route route = {};
  std::string cli = {};
  std::vector<std::string> cli_positional = {};
  std::vector<CliFlag> cli_flags = {};
  std::string cli_replaces = {};
  std::string example = {};
  Execution execution = Execution::Inline;
  std::size_t inline_limit = 1;
  std::function<Result<std::size_t>(Context&, const Input&)> size = {};
  std::function<bool(const Input&)> may_be_large = {};
  Effect effect = Effect::Reads;
  Needs needs = Needs::Engine;
  bool is_idempotent = false;
  bool reads_index = false;  ///< the answer says `indexing: true` while the index is being filled
  std::function<bool(const Input&)> wants_consent = {};
  bool needs_provider = false;
  AiRole role = AiRole::Chat;
  std::function<bool(const Input&)> answers_without_chat = {};
  bool is_ai = false;
  std::string tool_group = {};
  bool takes_file = false, gives_file = false;
  int version = 1;
  JobPolicy job = {};
  Fields<Input> input = {};
  Fields<Output> output = {};
  std::string verdict = {};
  std::string list = {};  ///< left empty for a page: the only list beside `next_cursor`
  std::string list_gaps = {};
  CellColumns cells = {};
  std::string text = {};
  std::function<std::string(const Json& input, const Json& output)> told = {};
  std::vector<Failure> failures = {};
  int success_status = 200;
  std::function<Result<Output>(Context&, const Input&)> handler = {};
};

template <typename Input, typename Output>
Operation define(Definition<Input, Output> d) {
  Operation op;
  op.name = d.name;
  op.title = d.title;
  op.summary = d.summary;
  op.guidance = d.guidance;
  op.scopes = d.scopes;
  op.route = d.route;
  op.cli = d.cli.empty() ? d.name : d.cli;
  if (d.cli.empty())
    for (char& c : op.cli) c = c == '_' ? ' ' : c;
  op.cli_positional = d.cli_positional;
  op.cli_flags = d.cli_flags;
  op.cli_replaces = d.cli_replaces;
  op.example = d.example;
  op.execution = d.execution;
  op.inline_limit = d.inline_limit;
  op.effect = d.effect;
  op.needs = d.needs;
  op.is_idempotent = d.is_idempotent;
  op.needs_provider = d.needs_provider;
  op.role = d.role;
  op.is_ai = d.is_ai;
  op.tool_group = d.tool_group;
  op.reads_index = d.reads_index;
  op.told = d.told;
  op.takes_file = d.takes_file;
  op.gives_file = d.gives_file;
  op.version = d.version;
  op.job = std::move(d.job);
  // shared: by the schemas and the functions below
  const auto input = std::make_shared<const Fields<Input>>(std::move(d.input));
  const auto output = std::make_shared<const Fields<Output>>(std::move(d.output));
  op.input = Lazy<SchemaNode>([input, takes_key = op.takes_idempotency_key()] {
    SchemaNode node = schema_of(*input);
    if (takes_key) node.properties.push_back(idempotency_key_property());
    return node;
  });
  op.output = Lazy<SchemaNode>([output, reads_index = d.reads_index] {
    SchemaNode node = schema_of(*output);
    if (reads_index)
      for (auto& property : indexing_properties()) node.properties.push_back(std::move(property));
    return node;
  });
  op.list = d.list.empty() ? paged_list(*output) : d.list;
  op.list_gaps = d.list_gaps;
  op.cells = d.cells;
  op.text = d.text;
  op.verdict = d.verdict;
  op.failures = d.failures;
  op.success_status = d.success_status;
  if (d.extra_scopes)
    op.extra_scopes = [input, extra = d.extra_scopes](const Json& json) {
      return extra(decode_fields(*input, json));
    };
  if (d.answers_without_chat)
    op.answers_without_chat = [input, answers = d.answers_without_chat](const Json& json) {
      return answers(decode_fields(*input, json));
    };
  if (d.wants_consent)
    op.wants_consent = [input, wants = d.wants_consent](const Json& json) {
      return wants(decode_fields(*input, json));
    };
  if (d.size)
    op.size = [input, size = d.size](Context& ctx, const Json& json) {
      return size(ctx, decode_fields(*input, json));
    };
  if (d.may_be_large)
    op.may_be_large = [input, is_large = d.may_be_large](const Json& json) {
      return is_large(decode_fields(*input, json));
    };
  op.handler = [input, output, run = d.handler, reads_index = d.reads_index](
                   Context& ctx, const Json& json) -> Result<Json> {
    // Asked before: what is complete by then is so for the whole answer.
    const auto progress = reads_index ? index_progress(ctx) : std::nullopt;
    ctx.give_input(&json);
    const Output result = INDX_TRY(run(ctx, decode_fields(*input, json)));
    Json answer = encode_fields(*output, result);
    if (progress) tell_indexing(*progress, answer);
    return answer;
  };
  return op;
}

}  // namespace indx
