#include "base/text.hpp"
#include "base/unicode.hpp"
#include "mcp/stdio_transport.hpp"
#include "tests/support/mcp_traffic.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <chrono>
#include <cstdlib>
#include <poll.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace indx {
namespace {

/// A client on two pipes that counts what it is owed.
class TrafficClient {
 public:
  explicit TrafficClient(std::uint64_t seed) : maker_(seed) {
    REQUIRE(::pipe(to_server_.data()) == 0);
    REQUIRE(::pipe(from_server_.data()) == 0);
    server_ = std::thread([this] {
      serve_mcp_stdio(dispatcher_,
                      FakeMcpDispatcher::principal("local", {Scope::VaultRead, Scope::VaultWrite}),
                      to_server_[0], from_server_[1], {});
      ::close(from_server_[1]);
    });
    static constexpr std::array<const char*, 4> kVersions = {"2024-11-05", "2025-03-26",
                                                             "2025-06-18", "2025-11-25"};
    send(Json{{"jsonrpc", "2.0"},
              {"id", "hello"},
              {"method", "initialize"},
              {"params",
               {{"protocolVersion", kVersions[maker_.pick(kVersions.size())]},
                {"capabilities", Json::object()}}}}
             .dump());
  }
  ~TrafficClient() {
    if (to_server_[1] >= 0) ::close(to_server_[1]);
    server_.join();
    for (const int fd : {to_server_[0], from_server_[0]}) ::close(fd);
  }
  TrafficClient(const TrafficClient&) = delete;
  TrafficClient& operator=(const TrafficClient&) = delete;

  /// Sends something and waits until the server has seen it. What the server did wrong; empty:
  /// nothing.
  std::string step() {
    if (dispatcher_.held() > 20 || maker_.pick(10) == 0) {
      dispatcher_.answer_one(maker_.pick(64));
      if (maker_.pick(4) == 0) dispatcher_.change_note();
      // It is on its way before anything is sent that could cancel the call. It may be that of a
      // batch, with refusals in it.
      may_be_refused_ = true;
      must_be_answered_ = false;
      if (!pass_barrier()) return "the server hangs";
    }
    std::string line = replace_all(maker_.line(), "\n", " ");
    const std::size_t held_before = dispatcher_.held_so_far();
    expect(line);
    send(line);
    last_ = std::move(line);
    if (!pass_barrier()) return "the server hangs";
    const bool is_held = dispatcher_.held_so_far() > held_before;
    if (must_be_answered_ && !is_held && !may_wait_)
      if (!read_until([&] { return !must_be_answered_; })) return "a request was not answered";
    return fault_;
  }

  /// Answers what is held; afterwards nothing may be owed.
  std::string finish() {
    while (dispatcher_.held() > 0) dispatcher_.answer_one(0);
    send(R"({"jsonrpc":"2.0","id":"barrier-end","method":"ping"})");
    if (!read_until([&] { return passed_barrier_ == "barrier-end"; })) return "the server hangs";
    // What only listens is answered at the end of the input.
    ::close(std::exchange(to_server_[1], -1));
    read_until([] { return false; });
    if (!owed_.empty()) return "never answered: " + owed_.begin()->first;
    return fault_;
  }

  std::size_t requests() const { return requests_; }
  const std::string& last() const { return last_; }

 private:
  /// Whatever the server said before is read.
  bool pass_barrier() {
    const std::string barrier = cat("barrier-", ++barriers_);
    send(Json{{"jsonrpc", "2.0"}, {"id", barrier}, {"method", "ping"}}.dump());
    return read_until([&] { return passed_barrier_ == barrier; });
  }
  static bool is_id(const Json& id) { return id.is_string() || id.is_number_integer(); }
  static bool is_whole(const Json& message) {
    return message.is_object() && message.value("jsonrpc", Json()) == "2.0" &&
           message.contains("method") && message["method"].is_string() &&
           !message.contains("result") && !message.contains("error") &&
           (!message.contains("params") || message["params"].is_object() ||
            message["params"].is_null());
  }

  /// Notes what the line must bring, or may.
  void expect(const std::string& line) {
    must_be_answered_ = false;
    may_be_refused_ = true;
    const Json message = Json::parse(line, nullptr, false);
    if (message.is_array()) {
      for (const Json& each : message) may_bring(each, true);  // a batch may be refused whole
      return;
    }
    if (is_whole(message) && !message.contains("id")) {
      may_be_refused_ = false;
      return may_bring(message);
    }
    if (!message.is_object() || !message.contains("id") || !is_id(message["id"])) return;
    may_bring(message);
    if (!is_whole(message)) return;
    ++requests_;
    must_be_answered_ = true;
    may_wait_ = message["method"] == "tasks/result" || message["method"] == "subscriptions/listen";
    asked_ = message["id"].dump();
    ++owed_[asked_];
    --possible_[asked_];
  }
  void may_bring(const Json& message, bool is_in_batch = false) {
    if (!message.is_object()) return;
    if (message.contains("id")) {
      if (is_id(message["id"])) ++possible_[message["id"].dump()];
    } else if (is_whole(message) && message["method"] == "notifications/cancelled") {
      const Json params = message.value("params", Json());
      if (params.is_object() && params.contains("requestId"))
        let_go(params["requestId"].dump(), is_in_batch || has_long_number(message));
    }
  }
  /// Nothing is owed for it any more, and may come only if the server cannot have understood.
  void let_go(const std::string& id, bool may_come) {
    const auto found = owed_.find(id);
    if (found == owed_.end()) return;
    if (may_come) possible_[id] += found->second;
    owed_.erase(found);
  }
  /// A number that would be rounded makes the server leave out what a notification says.
  static bool has_long_number(const Json& message) {
    int digits = 0;
    for (const char c : message.dump(-1, ' ', false, Json::error_handler_t::replace)) {
      digits = c >= '0' && c <= '9' ? digits + 1 : 0;
      if (digits > 15) return true;
    }
    return false;
  }

  void take(const Json& message) {
    if (message.is_array()) {
      for (const Json& each : message) take(each);
      return;
    }
    if (!message.is_object() || message.value("jsonrpc", Json()) != "2.0")
      return refute("no JSON-RPC: " + message.dump());
    if (message.contains("method")) return;  // a notification, or a question to us
    if (message.contains("result") == message.contains("error"))
      return refute("neither result nor error, or both: " + message.dump());
    if (message.value("id", Json()).is_null()) return take_refusal(message);
    const std::string id = message["id"].dump();
    if (id.starts_with("\"barrier-")) {
      passed_barrier_ = message["id"].get<std::string>();
    } else if (id != "\"hello\"") {
      take_answer(id);
    }
  }
  void take_answer(const std::string& id) {
    if (id == asked_) must_be_answered_ = false;
    for (auto* count : {&owed_, &possible_}) {
      const auto found = count->find(id);
      if (found == count->end() || found->second <= 0) continue;
      if (--found->second == 0) count->erase(found);
      return;
    }
    refute("answered twice, or nothing was asked: " + id);
  }
  /// An answer without an id is for what could not be read.
  void take_refusal(const Json& message) {
    if (!message.contains("error")) return refute("a result without an id");
    if (must_be_answered_) {  // too deep or too long to be read
      must_be_answered_ = false;
      if (--owed_[asked_] <= 0) owed_.erase(asked_);
      return;
    }
    if (!may_be_refused_) refute("a notification was answered: " + message.dump());
  }
  void refute(const std::string& why) {
    if (fault_.empty()) fault_ = why;
  }

  void send(const std::string& line) const {
    const std::string bytes = line + '\n';
    std::size_t at = 0;
    while (at < bytes.size()) {
      const auto n = ::write(to_server_[1], bytes.data() + at, bytes.size() - at);
      if (n <= 0) return;
      at += static_cast<std::size_t>(n);
    }
  }

  /// False at the deadline, or when the server has gone.
  template <typename Done>
  bool read_until(const Done& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    std::array<char, 65536> chunk;
    while (fault_.empty() && !done()) {
      pollfd source{from_server_[0], POLLIN, 0};
      if (::poll(&source, 1, 100) > 0) {
        const auto n = ::read(from_server_[0], chunk.data(), chunk.size());
        if (n <= 0) return false;
        take_lines(std::string_view(chunk.data(), static_cast<std::size_t>(n)));
      }
      if (std::chrono::steady_clock::now() > deadline) return false;
    }
    return true;
  }
  void take_lines(std::string_view bytes) {
    for (auto end = bytes.find('\n'); end != bytes.npos; end = bytes.find('\n')) {
      rest_ += bytes.substr(0, end);
      bytes.remove_prefix(end + 1);
      const Json message = Json::parse(rest_, nullptr, false);
      if (message.is_discarded())
        refute("a line that is no JSON: " + rest_);
      else
        take(message);
      rest_.clear();
    }
    rest_ += bytes;
  }

  TrafficDispatcher dispatcher_;
  TrafficMaker maker_;
  std::array<int, 2> to_server_{}, from_server_{};
  std::thread server_;
  std::map<std::string, int> owed_, possible_;  // answers by id: that must come, that may
  bool must_be_answered_ = false, may_wait_ = false, may_be_refused_ = true;
  std::string asked_, passed_barrier_, rest_, last_, fault_;
  std::size_t barriers_ = 0, requests_ = 0;
};

void expect_sound_traffic(TrafficClient& client) {
  const std::string fault = client.step();
  if (fault.empty()) return;
  INFO("after: " << prefix_at_grapheme(client.last(), 2000));
  FAIL(fault);
}

}  // namespace

TEST_CASE("whatever a client sends, each request gets one answer and nothing else gets any",
          "[mcp][B72]") {
  constexpr int kInputs = 20'000, kClients = 4;
  for (std::uint64_t seed = 1; seed <= kClients; ++seed) {
    TrafficClient client(seed);
    for (int i = 0; i < kInputs / kClients; ++i) expect_sound_traffic(client);
    CHECK(client.finish() == "");
    CHECK(client.requests() > kInputs / kClients / 8);
  }
}

/// `MCP_FUZZ_SECONDS=600 unit_tests '[mcp_fuzz]'`; with `MCP_FUZZ_SEED=` it begins at that seed.
TEST_CASE("the same for as long as it is told to", "[.][mcp_fuzz]") {
  const char* told = std::getenv("MCP_FUZZ_SECONDS");
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::seconds(told ? std::atoi(told) : 60);
  const char* first = std::getenv("MCP_FUZZ_SEED");
  for (std::uint64_t seed = first ? std::stoull(first) : SystemRandom().next();
       std::chrono::steady_clock::now() < end; ++seed) {
    INFO("seed " << seed);
    TrafficClient client(seed);
    for (int i = 0; i < 5000; ++i) expect_sound_traffic(client);
    CHECK(client.finish() == "");
  }
}

}  // namespace indx
