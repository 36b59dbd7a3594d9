#include "ops/operation.hpp"

#include <algorithm>

namespace indx {

const std::string* Operation::text_of(const Json& output_data) const {
  if (text.empty() || !output_data.is_object()) return nullptr;
  const auto found = output_data.find(text);
  return found == output_data.end() ? nullptr : found->get_ptr<const std::string*>();
}

std::vector<Json> Operation::gap_lines(const Json& output_data) const {
  std::vector<Json> lines;
  if (list_gaps.empty() || !output_data.is_object()) return lines;
  for (const auto& gap : output_data.value(list_gaps, Json::array()))
    if (gap.value("reason", "") != kComesLater) lines.push_back(Json{{list_gaps, gap}});
  return lines;
}

int Operation::page_size(int most) const {
  const auto* limit = input->find("limit");
  const double largest = limit == nullptr ? most : limit->schema.maximum.value_or(most);
  return static_cast<int>(std::min<double>(largest, most));
}

std::string Operation::stream_prefix() const {
  return needs_provider || name.starts_with("ai_") ? "ai." : "";
}

Registry::Registry(std::vector<Operation> operations)
    : operations_(std::make_shared<const std::vector<Operation>>(std::move(operations))) {}

const Operation* Registry::find(std::string_view name) const {
  const auto it = std::find_if(all().begin(), all().end(),
                               [&](const Operation& operation) { return operation.name == name; });
  return it == all().end() ? nullptr : &*it;
}

std::vector<const Operation*> Registry::visible_to(const Principal& principal,
                                                   bool has_provider) const {
  std::vector<const Operation*> visible;
  for (const auto& operation : all()) {
    if ((operation.needs_provider || operation.is_ai) && !has_provider) continue;
    const bool allowed = std::all_of(operation.scopes.begin(), operation.scopes.end(),
                                     [&](Scope scope) { return principal.has(scope); });
    if (allowed) visible.push_back(&operation);
  }
  return visible;
}

}  // namespace indx
