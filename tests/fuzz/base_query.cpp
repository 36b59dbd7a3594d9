#include "vault/base_query.hpp"

#include "tests/fuzz/claims.hpp"
#include "tests/vault/base_fixture.hpp"
#include "vault/base_evaluator.hpp"

/// Input: an expression, a base. Whatever an expression says, it reads back as printed and ends in
/// a value for every file; whatever a base says, it is refused or answered.

namespace indx::fuzz {
namespace {

const BaseFiles& files() {
  static const BaseFiles all(base_rows_of(kBaseVault));
  return all;
}

void check_expression(std::string_view source) {
  const auto node = parse_base_expression(source);
  if (!node.has_value()) {
    CLAIM(node.error().reason == Reason::ValidationFailed);
    return;
  }
  const auto again = parse_base_expression(print_base_expression(*node));
  CLAIM(again.has_value() && *again == *node);
  const BaseEnvironment environment{
      .files = files(), .clock = base_test_clock(), .formulas = {}, .this_row = 0, .seed = 1};
  BaseEvaluator evaluator(environment);
  for (std::size_t row = 0; row < files().rows().size(); ++row) {
    evaluator.set_row(row);
    const auto value = evaluator.evaluate(*node);
    evaluator.to_text(value);
    evaluator.to_json(value).dump(-1, ' ', false, Json::error_handler_t::replace);
    CLAIM(value.is_error() || evaluator.equals(value, value) || !evaluator.equals(value, value));
    evaluator.identity(value);
  }
}

void check_base(std::string_view yaml) {
  const auto answer = ask_base(std::string(yaml));
  if (!answer.has_value()) {
    CLAIM(answer.error().reason == Reason::ValidationFailed ||
          answer.error().reason == Reason::NotFound || answer.error().reason == Reason::TooLarge);
    return;
  }
  for (const auto& row : answer->rows) CLAIM(kBaseVault.contains(row.path));
}

}  // namespace
}  // namespace indx::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const indx::fuzz::Parts parts(FUZZ_INPUT(data, size));
  indx::fuzz::check_expression(parts[0]);
  indx::fuzz::check_base(parts[1]);
  return 0;
}
