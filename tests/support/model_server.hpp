#pragma once
#include "base/clock.hpp"
#include "base/json.hpp"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

namespace indx {

/// How many of a hundred calls go wrong, each in one way. What becomes of the n-th call about a
/// text follows from seed, text and n alone, in whatever order calls come.
struct Flakiness {
  std::uint64_t seed = 1;
  int status_500 = 0, status_429 = 0, hang = 0, broken_content = 0;
};

/// A model server on loopback in the OpenAI-compatible format. It answers the tagging prompt with
/// the two most frequent long words of the note, each with the line that holds it; other prompts
/// with their last message. Vectors of texts count their words in 16 places.
///
///   POST …/embeddings        {"input": [text…]}
///   POST …/chat/completions  the call
///   GET  /count              {"calls": n, "by_content": {sha256 of the note text (or last
///   message): n}} GET  /requests           bodies of the calls, oldest first POST /script
///   {"responses": [{"fault": …}]}: one for each next call, with fault status (status, retry_after,
///                            message, code) | hang | disconnect | disconnect_mid_body |
///                            broken_json | broken_content | schema_break | huge (bytes) | refusal
///                            | length | content_filter, or `reply` (text or JSON); with any:
///                            delay_ms, times, if_contains, if_schema (its name)
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
  /// For all calls that no script is for.
  void be_flaky(const Flakiness& flakiness);
  Json counts() const;
  /// What became of each call, in the order of the answers: {content: as in by_content, text: of
  /// it, outcome: ok or the fault, input_tokens, output_tokens: as the answer tells, 0 when it
  /// tells none}.
  Json answers() const;
  Json requests() const;
  std::string last_head() const;  ///< request line and headers of the last call

 private:
  void serve(int socket);
  std::string answer(int socket, const std::string& head, const std::string& body);
  std::string complete(int socket, const std::string& body);
  Json next_script(const std::string& content, const std::string& schema);

  int port_ = 0;  // before listener_, whose making sets it
  int listener_ = -1;
  milliseconds delay_;
  mutable std::mutex mutex_;
  std::deque<Json> script_;
  std::map<std::string, int> by_content_;
  int calls_ = 0;
  std::optional<Flakiness> flakiness_;
  Json requests_ = Json::array(), answers_ = Json::array();
  std::string last_head_;
  std::set<int> sockets_;  ///< open connections, each with a thread
  std::condition_variable all_closed_;
  std::thread acceptor_;
};

}  // namespace indx
