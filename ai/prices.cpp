#include "ai/prices.hpp"

#include "base/json.hpp"

#include <algorithm>
#include <string_view>

namespace indx {
namespace {

constexpr const char* kPriceList =
#include "ai/prices.inc"
    ;

const Json& price_list() {
  static const auto* const list = new Json(Json::parse(kPriceList));  // read at exit too
  return *list;
}

bool is_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Without `-20251001`, `-2025-10-01` or `-latest`.
std::string without_date(const std::string& model) {
  const std::string_view text = model;
  if (text.ends_with("-latest")) return model.substr(0, model.size() - 7);
  const auto tail = [&](std::size_t size) {
    return text.size() > size ? text.substr(text.size() - size) : std::string_view();
  };
  if (const auto day = tail(9); day.starts_with('-') && is_digits(day.substr(1)))
    return model.substr(0, model.size() - 9);
  const auto day = tail(11);
  if (day.size() == 11 && day[0] == '-' && day[5] == '-' && day[8] == '-' &&
      is_digits(day.substr(1, 4)) && is_digits(day.substr(6, 2)) && is_digits(day.substr(9)))
    return model.substr(0, model.size() - 11);
  return model;
}

std::optional<ModelPrice> listed_price(const std::string& vendor, const std::string& model) {
  const auto models = price_list().find(vendor);
  if (models == price_list().end() || !models->is_object()) return std::nullopt;
  auto dashed = model;  // gateways write 4.5 where the vendor writes 4-5
  std::replace(dashed.begin(), dashed.end(), '.', '-');
  for (const auto& name : {model, without_date(model), dashed, without_date(dashed)})
    if (const auto it = models->find(name); it != models->end())
      return ModelPrice{it->at("input").get<double>(), it->at("output").get<double>()};
  return std::nullopt;
}

}  // namespace

std::optional<ModelPrice> price_of(const std::string& provider, const std::string& model) {
  if (provider == "builtin") return ModelPrice{};
  if (provider == "ollama") {  // a name that ends so runs on the vendor's machines
    if (model.ends_with("-cloud") || model.ends_with(":cloud")) return std::nullopt;
    return ModelPrice{};
  }
  if (provider != "vercel-ai-gateway") return listed_price(provider, model);
  const auto slash = model.find('/');
  if (slash == model.npos) return std::nullopt;
  const auto vendor = model.substr(0, slash);
  return listed_price(vendor == "google" ? "gemini" : vendor, model.substr(slash + 1));
}

std::optional<ModelPrice> price_of(const AiConfig& config, const std::string& provider,
                                   const std::string& model) {
  const auto own = config.prices.find(provider + "/" + model);
  if (own == config.prices.end()) return price_of(provider, model);
  constexpr double kThousandsInMillion = 1e3;
  return ModelPrice{own->second.input_per_1k * kThousandsInMillion,
                    own->second.output_per_1k * kThousandsInMillion};
}

std::optional<double> cost_at(const std::optional<ModelPrice>& price, std::int64_t input_tokens,
                              std::int64_t output_tokens) {
  if (!price) return std::nullopt;
  constexpr double kMillion = 1e6;
  return (static_cast<double>(input_tokens) * price->input +
          static_cast<double>(output_tokens) * price->output) /
         kMillion;
}

std::optional<double> cost_of(const std::string& provider, const std::string& model,
                              std::int64_t input_tokens, std::int64_t output_tokens) {
  return cost_at(price_of(provider, model), input_tokens, output_tokens);
}

std::string prices_as_of() { return price_list().at("as_of").get<std::string>(); }

}  // namespace indx
