#pragma once
#include "ai/provider.hpp"
#include "base/clock.hpp"
#include "tests/support/vendor_server.hpp"

#include <catch2/catch.hpp>

namespace indx {

/// The text of the contract: characters of one to four bytes.
constexpr const char* kContractText = "Grüße aus 東京, déjà vu! 👋🏽 Ende.";

inline std::unique_ptr<Provider> contract_provider(const AiConfig& config) {
  auto made = make_provider(config);
  REQUIRE(made.has_value());
  REQUIRE(*made != nullptr);
  return std::move(*made);
}

inline GenerateRequest contract_question() {
  GenerateRequest request;
  request.system = "Be brief.";
  request.messages = {{"user", "First?"}, {"assistant", "Yes."}, {"user", "Second?"}};
  request.seed = 7;
  request.max_output_tokens = 50;
  return request;
}

inline GenerateRequest contract_json_question() {
  auto request = contract_question();
  request.schema_name = "reply";
  request.json_schema = Json::parse(R"({"type": "object", "properties": {
      "title": {"type": "string", "minLength": 1}, "count": {"type": "integer", "minimum": 0},
      "kind": {"type": "string", "enum": ["a", "b"]},
      "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2}},
      "required": ["title", "count", "kind", "tags"], "additionalProperties": false})");
  return request;
}

constexpr const char* kContractJson =
    R"({"title": "Grüße 👋🏽", "count": 2, "kind": "a", "tags": ["x", "東京"]})";

/// One call, streamed or not: the contract is the same for both.
struct ContractCall {
  std::string deltas;
  Result<GenerateReply> reply;
};

inline ContractCall contract_call(Provider& provider, const GenerateRequest& request,
                                  bool is_streamed, const CancelToken& cancel = CancelToken()) {
  std::string deltas;
  auto reply = is_streamed ? provider.generate_stream(
                                 request, cancel, [&](std::string_view delta) { deltas += delta; })
                           : provider.generate(request, cancel);
  return {std::move(deltas), std::move(reply)};
}

/// The error of one call that meets `plan`; no key in it.
inline Error contract_error(const std::string& vendor, const VendorPlan& plan, bool is_streamed,
                            const GenerateRequest& request = contract_question()) {
  VendorServer server(vendor);
  server.plan(plan);
  const auto provider = contract_provider(server.config());
  const auto call = contract_call(*provider, request, is_streamed);
  REQUIRE_FALSE(call.reply.has_value());
  CHECK(server.requests().size() == 1);
  CHECK(call.reply.error().to_json().dump().find(kVendorKey) == std::string::npos);
  return call.reply.error();
}

}  // namespace indx
