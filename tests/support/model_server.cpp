#include "tests/support/model_server.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "tests/support/raw_server.hpp"

#include <algorithm>
#include <cctype>
#include <sys/socket.h>
#include <unistd.h>

namespace indx {
namespace {

constexpr std::size_t kLongWord = 6;
constexpr std::size_t kHugeBytes = 50U << 20U;

/// The note inside the data section of the tagging prompt (`<<<NOTE id` … `NOTE id>>>`), else the
/// whole text.
std::string note_of(const std::string& prompt) {
  const auto begin = prompt.find("<<<NOTE ");
  const auto line_end = begin == prompt.npos ? prompt.npos : prompt.find('\n', begin);
  if (line_end == prompt.npos) return prompt;
  const auto end =
      prompt.find(cat("\nNOTE ", prompt.substr(begin + 8, line_end - begin - 8), ">>>"), line_end);
  return end == prompt.npos ? prompt
                            : prompt.substr(line_end + 1, end == line_end ? 0 : end - line_end - 1);
}

std::string content_of(const Json& request) {
  const auto& messages = request.contains("messages") ? request["messages"] : Json::array();
  return messages.empty() ? std::string() : messages.back().value("content", "");
}

struct LongWord {
  std::string word, line;
  int count = 0;
};

/// The most frequent long ASCII words, ties in order of first use.
std::vector<LongWord> frequent_words(const std::string& note) {
  std::vector<LongWord> words;
  for (const auto& line : split(note, '\n')) {
    std::string word;
    for (std::size_t i = 0; i <= line.size(); ++i) {
      const auto byte = i < line.size() ? static_cast<unsigned char>(line[i]) : 0;
      if (byte < 128 && std::isalpha(byte) != 0) {
        word += static_cast<char>(std::tolower(byte));
        continue;
      }
      if (word.size() >= kLongWord) {
        const auto it = std::find_if(words.begin(), words.end(),
                                     [&](const LongWord& w) { return w.word == word; });
        if (it != words.end())
          ++it->count;
        else
          words.push_back({word, std::string(prefix_at_grapheme(trim(line), 120)), 1});
      }
      word.clear();
    }
  }
  std::stable_sort(words.begin(), words.end(),
                   [](const LongWord& a, const LongWord& b) { return a.count > b.count; });
  words.resize(std::min<std::size_t>(words.size(), 2));
  return words;
}

/// The tags that the schema allows, empty: any.
std::vector<std::string> allowed_tags(const Json& request) {
  const auto pointer = Json::json_pointer(
      "/response_format/json_schema/schema/properties/tags/items/properties/tag/enum");
  return request.contains(pointer) ? request[pointer].get<std::vector<std::string>>()
                                   : std::vector<std::string>();
}

Json tags_for(const Json& request, const std::string& note) {
  Json tags = Json::array();
  const auto add = [&](const std::string& tag, const std::string& quote, double confidence) {
    tags.push_back({{"tag", tag},
                    {"confidence", confidence},
                    {"rationale", "The note says " + tag + "."},
                    {"quotes", {quote}}});
  };
  const auto allowed = allowed_tags(request);
  if (allowed.empty())
    for (const auto& word : frequent_words(note))
      add(word.word, word.line, word.count > 1 ? 0.9 : 0.8);
  for (const auto& tag : allowed)
    for (const auto& line : split(note, '\n'))
      if (line.find(tag) != line.npos) {
        add(tag, std::string(prefix_at_grapheme(trim(line), 120)), 0.9);
        break;
      }
  return {{"tags", tags}};
}

std::string http_answer(int status, const std::string& body, const std::string& headers = "") {
  return cat("HTTP/1.1 ", status,
             " Scripted\r\nContent-Type: application/json\r\nConnection: close\r\n", headers,
             "Content-Length: ", body.size(), "\r\n\r\n", body);
}

Json completion(const Json& request, const std::string& text, const std::string& finish,
                const Json& refusal = Json()) {
  const Json message{{"role", "assistant"}, {"content", text}, {"refusal", refusal}};
  return {{"id", "chatcmpl-1"},
          {"object", "chat.completion"},
          {"model", request.value("model", "")},
          {"choices", {{{"index", 0}, {"message", message}, {"finish_reason", finish}}}},
          {"usage",
           {{"prompt_tokens", content_of(request).size() / 4 + 1},
            {"completion_tokens", text.size() / 4 + 1}}}};
}

/// What goes over the wire, and the usage that it tells.
struct PlayedAnswer {
  std::string bytes;
  Json usage = Json::object();
};

PlayedAnswer played_answer(const Json& plan, const Json& request, std::string text) {
  const auto fault = plan.value("fault", "");
  if (fault == "status") {
    const auto retry = plan.contains("retry_after")
                           ? cat("Retry-After: ", plan.value("retry_after", ""), "\r\n")
                           : "";
    const Json error{{"message", plan.value("message", "Scripted failure.")},
                     {"code", plan.value("code", "scripted")}};
    return {.bytes = http_answer(plan.value("status", 500), Json{{"error", error}}.dump(), retry)};
  }
  if (fault == "disconnect") return {};
  if (fault == "broken_json") return {.bytes = http_answer(200, "{\"choices\": [")};
  if (fault == "huge")
    return {.bytes = http_answer(200, std::string(plan.value("bytes", kHugeBytes), ' '))};
  std::string finish = "stop";
  Json refusal;
  if (fault == "broken_content") text = "{\"tags\": [";
  if (fault == "schema_break") text = R"({"tags": [{"tag": 7}]})";
  if (fault == "refusal") text.clear(), refusal = "I cannot help with that.";
  if (fault == "length") text.resize(text.size() / 2), finish = "length";
  if (fault == "content_filter") text.clear(), finish = "content_filter";
  const auto whole = completion(request, text, finish, refusal);
  auto bytes = http_answer(200, whole.dump(-1, ' ', false, Json::error_handler_t::replace));
  if (fault != "disconnect_mid_body") return {std::move(bytes), whole["usage"]};
  bytes.resize(bytes.size() - 20);
  return {.bytes = std::move(bytes)};
}

/// What the n-th call about a text comes to.
Json plan_by_chance(const Flakiness& flakiness, const std::string& content, int count) {
  const auto digest = sha256_hex(cat(flakiness.seed, ' ', content, ' ', count));
  const auto chance = static_cast<int>(std::stoul(digest.substr(0, 8), nullptr, 16) % 100);
  int below = flakiness.status_500;
  if (chance < below) return {{"fault", "status"}, {"status", 500}};
  below += flakiness.status_429;
  if (chance < below) return {{"fault", "status"}, {"status", 429}, {"retry_after", "0.2"}};
  below += flakiness.hang;
  if (chance < below) return {{"fault", "hang"}};
  below += flakiness.broken_content;
  if (chance < below) return {{"fault", "broken_content"}};
  return Json::object();
}

std::string vectors_answer(const std::string& body) {
  constexpr std::size_t kPlaces = 16;
  const auto request = Json::parse(body, nullptr, false);
  if (!request.is_object() || !request.contains("input") || !request["input"].is_array())
    return http_answer(400, R"({"error":{"message":"input[] is missing."}})");
  Json data = Json::array();
  std::size_t bytes = 0;
  for (const auto& input : request["input"]) {
    const auto text = input.get<std::string>();
    bytes += text.size();
    std::vector<double> vector(kPlaces, 0.1);
    for (const auto& word : split(replace_all(to_lower(text), "\n", " "), ' '))
      if (!word.empty()) vector[std::stoul(sha256_hex(word).substr(0, 4), nullptr, 16) % kPlaces]++;
    data.push_back({{"object", "embedding"}, {"index", data.size()}, {"embedding", vector}});
  }
  return http_answer(200, Json{{"object", "list"},
                               {"data", data},
                               {"model", request.value("model", "")},
                               {"usage", {{"prompt_tokens", bytes / 4 + 1}}}}
                              .dump());
}

}  // namespace

ModelServer::ModelServer(int port, milliseconds delay)
    : port_(port), listener_(listen_on_loopback(&port_)), delay_(delay) {
  acceptor_ = std::thread([this] {
    for (;;) {
      const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) return;
      const std::scoped_lock lock(mutex_);
      sockets_.insert(socket);
      std::thread([this, socket] { serve(socket); }).detach();  // counted in sockets_
    }
  });
}

ModelServer::~ModelServer() {
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  {
    std::unique_lock lock(mutex_);
    for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
    all_closed_.wait(lock, [this] { return sockets_.empty(); });
  }
  ::close(listener_);
}

std::string ModelServer::base_url() const { return cat("http://127.0.0.1:", port_, "/v1"); }

void ModelServer::script(const Json& response) {
  const std::scoped_lock lock(mutex_);
  script_.push_back(response);
}

Json ModelServer::counts() const {
  const std::scoped_lock lock(mutex_);
  return {{"calls", calls_}, {"by_content", by_content_}};
}

Json ModelServer::answers() const {
  const std::scoped_lock lock(mutex_);
  return answers_;
}

void ModelServer::be_flaky(const Flakiness& flakiness) {
  const std::scoped_lock lock(mutex_);
  flakiness_ = flakiness;
}

Json ModelServer::requests() const {
  const std::scoped_lock lock(mutex_);
  return requests_;
}

std::string ModelServer::last_head() const {
  const std::scoped_lock lock(mutex_);
  return last_head_;
}

void ModelServer::serve(int socket) {
  RawConnection connection(socket);
  const auto request = connection.read_request();
  if (const auto end = request.find("\r\n\r\n"); end != request.npos)
    connection.send(answer(socket, request.substr(0, end), request.substr(end + 4)));
  const std::scoped_lock lock(mutex_);
  sockets_.erase(socket);
  ::close(socket);
  all_closed_.notify_all();  // under the lock: afterwards the server may be gone
}

std::string ModelServer::answer(int socket, const std::string& head, const std::string& body) {
  const auto line = head.substr(0, head.find('\r'));
  if (line.starts_with("GET /count ")) return http_answer(200, counts().dump());
  if (line.starts_with("GET /requests ")) return http_answer(200, requests().dump());
  if (line.starts_with("POST /reset ")) {
    const std::scoped_lock lock(mutex_);
    script_.clear(), by_content_.clear(), calls_ = 0, requests_ = answers_ = Json::array();
    return http_answer(200, "{}");
  }
  if (line.starts_with("POST /script ")) {
    const auto json = Json::parse(body, nullptr, false);
    if (!json.is_object() || !json.contains("responses"))
      return http_answer(400, R"({"error":"responses[] is missing"})");
    for (const auto& response : json["responses"]) script(response);
    return http_answer(200, "{}");
  }
  if (line.starts_with("POST ") && line.find("/embeddings ") != line.npos)
    return vectors_answer(body);
  if (line.find("/chat/completions ") == line.npos || !line.starts_with("POST "))
    return http_answer(404, "{}");
  {
    const std::scoped_lock lock(mutex_);
    last_head_ = head;
  }
  return complete(socket, body);
}

/// The next scripted response that fits: `if_contains` waits for a call with that text, `if_schema`
/// for one that wants that form; `times` repeats it.
Json ModelServer::next_script(const std::string& content, const std::string& schema) {
  for (auto it = script_.begin(); it != script_.end(); ++it) {
    if (content.find(it->value("if_contains", "")) == content.npos) continue;
    if (it->value("if_schema", schema) != schema) continue;
    auto response = *it;
    const int times = it->value("times", 1);
    if (times > 1)
      (*it)["times"] = times - 1;
    else
      script_.erase(it);
    return response;
  }
  return Json::object();
}

std::string ModelServer::complete(int socket, const std::string& body) {
  const auto request = Json::parse(body, nullptr, false);
  if (!request.is_object())
    return http_answer(400, R"({"error":{"message":"The body is not JSON."}})");
  const auto content = content_of(request), note = note_of(content), hash = sha256_hex(note);
  const Json::json_pointer schema_name("/response_format/json_schema/name");
  Json plan;
  {
    const std::scoped_lock lock(mutex_);
    ++calls_;
    const int count = ++by_content_[hash];
    requests_.push_back(request);
    plan = next_script(content, request.value(schema_name, ""));
    if (plan.empty() && flakiness_) plan = plan_by_chance(*flakiness_, hash, count);
  }
  const milliseconds delay(plan.value("delay_ms", delay_.count()));
  if (delay.count() > 0) std::this_thread::sleep_for(delay);  // plays a slow model

  const auto fault = plan.value("fault", "");
  auto text = request.contains("response_format") ? tags_for(request, note).dump() : content;
  if (plan.contains("reply"))
    text = plan["reply"].is_string() ? plan["reply"].get<std::string>() : plan["reply"].dump();
  const auto played = fault == "hang" ? PlayedAnswer() : played_answer(plan, request, text);
  {
    const std::scoped_lock lock(mutex_);
    answers_.push_back({{"content", hash},
                        {"text", note},
                        {"outcome", fault.empty() ? "ok" : fault},
                        {"input_tokens", played.usage.value("prompt_tokens", 0)},
                        {"output_tokens", played.usage.value("completion_tokens", 0)}});
  }
  if (fault == "hang") RawConnection(socket).wait_for_close();
  return played.bytes;
}

}  // namespace indx
