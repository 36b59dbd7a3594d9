#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"
#include "tests/support/vendor_server.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace indx {
namespace {

/// The files below the folder that hold the text.
std::vector<std::string> files_with(const std::string& folder, const std::string& text) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    if (bytes.find(text) != bytes.npos) found.push_back(entry.path().string());
  }
  return found;
}

}  // namespace

TEST_CASE("an operation gives the same with every provider, and no key is told or kept",
          "[end_to_end][D7][D20][D59][D70][D76]") {
  const auto vendor = GENERATE(from_range(vendor_names()));
  CAPTURE(vendor);
  const TempFolder vault;
  vault.write("a.md", "# A\n\nGardening is fun.\n");
  VendorServer model(vendor);
  VendorPlan tags, refused;
  tags.reply.text = R"({"tags": [{"tag": "gardening", "confidence": 0.9,
      "rationale": "It says so.", "quotes": ["Gardening is fun."]}]})";
  refused.status = 401;
  refused.message = vendor == "ollama" ? "No." : cat("Wrong key ", kVendorKey);
  model.plan(tags);
  model.plan(refused);
  auto variables = provider_variables(model.config());
  variables["INDX_LOG_LEVEL"] = "debug";
  RunningServer server(vault, {}, variables);
  const Json input{{"scope", {{"kind", "paths"}, {"paths", {"a.md"}}}}, {"cache", false}};

  const auto good = server.call("POST", "/v1/ai/tag", input);
  const auto bad = server.call("POST", "/v1/ai/tag", input);

  INFO(good.body.dump());
  REQUIRE(good.status == 200);
  const auto& data = good.body["data"];
  CHECK(data["suggestions"][0]["tags"][0]["tag"] == "gardening");
  CHECK(data["usage"]["input_tokens"] == kVendorInputTokens);
  CHECK(data["usage"]["output_tokens"] == kVendorOutputTokens);
  CHECK(data["usage"]["source"] == "reported");
  INFO(bad.body.dump());
  CHECK(bad.status == 502);
  CHECK(bad.body.dump().find("ai_provider_error") != std::string::npos);
  CHECK(model.requests().size() == 2);

  std::string said = cat(good.body, bad.body);
  for (const char* target : {"/v1/jobs", "/v1/vault/status", "/v1/vault/config", "/v1/ai/status"})
    said += server.call("GET", target).body.dump();
  server.stop();
  said += server.process().out() + server.process().err();
  CHECK(said.find(kVendorKey) == std::string::npos);
  CHECK(files_with(vault.path(), kVendorKey).empty());
}

}  // namespace indx
