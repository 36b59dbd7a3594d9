#include "ops/ai/ai_prose.hpp"

#include "ops/operation.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <set>

namespace indx {
namespace {

/// Texts of AI answers that are no words of a model's own choice: copied from the vault, names,
/// codes, places. A new one is decided upon here.
const std::set<std::string>& fact_fields() {
  static const std::set<std::string> names = {
      "path",     "paths",   "src_path", "dst_path",   "related_to", "etag",       "if_match",
      "anchor",   "snippet", "key",      "field",      "tag",        "tags_added", "tags_removed",
      "existing", "new",     "excluded", "fields_set", "kind",       "provider",   "model",
      "heading",  "title",   "sources",  "matched_in", "items"};
  return names;
}
/// What may be any JSON: records of the caller's own schema, values of the properties that were
/// asked for, steps of note_patch, trees, and warnings, which are codes or {code, …}.
const std::set<std::string>& open_fields() {
  static const std::set<std::string> names = {"data",   "value",    "existing", "ops",
                                              "fields", "warnings", "toc_tree", "children"};
  return names;
}

using VisitNamed = std::function<void(const std::string& name, const SchemaNode& node)>;

/// The node and everything below it, each under the name of the field that it belongs to.
void walk_named(const std::string& name, const SchemaNode& node, const VisitNamed& visit) {
  visit(name, node);
  if (node.items) walk_named(name, *node.items, visit);
  for (const auto& property : node.properties) walk_named(property.name, property.schema, visit);
}

}  // namespace

TEST_CASE("AI answers hold free prose in named fields only, and no open objects elsewhere",
          "[contract][D73]") {
  using Type = SchemaNode::Type;
  const Registry registry = make_registry();
  int operations = 0, prose = 0;
  for (const auto& operation : registry.all()) {
    if (!operation.is_ai) continue;
    ++operations;
    walk_named("", *operation.output, [&](const std::string& name, const SchemaNode& node) {
      INFO(operation.name << ": " << name);
      const bool is_open = node.type == Type::Any || node.type == Type::Map;
      if (is_open) CHECK(open_fields().contains(name));
      if (node.type != Type::String || !node.allowed.empty()) return;
      if (is_ai_prose(name)) ++prose;
      CHECK((is_ai_prose(name) || fact_fields().contains(name)));
    });
  }
  CHECK(operations >= 5);
  CHECK(prose >= 5);
  for (const auto& field : kAiProseFields)
    CHECK_FALSE(fact_fields().contains(std::string(field.name)));
}

TEST_CASE("every operation that may ask a model tells beforehand what that takes", "[contract]") {
  const Registry registry = make_registry();
  for (const auto& operation : registry.all()) {
    if (!operation.needs_provider || !operation.is_ai) continue;
    INFO(operation.name);
    const auto* asked = operation.input->find("estimate");
    REQUIRE(asked != nullptr);
    CHECK(asked->schema.type == SchemaNode::Type::Boolean);
    CHECK_FALSE(asked->is_required);
    const auto* told = operation.output->find("estimate");
    REQUIRE(told != nullptr);
    CHECK_FALSE(told->is_required);
    CHECK(told->schema.find("cost_usd") != nullptr);
  }
}

}  // namespace indx
