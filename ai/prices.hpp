#pragma once
#include "base/config.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace indx {

/// US dollars for a million tokens.
struct ModelPrice {
  double input = 0, output = 0;
};

/// The list price of a model, from prices.inc; nullopt: unknown, which is not free. A date or
/// `-latest` at the end of the model's name is left aside; a gateway's `vendor/model` has the
/// vendor's price; models of a local server cost nothing.
std::optional<ModelPrice> price_of(const std::string& provider, const std::string& model);

/// The same where the configuration has a say (`ai.prices`), which stands before the list.
std::optional<ModelPrice> price_of(const AiConfig& config, const std::string& provider,
                                   const std::string& model);

/// What a call costs at that price; nullopt: unknown.
std::optional<double> cost_at(const std::optional<ModelPrice>& price, std::int64_t input_tokens,
                              std::int64_t output_tokens);
/// The same at the list price.
std::optional<double> cost_of(const std::string& provider, const std::string& model,
                              std::int64_t input_tokens, std::int64_t output_tokens);

/// The day of the price list, `YYYY-MM-DD`.
std::string prices_as_of();

}  // namespace indx
