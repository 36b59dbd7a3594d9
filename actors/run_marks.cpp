#include "actors/run_marks.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace indx {
namespace {

constexpr std::size_t kIdBytes = 40;
using IdText = std::array<char, kIdBytes>;  // ends at a zero byte

void write_id(IdText& to, const std::string& id) {
  to.fill(0);
  std::copy_n(id.begin(), std::min(id.size(), kIdBytes - 1), to.begin());
}

std::string read_id(const IdText& from) {
  return {from.data(), ::strnlen(from.data(), from.size())};
}

}  // namespace

/// A kill may come between any two instructions: what a flag stands for is written before it.
struct RunMarks::File {
  struct Mark {
    std::atomic<std::uint32_t> is_set;
    IdText job;
    std::int64_t generation;
  };
  std::atomic<std::uint32_t> is_valid;
  IdText instance;
  std::array<Mark, 1024> marks;
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

Result<std::unique_ptr<RunMarks>> RunMarks::open(const std::string& path) {
  const auto failed = [] {
    return make_error(Reason::Unavailable,
                      cat("The file of running jobs cannot be used: ", std::strerror(errno)));
  };
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return failed();
  // Blocks on disk from the start: memory without them would end the process when the disk is full.
  void* memory = MAP_FAILED;
  if (const int code = ::posix_fallocate(fd, 0, sizeof(File)); code != 0)
    errno = code;
  else
    memory = ::mmap(nullptr, sizeof(File), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  if (memory == MAP_FAILED) return failed();
  std::unique_ptr<RunMarks> marks(new RunMarks(static_cast<File*>(memory)));
  if (marks->file_->is_valid == 0) return marks;
  marks->earlier_instance_ = read_id(marks->file_->instance);
  for (const auto& mark : marks->file_->marks)
    if (mark.is_set != 0) marks->earlier_.emplace(read_id(mark.job), mark.generation);
  return marks;
}

RunMarks::~RunMarks() { ::munmap(file_, sizeof(File)); }

bool RunMarks::had_begun(const Lease& lease) const {
  return lease.instance != earlier_instance_ ||
         earlier_.contains({lease.job.value, lease.generation});
}

void RunMarks::start(const std::string& instance) {
  file_->is_valid = 0;
  for (auto& mark : file_->marks) mark.is_set = 0;
  write_id(file_->instance, instance);
  file_->is_valid = 1;
}

std::optional<std::size_t> RunMarks::set(const Lease& lease) {
  for (std::size_t place = 0; place < file_->marks.size(); ++place) {
    auto& mark = file_->marks[place];
    if (mark.is_set != 0) continue;
    write_id(mark.job, lease.job.value);
    mark.generation = lease.generation;
    mark.is_set = 1;
    return place;
  }
  file_->is_valid = 0;
  return std::nullopt;
}

void RunMarks::clear(std::size_t place) { file_->marks[place].is_set = 0; }

}  // namespace indx
