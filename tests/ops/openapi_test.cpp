#include "ops/openapi.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

TEST_CASE("the OpenAPI document says where each field goes", "[ops][A86]") {
  const Json document = openapi_document(make_registry(), {true, true});

  const Json patch = document["paths"]["/v1/notes/{path}"]["patch"];
  CHECK(document["openapi"] == "3.1.0");
  CHECK(patch["parameters"][0]["name"] == "path");
  CHECK(patch["parameters"][0]["in"] == "path");
  const Json body = patch["requestBody"]["content"]["application/json"]["schema"];
  CHECK(body["properties"].contains("ops"));
  CHECK_FALSE(body["properties"].contains("path"));
  CHECK(patch["responses"].contains("412"));
  CHECK(document["paths"]["/v1/ai/tag"]["post"]["responses"].contains("202"));
  const Json stream = document["paths"]["/v1/ai/tag"]["post"]["responses"]["200"]["content"]
                              ["text/event-stream"]["schema"]["description"];
  for (const char* kind : {"ai.partial", "ai.citation", "ai.usage", "ai.complete", "ai.error"})
    CHECK(stream.get<std::string>().find(kind) != std::string::npos);
  const auto content = [&](const char* path, const char* method) {
    return document["paths"][path][method]["responses"]["200"]["content"];
  };
  CHECK(content("/v1/vault/reindex", "post").contains("text/event-stream"));
  CHECK_FALSE(content("/v1/notes", "get").contains("text/event-stream"));
  CHECK(document["paths"]["/v1/tokens"]["post"]["responses"].contains("201"));
  const Json list = document["paths"]["/v1/notes"]["get"];
  CHECK(list["parameters"][0]["in"] == "query");
  CHECK(document["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer");
}

}  // namespace
}  // namespace indx
