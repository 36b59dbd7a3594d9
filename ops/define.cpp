#include "ops/define.hpp"

#include "ops/context.hpp"

namespace indx {

SchemaNode node_of(SchemaNode::Type type) {
  SchemaNode node;
  node.type = type;
  return node;
}
SchemaNode node_of(SchemaNode::Type type, SchemaNode items) {
  SchemaNode node = node_of(type);
  node.items = std::make_shared<SchemaNode>(std::move(items));
  return node;
}

Constraint between(double minimum, double maximum) {
  return {[=](SchemaNode::Property& p) {
    p.schema.minimum = minimum;
    p.schema.maximum = maximum;
  }};
}
Constraint at_least(double minimum) {
  return {[=](SchemaNode::Property& p) { p.schema.minimum = minimum; }};
}
Constraint length(std::size_t minimum, std::size_t maximum) {
  return {[=](SchemaNode::Property& p) {
    if (minimum > 0) p.schema.min_length = minimum;
    p.schema.max_length = maximum;
  }};
}
Constraint one_of(std::vector<std::string> names) {
  return {[names = std::move(names)](SchemaNode::Property& p) {
    if (p.schema.type != SchemaNode::Type::Array) {
      p.schema.allowed = names;
      return;
    }
    auto items = std::make_shared<SchemaNode>(*p.schema.items);
    items->allowed = names;
    p.schema.items = std::move(items);
  }};
}
Constraint by_default(Json value) {
  return {[value = std::move(value)](SchemaNode::Property& p) {
    p.schema.default_value = value;
    p.is_required = false;
  }};
}

SchemaNode::Property idempotency_key_property() {
  SchemaNode::Property property;
  property.name = "idempotency_key";
  property.schema = node_of(SchemaNode::Type::String);
  property.schema.description =
      "A name of your choice for this call: repeating it within 24 hours gives the first answer "
      "again.";
  property.schema.max_length = 200;
  property.schema.is_header = true;
  property.schema.is_for_programs = true;
  return property;
}

std::optional<IndexProgress> index_progress(Context& ctx) {
  const Json state = ctx.index().indexing();
  if (state.value("is_complete", true)) return std::nullopt;
  return IndexProgress{state.value("done", std::int64_t{0}), state.value("total", std::int64_t{0})};
}

std::vector<SchemaNode::Property> indexing_properties() {
  SchemaNode::Property is_indexing{"indexing", node_of(SchemaNode::Type::Boolean), false};
  is_indexing.schema.description =
      "Only there, and true, while the index is still being filled after a start: the answer may "
      "lack files.";
  SchemaNode::Property indexed{"indexed", node_of(SchemaNode::Type::Object), false};
  indexed.schema.description = "With `indexing`: how many files are in the index so far.";
  for (const char* name : {"done", "total"}) {
    indexed.schema.properties.push_back({name, node_of(SchemaNode::Type::Integer), true});
    indexed.schema.properties.back().schema.description = "Files.";
  }
  return {std::move(is_indexing), std::move(indexed)};
}

void tell_indexing(const IndexProgress& progress, Json& answer) {
  answer["indexing"] = true;
  answer["indexed"] = {{"done", progress.done}, {"total", progress.total}};
}

}  // namespace indx
