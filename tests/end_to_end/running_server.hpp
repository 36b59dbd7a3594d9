#pragma once
#include "base/cancel.hpp"
#include "base/json.hpp"
#include "tests/support/process.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace indx {

/// `indx` with these arguments on a vault; nothing else of the tests' environment.
ProcessSpec indx_spec(const std::vector<std::string>& args,
                      const std::map<std::string, std::string>& env = {});
Finished run_indx(const std::vector<std::string>& args,
                  const std::map<std::string, std::string>& env = {},
                  const std::string& input = "");

/// A vault of three notes.
void fill_vault(const TempFolder& vault);

/// Polls until `condition` holds; false at the deadline.
bool wait_until(const std::function<bool()>& condition,
                std::chrono::milliseconds longest = std::chrono::seconds(20));

/// Bytes of every file below the vault, hidden ones too, without `.indx/`.
std::map<std::string, std::string> vault_files(const TempFolder& vault);
/// The lines of the audit log, each of which must be JSON.
std::vector<Json> audit_lines(const TempFolder& vault);

/// `indx serve` on a port of the system's choice, ready and with its index at rest.
class RunningServer {
 public:
  explicit RunningServer(const TempFolder& vault, const std::vector<std::string>& args = {},
                         const std::map<std::string, std::string>& env = {});
  Process& process() { return *process_; }
  const std::string& url() const { return url_; }
  const std::string& token() const { return token_; }

  struct Reply {
    int status = 0;
    Json body;
    std::map<std::string, std::string> headers;
  };
  Reply call(const std::string& method, const std::string& target, const Json& body = Json(),
             std::vector<std::pair<std::string, std::string>> headers = {}) const;
  Reply call_as(const std::string& token, const std::string& method, const std::string& target,
                const Json& body = Json(),
                std::vector<std::pair<std::string, std::string>> headers = {}) const;
  /// A new token; with its secret as `token` and its name as `id`.
  Json make_token(const std::vector<std::string>& scopes,
                  const std::vector<std::string>& globs = {}) const;
  /// Starts an operation as a job and gives its id.
  std::string start_job(const std::string& target, const Json& body) const;
  Json job(const std::string& id) const;
  /// The record once the job ended; null when it did not in time.
  Json wait_for_job(const std::string& id,
                    std::chrono::milliseconds longest = std::chrono::seconds(30)) const;
  /// SIGKILL, and waits for the end.
  void kill();
  /// SIGTERM; the exit code.
  int stop();

 private:
  std::unique_ptr<Process> process_;
  std::string url_, token_;
};

/// A client of an event stream, reading in a thread of its own. Open when its constructor returns.
class EventFeed {
 public:
  struct Frame {
    std::string id, event;
    Json data;
  };
  explicit EventFeed(const RunningServer& server, const std::string& query = "",
                     const std::string& last_id = "", const std::string& token = "");
  ~EventFeed();
  std::vector<Frame> frames() const;
  /// Waits for a frame that fits; false at the deadline.
  bool wait_for(const std::function<bool(const Frame&)>& fits,
                std::chrono::milliseconds longest = std::chrono::seconds(10)) const;
  /// Waits for an event of this kind about this path.
  bool wait_for(const std::string& kind, const std::string& path) const;

 private:
  mutable std::mutex mutex_;
  std::string text_;
  CancelToken cancel_;
  std::jthread reader_;
};
std::vector<EventFeed::Frame> parse_frames(const std::string& text);

}  // namespace indx
