#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "tests/support/process.hpp"

namespace indx {

/// `indx` with these arguments on a vault; nothing else of the tests' environment.
ProcessSpec indx_spec(const std::vector<std::string>& args, const std::map<std::string, std::string>& env = {});
Finished run_indx(const std::vector<std::string>& args, const std::map<std::string, std::string>& env = {}, const std::string& input = "");

/// A vault of three notes.
void fill_vault(const TempFolder& vault);

/// `indx serve` on a port of the system's choice, ready and with its index at rest.
class RunningServer {
 public:
  explicit RunningServer(const TempFolder& vault, const std::vector<std::string>& args = {}, const std::map<std::string, std::string>& env = {});
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

 private:
  std::unique_ptr<Process> process_;
  std::string url_, token_;
};

}  // namespace indx
