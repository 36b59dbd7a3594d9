#include "ops/operations.hpp"
#include "tests/support/fake_context.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

TEST_CASE("scopes include those below them, and survive as a job's owner", "[ops][A81]") {
  const Principal writer{"tok_1", Surface::Cli, {Scope::VaultWrite}, {"Public/**"}, "r"};

  CHECK(writer.has(Scope::VaultRead));
  CHECK_FALSE(writer.has(Scope::VaultAdmin));
  const Principal again = to_principal(to_owner(writer));
  CHECK(again.subject == "tok_1");
  CHECK(again.surface == Surface::Cli);
  CHECK(again.scopes == writer.scopes);
  CHECK(again.path_globs == writer.path_globs);
}

TEST_CASE("vault_status counts and shows the resolved root", "[ops][A3][A76]") {
  FakeWorld world;
  world.config.vault_dir = "/vault";
  world.files["a.md"] = "x";

  const Json status = *run_operation(world, vault_status(), Json::object());

  CHECK(status["vault_dir"] == "/vault");
  CHECK(status["counts"]["notes"] == 1);
  CHECK(status["indexing"]["state"] == "idle");
  CHECK(status["ai"]["provider"] == "builtin");
}

TEST_CASE("ai_status answers without a provider too, and calls none", "[ops][C88]") {
  FakeWorld world;

  const Json with = *run_operation(world, ai_status(), Json::object());
  world.is_configured = false;
  const Json without = *run_operation(world, ai_status(), Json::object());

  CHECK(with["enabled"] == true);
  CHECK(with["spend_today_usd"] == 0.5);
  CHECK(with["cache"].contains("hits_24h"));
  CHECK(with["embeddings"].contains("dim"));
  CHECK(without["enabled"] == false);
  CHECK(world.requests.empty());
}

TEST_CASE("vault_reindex is a job of an admin", "[ops][A75]") {
  FakeWorld world;
  const Operation operation = vault_reindex();

  CHECK(operation.execution == Execution::Job);
  CHECK(operation.scopes == std::vector{Scope::VaultAdmin});
  CHECK((*run_operation(world, operation, Json{{"rebuild", true}}))["counts"]["rebuild"] == true);
  CHECK(world.index_emptied == 1);
  CHECK((*run_operation(world, operation,
                        Json{{"paths", {"/a/./b.md", "c/**"}}}))["counts"]["unmatched"] ==
        Json{"a/b.md", "c/**"});
  CHECK(run_operation(world, operation, Json{{"paths", {"../x"}}}).error().reason ==
        Reason::ValidationFailed);
  CHECK(
      run_operation(world, operation, Json{{"paths", {"a"}}, {"reset_db", true}}).error().reason ==
      Reason::ValidationFailed);
}

TEST_CASE("a token shows its secret once, and only an unbound admin makes an unbound one",
          "[ops][A81][A82]") {
  FakeWorld world;
  world.tokens = {Json{{"id", "tok_a"},
                       {"name", "a"},
                       {"scopes", {"vault:read"}},
                       {"path_globs", Json::array()},
                       {"created_at", "2026-01-01T00:00:00.000Z"},
                       {"last_used_at", nullptr},
                       {"revoked_at", nullptr}}};

  const Json made = *run_operation(world, token_create(), Json{{"name", "ci"}});
  CHECK(made["token"] == "indx_secret");
  CHECK(made["scopes"] == Json({"vault:read"}));
  CHECK((*run_operation(world, token_list(), Json::object()))["tokens"][0]["id"] == "tok_a");
  world.principal.path_globs = {"Public/**"};
  CHECK(run_operation(world, token_create(), Json{{"name", "wide"}}).error().reason ==
        Reason::Forbidden);
  CHECK(
      run_operation(world, token_create(), Json{{"name", "same"}, {"path_globs", {"Public/**"}}}));
  CHECK(run_operation(world, token_revoke(), Json{{"id", "tok_live"}}));
  CHECK(run_operation(world, token_revoke(), Json{{"id", "tok_gone"}}).error().reason ==
        Reason::NotFound);
}

TEST_CASE("a caller sees and cancels only jobs of its own, an admin all", "[ops][E9][E11][E13]") {
  FakeWorld world;
  Job mine, other;
  mine.id = {"j1"};
  mine.owner.subject = "tok_me";
  mine.result = Json{{"big", true}};
  other.id = {"j2"};
  other.owner.subject = "tok_you";
  world.jobs = {mine, other};
  const auto count = [&] {
    return (*run_operation(world, job_list(), Json::object()))["jobs"].size();
  };

  CHECK(count() == 2);
  world.principal = {"tok_me", Surface::Api, {Scope::VaultRead}, {}, ""};
  CHECK(count() == 1);
  CHECK((*run_operation(world, job_get(), Json{{"id", "j1"}}))["job"]["result"]["big"] == true);
  CHECK_FALSE((*run_operation(world, job_list(), Json::object()))["jobs"][0].contains("result"));
  CHECK(run_operation(world, job_get(), Json{{"id", "j2"}}).error().reason == Reason::NotFound);
  CHECK(run_operation(world, job_cancel(), Json{{"id", "j2"}}).error().reason == Reason::NotFound);
  CHECK_FALSE(world.jobs[1].cancel_requested);
  CHECK((*run_operation(world, job_cancel(), Json{{"id", "j1"}}))["job"]["cancel_requested"] ==
        true);
}

}  // namespace
}  // namespace indx
