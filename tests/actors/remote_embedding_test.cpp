#include "ai/remote_embedder.hpp"
#include "base/text.hpp"
#include "store/state_schema.hpp"
#include "store/usage_store.hpp"
#include "tests/actors/engine_fixture.hpp"
#include "tests/support/vendor_server.hpp"
#include "tests/support/word_embedder.hpp"

#include <algorithm>

namespace indx {
namespace {

/// A vault whose vectors come from a vendor's server on this machine.
struct RemoteVault {
  VendorServer& server;
  const TempFolder& folder;
  ServedVault vault;

  RemoteVault(VendorServer& the_server, const TempFolder& the_folder,
              const std::function<void(AiConfig&)>& configure = {})
      : server(the_server), folder(the_folder), vault(folder, [&](Config& config) {
          config.ai = server.config();
          config.ai.timeout = milliseconds(3000);
          if (configure) configure(config.ai);
        }) {}

  Json status() const { return vault.ask("vault_status", Json::object())["embeddings"]; }
  bool becomes(const std::string& state) const {
    return comes_true([&] { return status()["state"] == state; });
  }
  Json search(const std::string& q, const std::string& mode = "hybrid") const {
    return vault.ask("vault_search", {{"q", q}, {"mode", mode}});
  }
  Json used_today() const { return vault.ask("ai_status", Json::object())["usage_today"]; }
  std::vector<UsageRecord> records_of(const std::string& job) const {
    auto db = open_state_db_reader(folder.path() + "/.indx");
    REQUIRE(db.has_value());
    return UsageStore(*db).list(job).value();
  }
};

/// The texts of each call so far.
std::vector<std::vector<std::string>> asked_texts(const VendorServer& server) {
  std::vector<std::vector<std::string>> calls;
  for (const auto& request : server.requests()) {
    REQUIRE(server.dialect().is_embeddings(request.target));
    calls.push_back(server.dialect().texts(request.body));
  }
  return calls;
}

std::vector<std::string> remote_embedders() {
  std::vector<std::string> names;
  for (const auto& name : vendor_names())
    if (make_vendor_dialect(name)->has_embeddings()) names.push_back(name);
  return names;
}

void write_remote_notes(const TempFolder& folder, int count) {
  for (int i = 0; i < count; ++i) folder.write(cat("n/", i, ".md"), cat("unique", i, " words\n"));
}

VendorPlan vectors_of_size(std::size_t size) {
  VendorPlan plan;
  plan.vector_size = size;
  return plan;
}

}  // namespace

TEST_CASE("each provider gives a vault its vectors, 32 a call, and each call has its record",
          "[actors][D7][D20][G3][G23][G24][G43][slow]") {
  const auto vendor = GENERATE(from_range(remote_embedders()));
  CAPTURE(vendor);
  const TempFolder folder;
  write_remote_notes(folder, 40);
  VendorServer server(vendor);
  const RemoteVault served(server, folder);
  REQUIRE(served.becomes("ready"));

  std::size_t texts = 0, most = 0;
  for (const auto& call : asked_texts(server)) {
    texts += call.size();
    most = std::max(most, call.size());
  }
  CHECK(texts == 40);
  CHECK(most <= kEmbedBatch);
  CHECK(served.status()["embedded"] == 40);
  CHECK(served.status()["dim"] == 4);  // of the first vector
  CHECK(served.status()["model"] == cat(vendor, '/', usual_embedding_model(vendor)));
  const auto calls = server.requests().size();
  const Json used = served.used_today();
  CHECK(used["calls"] == calls);
  CHECK(used["output_tokens"] == 0);
  if (server.dialect().tells_embedded_tokens())
    CHECK(used["input_tokens"] == static_cast<std::int64_t>(calls) * kVendorInputTokens);
  CHECK(used["input_tokens"].get<std::int64_t>() > 0);

  const Json found = served.search("words");
  CHECK(found["mode_used"] == "hybrid");
  CHECK(found["warnings"].empty());
  CHECK(served.search("words", "semantic")["mode_used"] == "semantic");
  CHECK(server.requests().size() == calls + 1);  // the same question is asked once
  CHECK(served.used_today()["calls"] == calls + 1);
}

TEST_CASE("an edit of one section is one call with one text", "[actors][A69][G23][slow]") {
  const TempFolder folder;
  folder.write("garage.md", "# Garage\n\nThe car is here.\n\n## Tools\n\nA hammer.\n");
  folder.write("food.md", "Bread and butter.\n");
  VendorServer server("openai");
  const RemoteVault served(server, folder);
  REQUIRE(served.becomes("ready"));
  const auto before = server.requests().size();

  folder.write("garage.md", "# Garage\n\nThe car is here.\n\n## Tools\n\nA screwdriver.\n");
  REQUIRE(comes_true([&] { return server.requests().size() > before; }));
  REQUIRE(served.becomes("ready"));

  const auto calls = asked_texts(server);
  REQUIRE(calls.size() == before + 1);
  REQUIRE(calls.back().size() == 1);
  CHECK(calls.back()[0].find("screwdriver") != std::string::npos);
}

TEST_CASE("notes that are denied to AI reach no embedder", "[actors][D16][D17][D32][slow]") {
  const TempFolder folder;
  folder.write("work/a.md", "Alphaword.\n");
  folder.write("work/draft/b.md", "Betaword.\n");
  folder.write("private/c.md", "Gammaword.\n");
  VendorServer server("openai");
  const RemoteVault served(server, folder, [](AiConfig& ai) {
    ai.allow_globs = {"work/**"};
    ai.deny_globs = {"**/draft/**"};
  });
  REQUIRE(served.becomes("ready"));
  REQUIRE_FALSE(served.vault.run_job("vault_embed", Json::object()).empty());

  std::string sent;
  for (const auto& request : server.requests()) sent += request.head + request.body.dump();
  CHECK(sent.find("Alphaword") != std::string::npos);
  for (const auto* denied : {"Betaword", "Gammaword", "private", "draft"})
    CHECK(sent.find(denied) == std::string::npos);
  CHECK(served.status()["embedded"] == 1);
  CHECK(served.status()["left_out"] == 2);
}

TEST_CASE("a call that fails is tried again, and both tries are recorded",
          "[actors][A69][G43][D59][slow]") {
  const TempFolder folder;
  folder.write("a.md", "one\n");
  VendorServer server("openai");
  const RemoteVault served(server, folder);
  REQUIRE(served.becomes("ready"));
  VendorPlan busy;
  busy.status = 503;
  server.plan(busy);
  const auto job = served.vault.run_job("vault_embed", {{"reset", true}});
  REQUIRE_FALSE(job.empty());

  const auto records = served.records_of(job);
  REQUIRE(records.size() == 2);
  CHECK(records[0].status == "failed");
  CHECK(records[0].attempt == 1);
  CHECK(records[1].status == "succeeded");
  CHECK(records[1].attempt == 2);
  for (const auto& record : records) {
    CHECK(record.operation == "embed");
    CHECK(record.provider == "openai");
    CHECK(record.model == "text-embedding-3-small");
  }
  CHECK(records[1].input_tokens == kVendorInputTokens);
  CHECK(records[1].source == "reported");
  CHECK(records[1].cost_usd.value_or(0) == Approx(kVendorInputTokens * 0.02 / 1e6));
}

TEST_CASE("while the server of embeddings is down search goes by words, and does not ask on and on",
          "[actors][A62][D5][D64][slow]") {
  const TempFolder folder;
  folder.write("a.md", "zebra\n");
  VendorServer server("openai");
  const RemoteVault served(server, folder);
  REQUIRE(served.becomes("ready"));
  VendorPlan gone;
  gone.fault = VendorFault::Disconnect;
  server.plan(gone);
  const auto before = server.requests().size();

  for (const auto* question : {"zebra", "zebra stripes", "a third zebra"}) {
    const Json found = served.search(question);
    CHECK(found["mode_used"] == "lexical");
    CHECK(found["warnings"] == Json::array({"embeddings_unavailable"}));
    REQUIRE(found["results"].size() == 1);
  }

  CHECK(server.requests().size() == before + 1);
}

TEST_CASE("vectors are made within the limits of a minute; what is left waits asleep",
          "[actors][G25][jobs][slow]") {
  const TempFolder folder;
  write_remote_notes(folder, 70);
  VendorServer server("openai");
  const RemoteVault served(server, folder, [](AiConfig& ai) { ai.requests_per_minute = 2; });
  const auto job = [&] {
    const Json jobs = served.vault.ask("job_list", {{"kind", "vault_embed"}})["jobs"];
    return jobs.empty() ? Json::object() : jobs[0];
  };
  REQUIRE(comes_true([&] { return job().value("state", "") == "sleeping"; }));

  CHECK(server.requests().size() == 2);
  CHECK(served.status()["embedded"].get<int>() >= 33);
  CHECK(served.status()["embedded"].get<int>() < 70);
  const Json found = served.search("unique3");
  CHECK(found["mode_used"] == "lexical");
  CHECK(found["warnings"] == Json::array({"embeddings_unavailable"}));
  CHECK(server.requests().size() == 2);
}

TEST_CASE("a server that has another model by the same name now is noticed by its vectors",
          "[actors][A70][R20][G24][G25][slow]") {
  const TempFolder folder;
  write_remote_notes(folder, 3);
  VendorServer server("openai");
  {
    const RemoteVault served(server, folder);
    REQUIRE(served.becomes("ready"));
  }
  for (int i = 0; i < 2; ++i) server.plan(vectors_of_size(5));
  const RemoteVault served(server, folder);
  REQUIRE(served.becomes("ready"));  // nothing says otherwise yet

  const Json found = served.search("unique1");
  CHECK(found["mode_used"] == "lexical");
  CHECK(found["warnings"] == Json::array({"embeddings_unavailable", "embedding_model_changed"}));
  CHECK(served.status()["state"] == "other_model");
  const auto job = served.vault.run_job("vault_embed", {{"reset", true}});
  REQUIRE_FALSE(job.empty());
  CHECK(served.status()["state"] == "ready");
  CHECK(served.status()["dim"] == 5);
  const Json progress = served.vault.ask("job_get", {{"id", job}})["job"]["progress"];
  CHECK(progress["done"] == 3);
  CHECK(progress["total"] == 3);
  CHECK(progress["unit"] == "chunks");
}

TEST_CASE("a start with another model asks the new one for nothing until somebody says so",
          "[actors][A70][R20][slow]") {
  const TempFolder folder;
  write_remote_notes(folder, 3);
  VendorServer server("openai");
  {
    const RemoteVault served(server, folder);
    REQUIRE(served.becomes("ready"));
  }
  const auto before = server.requests().size();
  const RemoteVault served(server, folder,
                           [](AiConfig& ai) { ai.embeddings_model = "text-embedding-3-large"; });
  folder.write("n/new.md", "one more\n");
  REQUIRE(comes_true([&] { return served.search("more", "lexical")["results"].size() == 1; }));

  CHECK(served.status()["state"] == "other_model");
  CHECK(served.search("more")["mode_used"] == "lexical");
  const auto refused = served.vault.call("vault_embed", Json::object());
  REQUIRE_FALSE(refused.result.has_value());
  CHECK(refused.result.error().reason == Reason::Conflict);
  CHECK(refused.result.error().details["index_model"] == "openai/text-embedding-3-small");
  CHECK(server.requests().size() == before);
}

TEST_CASE("a scope of a query finds by meaning where there are vectors, and by words elsewhere",
          "[actors][C12][D5][D6][D30][D64][slow]") {
  const TempFolder folder;
  folder.write("garage.md", "# Garage\n\nThe car is here.\n");
  folder.write("food.md", "Bread and butter.\n");
  EngineOptions options;
  options.embedder = std::make_shared<WordEmbedder>(
      "words-1", std::map<std::string, std::string>{{"automobile", "car"}});
  const auto with_rules = [](Config& config) { config.ai.provider = "builtin"; };
  const auto scope_of = [](const std::string& q, const std::string& mode) {
    Json scope{{"kind", "query"}, {"q", q}, {"limit", 1}};
    if (!mode.empty()) scope["mode"] = mode;
    return Json{{"scope", scope}};
  };
  const Json no_vectors = Json::array({"embeddings_unavailable"});
  using Paths = std::vector<std::string>;
  const auto tagged = [&](const ServedVault& vault, const Json& input, const Json& warnings) {
    const Json answer = vault.ask("ai_tag", input);
    INFO(answer.dump());
    CHECK(answer["warnings"].is_array());
    for (const auto& warning : warnings)
      CHECK(answer["warnings"].dump().find(warning.get<std::string>()) != std::string::npos);
    if (warnings.empty()) CHECK(answer["warnings"].dump().find("embeddings_") == std::string::npos);
    return answer["scope_resolved"]["paths"].get<Paths>();
  };
  {
    const ServedVault vault(folder, with_rules, make_registry(), options);
    REQUIRE(comes_true([&] {
      return vault.ask("vault_status", Json::object())["embeddings"]["state"] == "ready";
    }));
    CHECK(tagged(vault, scope_of("automobile", ""), Json::array()) == Paths{"garage.md"});
    CHECK(tagged(vault, scope_of("automobile", "semantic"), Json::array()) == Paths{"garage.md"});
    CHECK(tagged(vault, scope_of("automobile", "lexical"), Json::array()).empty());
  }
  const ServedVault vault(folder, with_rules);
  REQUIRE(comes_true([&] {
    return vault.ask("vault_search", {{"q", "butter"}})["results"].size() == 1;
  }));
  CHECK(tagged(vault, scope_of("automobile", ""), no_vectors).empty());
  CHECK(tagged(vault, scope_of("car", ""), no_vectors) == Paths{"garage.md"});
  const Json named{{"scope", {{"kind", "paths"}, {"paths", {"food.md"}}}}};
  CHECK(tagged(vault, named, Json::array()) == Paths{"food.md"});
}

}  // namespace indx
