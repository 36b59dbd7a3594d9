// How good the answers are: quality_bench [TASK…], default retrieval ask tag relate summarize. The
// sets stand in sets/, the packs in the folder that INDX_PACKS names; docs/quality.md tells the
// methods. Prints one JSON object a line, as the other benches do; exits 1 when a bar is missed or
// something could not be measured.
#include "bench/quality/tasks.hpp"

#include <cstdio>
#include <string>
#include <vector>

namespace {

using namespace indx::quality;

struct Task {
  const char* name;
  void (*measure)(Packs&, Report&);
};
constexpr Task kTasks[] = {{"retrieval", measure_retrieval},
                           {"ask", measure_ask},
                           {"tag", measure_tag},
                           {"relate", measure_relate},
                           {"summarize", measure_summarize}};

const Task* find_task(const std::string& name) {
  for (const auto& task : kTasks)
    if (task.name == name) return &task;
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<const Task*> tasks;
  for (int i = 1; i < argc; ++i) {
    tasks.push_back(find_task(argv[i]));
    if (tasks.back() == nullptr) {
      std::fprintf(stderr, "quality_bench: no task %s; there are:", argv[i]);
      for (const auto& task : kTasks) std::fprintf(stderr, " %s", task.name);
      std::fprintf(stderr, "\n");
      return 2;
    }
  }
  if (tasks.empty())
    for (const auto& task : kTasks) tasks.push_back(&task);
  Packs packs;
  Report report;
  for (const auto* task : tasks) task->measure(packs, report);
  return report.is_good() ? 0 : 1;
}
