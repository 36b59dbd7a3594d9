#pragma once
#include "base/clock.hpp"
#include "base/json.hpp"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>

namespace indx {

/// A model server on loopback in the OpenAI-compatible format. It answers the tagging prompt with
/// the two most frequent long words of the note, each with the line that holds it; other prompts
/// with their last message.
///
///   POST …/chat/completions  the call
///   GET  /count              {"calls": n, "by_content": {sha256 of the note text (or last
///   message): n}} GET  /requests           bodies of the calls, oldest first POST /script
///   {"responses": [{"fault": …}]}: one for each next call, with fault status (status, retry_after,
///                            message, code) | hang | disconnect | disconnect_mid_body |
///                            broken_json | broken_content | schema_break | huge (bytes) | refusal
///                            | length | content_filter, or `reply` (text or JSON); with any:
///                            delay_ms, times, if_contains
///   POST /reset              forgets counts, requests and script
class ModelServer {
 public:
  explicit ModelServer(int port = 0, milliseconds delay = milliseconds(0));
  ~ModelServer();
  ModelServer(const ModelServer&) = delete;
  ModelServer& operator=(const ModelServer&) = delete;

  int port() const { return port_; }
  std::string base_url() const;  ///< http://127.0.0.1:<port>/v1
  void script(const Json& response);
  Json counts() const;
  Json requests() const;
  std::string last_head() const;  ///< request line and headers of the last call

 private:
  void serve(int socket);
  std::string answer(int socket, const std::string& head, const std::string& body);
  std::string complete(int socket, const std::string& body);
  Json next_script(const std::string& content);

  int port_ = 0;  // before listener_, whose making sets it
  int listener_ = -1;
  milliseconds delay_;
  mutable std::mutex mutex_;
  std::deque<Json> script_;
  std::map<std::string, int> by_content_;
  int calls_ = 0;
  Json requests_ = Json::array();
  std::string last_head_;
  std::set<int> sockets_;  ///< open connections, each with a thread
  std::condition_variable all_closed_;
  std::thread acceptor_;
};

}  // namespace indx
