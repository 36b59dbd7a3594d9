#include "tests/end_to_end/running_server.hpp"

#include <catch2/catch.hpp>

#include "base/http_client.hpp"
#include "base/text.hpp"

namespace indx {

ProcessSpec indx_spec(const std::vector<std::string>& args, const std::map<std::string, std::string>& env) {
  ProcessSpec spec;
  spec.program = INDX_PROGRAM;
  spec.args = args;
  spec.env = env;
  spec.env.try_emplace("INDX_DURABILITY", "off");
  return spec;
}

Finished run_indx(const std::vector<std::string>& args, const std::map<std::string, std::string>& env, const std::string& input) {
  auto spec = indx_spec(args, env);
  spec.input = input;
  return run_process(spec, std::chrono::seconds(60));
}

void fill_vault(const TempFolder& vault) {
  vault.write("Plan.md", "---\ntags: [work]\n---\n# Plan\n\nThe quarterly plan mentions [[Budget]].\n");
  vault.write("Budget.md", "# Budget\n\nMoney for the quarter. #finance\n");
  vault.write("Daily/2026-11-28.md", "# Saturday\n\nBought bread.\n");
}

RunningServer::RunningServer(const TempFolder& vault, const std::vector<std::string>& args, const std::map<std::string, std::string>& env) {
  std::vector<std::string> all = {"serve", "--vault", vault.path(), "--port", "0"};
  all.insert(all.end(), args.begin(), args.end());
  process_ = std::make_unique<Process>(indx_spec(all, env));
  INFO(process_->err());
  REQUIRE(process_->wait_for_out("Ctrl-C", std::chrono::seconds(60)));
  const auto banner = process_->out();
  const auto at = banner.find("address  http://");
  if (at != banner.npos) url_ = banner.substr(at + 9, banner.find('\n', at) - at - 9);
  token_ = std::string(trim(vault.read(".indx/token")));
  if (url_.empty()) return;
  for (int attempt = 0; attempt < 600; ++attempt) {
    const auto status = call("GET", "/v1/vault/status");
    if (status.status == 200 && status.body["data"]["indexing"].value("state", "") == "idle") return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  FAIL("the index did not come to rest");
}

RunningServer::Reply RunningServer::call(const std::string& method, const std::string& target, const Json& body,
                                         std::vector<std::pair<std::string, std::string>> headers) const {
  HttpClientRequest request;
  request.method = method;
  request.url = url_ + target;
  request.headers = std::move(headers);
  request.headers.emplace_back("Authorization", "Bearer " + token_);
  if (!body.is_null()) {
    request.headers.emplace_back("Content-Type", "application/json");
    request.body = body.dump();
  }
  const auto response = http_exchange(request, {});
  if (!response) return {};
  return {response->status, Json::parse(response->body, nullptr, false), response->headers};
}

}  // namespace indx
