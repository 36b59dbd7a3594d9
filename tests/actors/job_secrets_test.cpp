#include "base/log.hpp"
#include "base/text.hpp"
#include "ops/define.hpp"
#include "ops/openapi.hpp"
#include "tests/actors/engine_fixture.hpp"
#include "tests/support/stderr_text.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>

namespace indx {
namespace {

struct SecretInput {
  std::string name, api_key;
  bool fails = false;
};
struct SecretOutput {
  std::size_t length = 0;
  std::string said;
};

/// Says of the secret what nobody may hear, and tells the test what it got.
Result<SecretOutput> use_secret(Context& ctx, const SecretInput& in, std::string& seen) {
  seen = in.api_key;
  ctx.progress({.done = 1, .total = 1, .phase = "use"});
  if (in.fails)
    return make_error(Reason::ParseFailed, cat("The key ", in.api_key, " does not work."),
                      Json{{"key", in.api_key}});
  return SecretOutput{in.api_key.size(), cat("used ", in.api_key)};
}

Registry with_secret_operation(const std::shared_ptr<std::string>& seen) {
  auto operations = make_registry().all();
  operations.push_back(define<SecretInput, SecretOutput>(
      {.name = "test_secret",
       .summary = "Use a secret.",
       .scopes = {Scope::VaultWrite},
       .route = {"POST", "/v1/test/secret"},
       .execution = Execution::Job,
       .effect = Effect::Writes,
       .input = {field("name", &SecretInput::name, "Anything."),
                 field("api_key", &SecretInput::api_key, "The secret.", secret, length(8, 100)),
                 field("fails", &SecretInput::fails, "Whether it fails.", optional)},
       .output = {field("length", &SecretOutput::length, "Of the secret."),
                  field("said", &SecretOutput::said, "What it said.")},
       .handler = [seen](Context& ctx, const SecretInput& in) {
         return use_secret(ctx, in, *seen);
       }}));
  return Registry(std::move(operations));
}

constexpr const char* kSecretKey = "sk-test-5577006791947779410";

/// The log of all that is worth one, until it goes.
struct DebugLog : StderrText {
  DebugLog() { configure_log(LogLevel::Debug, LogFormat::Text); }
  ~DebugLog() { configure_log(LogLevel::Info, LogFormat::Text); }
  DebugLog(const DebugLog&) = delete;
  DebugLog& operator=(const DebugLog&) = delete;
};

/// Names of the files below the folder that hold the secret.
std::vector<std::string> files_with_secret(const TempFolder& folder) {
  namespace fs = std::filesystem;
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (bytes.find(kSecretKey) != std::string::npos) found.push_back(entry.path().filename());
  }
  return found;
}

}  // namespace

TEST_CASE("a secret argument reaches the handler and nothing else", "[actors][jobs-65]") {
  const TempFolder folder;
  folder.write("a.md", "# A\n");
  const DebugLog log;
  const auto seen = std::make_shared<std::string>();  // shared: with the handler
  const ServedVault served(
      folder, [](Config&) {}, with_secret_operation(seen));
  std::mutex mutex;
  std::string heard;
  const auto subscription = served.dispatcher->subscribe({}, std::nullopt, [&](const Event& event) {
    const std::scoped_lock lock(mutex);
    heard += event.kind + event.data.dump();
    return true;
  });
  REQUIRE(subscription);

  const auto accepted = served.call("test_secret", {{"name", "n"}, {"api_key", kSecretKey}}, true);
  REQUIRE(accepted.result);
  REQUIRE(comes_true([&] { return served.state_of(accepted.job_id) == "succeeded"; }));
  CHECK(*seen == kSecretKey);
  const auto failed =
      served.call("test_secret", {{"name", "n"}, {"api_key", kSecretKey}, {"fails", true}}, true);
  REQUIRE(comes_true([&] { return served.state_of(failed.job_id) == "failed"; }));

  const auto record = served.ask("job_get", {{"id", accepted.job_id}});
  CHECK(record["job"]["result"]["length"] == std::string(kSecretKey).size());
  CHECK(record["job"]["result"]["said"] == "used ***");
  const auto bad = served.ask("job_get", {{"id", failed.job_id}});
  CHECK(bad["job"]["error"]["message"] == "The key *** does not work.");
  for (const auto& shown : {*accepted.result, record, bad, served.ask("job_list", Json::object())})
    CHECK(shown.dump().find(kSecretKey) == std::string::npos);
  served.engine->stop();
  {
    const std::scoped_lock lock(mutex);
    CHECK(heard.find("job.finished") != std::string::npos);
    CHECK(heard.find(kSecretKey) == std::string::npos);
  }
  CHECK(files_with_secret(folder).empty());  // state.db, its WAL, the audit log
  CHECK(log.text().find("job ended") != std::string::npos);
  CHECK(files_with_secret(log.folder).empty());
  namespace fs = std::filesystem;
  const auto key = fs::status(folder.path() + "/.indx/key").permissions();
  CHECK((key & (fs::perms::group_all | fs::perms::others_all)) == fs::perms::none);
  CHECK(fs::file_size(folder.path() + "/.indx/key") == 32);
}

TEST_CASE("an error about a secret argument does not repeat it", "[actors][jobs-65]") {
  const TempFolder folder;
  const ServedVault served(
      folder, [](Config&) {}, with_secret_operation(std::make_shared<std::string>()));

  const std::string wrong_length = "sk-" + std::string(200, 'x');
  for (const Json& wrong : {Json(wrong_length), Json::array({kSecretKey}), Json(5577006791)}) {
    const auto refused = served.ask("test_secret", {{"name", "n"}, {"api_key", wrong}});
    CHECK(refused["code"] == "validation_failed");
    CHECK(refused["details"]["path"] == "api_key");
    CHECK(refused["details"]["actual"] == "(hidden)");
    CHECK(refused.dump().find("sk-") == std::string::npos);
    CHECK(refused.dump().find("5577006791") == std::string::npos);
  }
}

TEST_CASE("a secret argument is a write-only password in OpenAPI", "[actors][jobs-65]") {
  const auto document = openapi_document(with_secret_operation(nullptr), {true, true});
  const auto& body = document["paths"]["/v1/test/secret"]["post"]["requestBody"];
  const auto& key = body["content"]["application/json"]["schema"]["properties"]["api_key"];
  CHECK(key["format"] == "password");
  CHECK(key["writeOnly"] == true);
  const auto made = document["paths"]["/v1/tokens"]["post"]["responses"].dump();
  CHECK(made.find("writeOnly") == std::string::npos);
}

}  // namespace indx
