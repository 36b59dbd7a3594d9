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
    script_.clear(), by_content_.clear(), calls_ = 0, requests_ = Json::array();
    return http_answer(200, "{}");
  }
  if (line.starts_with("POST /script ")) {
    const auto json = Json::parse(body, nullptr, false);
    if (!json.is_object() || !json.contains("responses"))
      return http_answer(400, R"({"error":"responses[] is missing"})");
    for (const auto& response : json["responses"]) script(response);
    return http_answer(200, "{}");
  }
  if (line.find("/chat/completions ") == line.npos || !line.starts_with("POST "))
    return http_answer(404, "{}");
  {
    const std::scoped_lock lock(mutex_);
    last_head_ = head;
  }
  return complete(socket, body);
}

/// The next scripted response that fits: `if_contains` waits for a call with that text; `times`
/// repeats it.
Json ModelServer::next_script(const std::string& content) {
  for (auto it = script_.begin(); it != script_.end(); ++it) {
    if (content.find(it->value("if_contains", "")) == content.npos) continue;
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
  const auto content = content_of(request), note = note_of(content);
  Json plan;
  {
    const std::scoped_lock lock(mutex_);
    ++calls_;
    ++by_content_[sha256_hex(note)];
    requests_.push_back(request);
    plan = next_script(content);
  }
  const milliseconds delay(plan.value("delay_ms", delay_.count()));
  if (delay.count() > 0) std::this_thread::sleep_for(delay);  // plays a slow model

  const auto fault = plan.value("fault", "");
  const bool wants_json = request.contains("response_format");
  auto text = wants_json ? tags_for(request, note).dump() : content;
  if (plan.contains("reply"))
    text = plan["reply"].is_string() ? plan["reply"].get<std::string>() : plan["reply"].dump();
  if (fault == "status") {
    const auto retry = plan.contains("retry_after")
                           ? cat("Retry-After: ", plan.value("retry_after", ""), "\r\n")
                           : "";
    const Json error{{"message", plan.value("message", "Scripted failure.")},
                     {"code", plan.value("code", "scripted")}};
    return http_answer(plan.value("status", 500), Json{{"error", error}}.dump(), retry);
  }
  if (fault == "hang") {
    RawConnection(socket).wait_for_close();
    return "";
  }
  if (fault == "disconnect") return "";
  if (fault == "disconnect_mid_body") {
    const auto whole = http_answer(200, completion(request, text, "stop").dump());
    return whole.substr(0, whole.size() - 20);
  }
  if (fault == "broken_json") return http_answer(200, "{\"choices\": [");
  if (fault == "broken_content") text = "{\"tags\": [";
  if (fault == "schema_break") text = R"({"tags": [{"tag": 7}]})";
  if (fault == "huge") return http_answer(200, std::string(plan.value("bytes", kHugeBytes), ' '));
  if (fault == "refusal")
    return http_answer(200, completion(request, "", "stop", "I cannot help with that.").dump());
  if (fault == "length")
    return http_answer(200, completion(request, text.substr(0, text.size() / 2), "length").dump());
  if (fault == "content_filter")
    return http_answer(200, completion(request, "", "content_filter").dump());
  return http_answer(
      200, completion(request, text, "stop").dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace indx
