// note_read and a list as lines over HTTP, against a bare handler on the same front that returns
// the same bytes. The load generator shares the machine with the server.
// rows: A103
#include "bench/engine.hpp"
#include "bench/http_client.hpp"

#include <thread>

namespace {

using namespace indx;
using namespace indx::bench;

constexpr int kNotes = 1000;

/// A list as lines: how soon the first bytes of the body came, and the whole answer.
struct LineList {
  double first_ms = 0, seconds = 0;
  std::string answer;
};
LineList read_lines(int port, const std::string& request) {
  LineList list;
  const int fd = connect_to(port);
  char chunk[65536];
  const double begin = now_s();
  send_all(fd, request);
  while (!list.answer.ends_with("\r\n0\r\n\r\n")) {
    const auto n = ::recv(fd, chunk, sizeof chunk, 0);
    if (n <= 0) std::exit(1);
    list.answer.append(chunk, static_cast<std::size_t>(n));
    if (list.first_ms == 0 && list.answer.find('{') != std::string::npos)
      list.first_ms = (now_s() - begin) * 1000;
  }
  list.seconds = now_s() - begin;
  ::close(fd);
  return list;
}

}  // namespace

int main() {
  const Folder folder("http");
  generate_vault(folder.path / "vault", kNotes);
  std::string bare_body;
  const ServedEngine served(folder.path, [&](Router& router) {
    router.add(
        "GET", "/bare",
        [&](const HttpRequest&, const std::map<std::string, std::string>&, Responder responder) {
          responder.send({200, {{"Content-Type", "application/json"}}, bare_body});
        });
  });
  const int port = served.port();
  std::vector<std::string> reads;
  for (int i = 0; i < 1000; ++i)
    reads.push_back(served.get(cat("/v1/notes/area-", i % 40, "/note-", i, ".md?include=body")));
  {
    const int fd = connect_to(port);
    std::string buffer;
    send_all(fd, reads[0]);
    char chunk[65536];
    const auto n = ::recv(fd, chunk, sizeof chunk, 0);
    const std::string answer(chunk, n > 0 ? static_cast<std::size_t>(n) : 0);
    bare_body = answer.substr(answer.find("\r\n\r\n") + 4);
    ::close(fd);
  }
  const double floor = requests_per_s(port, {served.get("/bare")});
  const double value = requests_per_s(port, reads);
  print({.name = "note_read_http",
         .value = value,
         .unit = "requests/s",
         .floor = floor,
         .bar = .6 * floor,
         .bar_is_maximum = false});

  const auto ask_lines = served.get("/v1/notes", "Accept: application/x-ndjson\r\n");
  std::vector<double> first_ms, seconds, bare_ms;
  for (int i = 0; i < 20; ++i) {
    const auto list = read_lines(port, ask_lines);
    first_ms.push_back(list.first_ms);
    seconds.push_back(list.seconds);
    bare_body = list.answer;
  }
  const int bare = connect_to(port);
  for (int i = 0; i < 20; ++i) {
    std::string buffer;
    const double begin = now_s();
    send_all(bare, served.get("/bare"));
    read_answer(bare, buffer);
    bare_ms.push_back((now_s() - begin) * 1000);
  }
  ::close(bare);
  print({.name = "ndjson_first_byte",
         .value = percentile(first_ms, .95),
         .unit = "ms",
         .floor = percentile(bare_ms, .5),
         .bar = 50});
  print({.name = "ndjson_rows",
         .value = kNotes / percentile(seconds, .5),
         .unit = "rows/s",
         .floor = kNotes * 1000 / percentile(bare_ms, .5),
         .bar = 5000,
         .bar_is_maximum = false});
}
