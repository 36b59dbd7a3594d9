// A model server of its own, which outlives the program under test: model_server [--port N]
// [--delay-ms N]
#include "tests/support/model_server.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <unistd.h>

int main(int argc, char** argv) {
  int port = 0, delay = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (i + 1 == argc || (flag != "--port" && flag != "--delay-ms")) {
      std::fprintf(stderr, "usage: model_server [--port N] [--delay-ms N]\n");
      return 2;
    }
    (flag == "--port" ? port : delay) = std::atoi(argv[++i]);
  }
  sigset_t stops;
  sigemptyset(&stops);
  sigaddset(&stops, SIGTERM);
  sigaddset(&stops, SIGINT);
  pthread_sigmask(SIG_BLOCK, &stops, nullptr);

  const indx::ModelServer server(port, indx::milliseconds(delay));
  std::printf("listening on %d\n", server.port());
  std::fflush(stdout);
  int signal = 0;
  sigwait(&stops, &signal);
}
