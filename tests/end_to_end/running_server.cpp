#include "tests/end_to_end/running_server.hpp"

#include "base/http_client.hpp"
#include "base/text.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

namespace indx {

ProcessSpec indx_spec(const std::vector<std::string>& args,
                      const std::map<std::string, std::string>& env) {
  ProcessSpec spec;
  spec.program = INDX_PROGRAM;
  spec.args = args;
  spec.env = env;
  spec.env.try_emplace("INDX_DURABILITY", "off");
  return spec;
}

Finished run_indx(const std::vector<std::string>& args,
                  const std::map<std::string, std::string>& env, const std::string& input) {
  auto spec = indx_spec(args, env);
  spec.input = input;
  return run_process(spec, std::chrono::seconds(60));
}

void fill_vault(const TempFolder& vault) {
  vault.write("Plan.md",
              "---\ntags: [work]\n---\n# Plan\n\nThe quarterly plan mentions [[Budget]].\n");
  vault.write("Budget.md", "# Budget\n\nMoney for the quarter. #finance\n");
  vault.write("Daily/2026-11-28.md", "# Saturday\n\nBought bread.\n");
}

bool wait_until(const std::function<bool()>& condition, std::chrono::milliseconds longest) {
  const auto deadline = std::chrono::steady_clock::now() + longest;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

std::map<std::string, std::string> vault_files(const TempFolder& vault) {
  namespace fs = std::filesystem;
  std::map<std::string, std::string> files;
  for (auto it = fs::recursive_directory_iterator(vault.path());
       it != fs::recursive_directory_iterator(); ++it) {
    const auto name = fs::relative(it->path(), vault.path()).string();
    if (name == ".indx")
      it.disable_recursion_pending();
    else
      files[name] = it->is_regular_file() ? vault.read(name) : "a folder";
  }
  return files;
}

std::vector<Json> audit_lines(const TempFolder& vault) {
  std::vector<Json> lines;
  for (const auto& line : split(vault.read(".indx/events.log"), '\n')) {
    if (line.empty()) continue;
    lines.push_back(Json::parse(line, nullptr, false));
    CHECK(lines.back().is_object());
  }
  return lines;
}

RunningServer::RunningServer(const TempFolder& vault, const std::vector<std::string>& args,
                             const std::map<std::string, std::string>& env) {
  std::vector<std::string> all = {"serve", "--vault", vault.path(), "--port", "0"};
  all.insert(all.end(), args.begin(), args.end());
  process_ = std::make_unique<Process>(indx_spec(all, env));
  INFO(process_->err());
  REQUIRE(process_->wait_for_out("Ctrl-C", std::chrono::seconds(60)));
  const auto banner = process_->out();
  const auto at = banner.find("address  http://");
  if (at != banner.npos) url_ = banner.substr(at + 9, banner.find('\n', at) - at - 9);
  const auto index = env.find("INDX_INDEX_DIR");
  std::ifstream token(index == env.end() ? vault.path() + "/.indx/token"
                                         : index->second + "/token");
  token >> token_;
  if (url_.empty()) return;
  for (int attempt = 0; attempt < 600; ++attempt) {
    const auto status = call("GET", "/v1/vault/status");
    if (status.status == 200 && status.body["data"]["indexing"].value("state", "") == "idle")
      return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  FAIL("the index did not come to rest");
}

RunningServer::Reply RunningServer::call(
    const std::string& method, const std::string& target, const Json& body,
    std::vector<std::pair<std::string, std::string>> headers) const {
  return call_as(token_, method, target, body, std::move(headers));
}

RunningServer::Reply RunningServer::call_as(
    const std::string& token, const std::string& method, const std::string& target,
    const Json& body, std::vector<std::pair<std::string, std::string>> headers) const {
  HttpClientRequest request;
  request.method = method;
  request.url = url_ + target;
  request.headers = std::move(headers);
  request.headers.emplace_back("Authorization", "Bearer " + token);
  if (!body.is_null()) {
    request.headers.emplace_back("Content-Type", "application/json");
    request.body = body.dump();
  }
  const auto response = http_exchange(request, {});
  if (!response) return {};
  return {response->status, Json::parse(response->body, nullptr, false), response->headers};
}

Json RunningServer::make_token(const std::vector<std::string>& scopes,
                               const std::vector<std::string>& globs) const {
  Json input{{"name", "test"}, {"scopes", scopes}};
  if (!globs.empty()) input["path_globs"] = globs;
  const auto made = call("POST", "/v1/tokens", input);
  REQUIRE(made.status == 201);
  return made.body["data"];
}

std::string RunningServer::start_job(const std::string& target, const Json& body) const {
  const auto started = call("POST", target, body, {{"Prefer", "respond-async"}});
  INFO(started.body.dump());
  REQUIRE(started.status == 202);
  return started.body["data"]["job"]["id"].get<std::string>();
}

Json RunningServer::job(const std::string& id) const {
  const auto found = call("GET", "/v1/jobs/" + id);
  return found.status == 200 ? found.body["data"]["job"] : Json::object();
}

Json RunningServer::wait_for_job(const std::string& id, std::chrono::milliseconds longest) const {
  Json record;
  const bool ended = wait_until(
      [&] {
        record = job(id);
        return record.contains("finished_at") && !record["finished_at"].is_null();
      },
      longest);
  INFO(record.dump());
  CHECK(ended);
  return record;
}

void RunningServer::kill() {
  process_->signal(SIGKILL);
  CHECK(process_->wait() == 128 + SIGKILL);
}

int RunningServer::stop() {
  process_->signal(SIGTERM);
  return process_->wait().value_or(-1);
}

std::vector<EventFeed::Frame> parse_frames(const std::string& text) {
  std::vector<EventFeed::Frame> frames;
  for (std::size_t begin = 0, end = text.find("\n\n"); end != text.npos;
       begin = end + 2, end = text.find("\n\n", begin)) {
    EventFeed::Frame frame;
    for (const auto& line : split(text.substr(begin, end - begin), '\n')) {
      if (line.starts_with("id: ")) frame.id = line.substr(4);
      if (line.starts_with("event: ")) frame.event = line.substr(7);
      if (line.starts_with("data: ")) frame.data = Json::parse(line.substr(6), nullptr, false);
    }
    if (!frame.event.empty()) frames.push_back(std::move(frame));
  }
  return frames;
}

EventFeed::EventFeed(const RunningServer& server, const std::string& query,
                     const std::string& last_id, const std::string& token) {
  HttpClientRequest request;
  request.url = server.url() + "/v1/events" + query;
  request.timeout = std::chrono::milliseconds(0);
  request.headers = {{"Authorization", "Bearer " + (token.empty() ? server.token() : token)},
                     {"Accept", "text/event-stream"}};
  if (!last_id.empty()) request.headers.emplace_back("Last-Event-ID", last_id);
  reader_ = std::jthread([this, request] {
    static_cast<void>(http_stream(request, cancel_, [this](std::string_view piece) {
      const std::scoped_lock lock(mutex_);
      text_ += piece;
      return true;
    }));
  });
  const bool is_open = wait_until([this] {
    const std::scoped_lock lock(mutex_);
    return text_.find("retry:") != text_.npos;
  });
  CHECK(is_open);
}

EventFeed::~EventFeed() { cancel_.cancel(CancelReason::Requested); }

std::vector<EventFeed::Frame> EventFeed::frames() const {
  const std::scoped_lock lock(mutex_);
  return parse_frames(text_);
}

bool EventFeed::wait_for(const std::function<bool(const Frame&)>& fits,
                         std::chrono::milliseconds longest) const {
  return wait_until(
      [&] {
        const auto all = frames();
        return std::any_of(all.begin(), all.end(), fits);
      },
      longest);
}

bool EventFeed::wait_for(const std::string& kind, const std::string& path) const {
  return wait_for([&](const Frame& frame) {
    return frame.event == kind && frame.data.value("path", "") == path;
  });
}

}  // namespace indx
