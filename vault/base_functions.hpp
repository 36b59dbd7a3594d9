#pragma once
#include "vault/base_evaluator.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// Whether expressions may call it; names as in vault-rules 8.9.
bool is_base_function(std::string_view name);
bool is_base_method(std::string_view name);  ///< of any type

/// One call while it runs.
struct BaseCall {
  BaseEvaluator& evaluator;
  const BaseNode& node;  ///< for functions that run an argument many times
  BaseValue self;        ///< of methods
  std::vector<BaseValue> arguments;

  bool has(std::size_t index) const { return index < arguments.size(); }
  /// The text, number or list that an argument is or counts as.
  std::string text(std::size_t index) const { return evaluator.to_text(arguments[index]); }
  std::optional<double> number(std::size_t index) const { return base_number_of(arguments[index]); }
  const BaseNode& body(std::size_t index) const {
    return node.children[index + (node.is_method ? 1U : 0U)];
  }
};

/// A function: how many arguments it takes, and whether it evaluates them itself.
struct BaseFunction {
  std::string_view name;
  std::size_t min_arguments = 0, max_arguments = 0;
  bool is_lazy = false;
  BaseValue (*run)(BaseCall& call) = nullptr;
};
using BaseFunctionTable = std::vector<BaseFunction>;

const BaseFunctionTable& base_globals();
const BaseFunctionTable& base_any_methods();
const BaseFunctionTable& base_text_methods();
const BaseFunctionTable& base_number_methods();
const BaseFunctionTable& base_list_methods();
const BaseFunctionTable& base_date_methods();
const BaseFunctionTable& base_link_methods();
const BaseFunctionTable& base_file_methods();
const BaseFunctionTable& base_object_methods();
const BaseFunctionTable& base_regexp_methods();

/// Evaluates a Call.
BaseValue call_base_function(BaseEvaluator& evaluator, const BaseNode& node);

/// Whether `tag` is `wanted` or one below it; case and a leading `#` do not count.
bool is_base_tag_match(std::string_view tag, std::string_view wanted);

}  // namespace indx
