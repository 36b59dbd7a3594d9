#include "actors/run_marks.hpp"

#include "base/text.hpp"
#include "store/columns.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/mman.h>
#include <unistd.h>

namespace indx {
namespace {

constexpr std::uint32_t kLayout = 1;
constexpr std::size_t kIdBytes = 40, kResultBytes = 200, kPlaces = 1024;
using IdText = std::array<char, kIdBytes>;  // ends at a zero byte

void write_id(IdText& to, const std::string& id) {
  to.fill(0);
  std::copy_n(id.begin(), std::min(id.size(), kIdBytes - 1), to.begin());
}

std::string read_id(const IdText& from) {
  return {from.data(), ::strnlen(from.data(), from.size())};
}

enum MarkState : std::uint32_t { kFree, kBegun, kEnded };

}  // namespace

/// A kill may come between any two instructions: what a flag stands for is written before it is set
/// and after it is cleared.
struct RunMarks::File {
  struct Mark {
    std::atomic<std::uint32_t> state;
    std::uint32_t result_size;
    std::int64_t generation;
    IdText job;
    std::array<char, kResultBytes> result;
  };
  std::atomic<std::uint32_t> layout;   // kLayout, or the rest means nothing
  std::atomic<std::uint32_t> is_full;  // tries began that have no mark
  IdText instance, boot;
  std::array<Mark, kPlaces> marks;
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

Result<std::unique_ptr<RunMarks>> RunMarks::open(const std::string& path, const std::string& boot) {
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
  std::unique_ptr<RunMarks> marks(new RunMarks(static_cast<File*>(memory), boot));
  if (marks->file_->layout == kLayout) marks->read_earlier();
  return marks;
}

RunMarks::~RunMarks() { ::munmap(file_, sizeof(File)); }

void RunMarks::read_earlier() {
  earlier_instance_ = read_id(file_->instance);
  blames_all_ = file_->is_full != 0;
  const bool is_same_boot = !boot_.empty() && read_id(file_->boot) == boot_;
  for (const auto& mark : file_->marks) {
    const Lease lease{{read_id(mark.job)}, mark.generation, earlier_instance_};
    if (mark.state == kBegun) begun_.emplace(lease.job.value, lease.generation);
    if (mark.state == kEnded && is_same_boot)
      ends_.push_back({lease, json_value({mark.result.data(), mark.result_size})});
  }
}

bool RunMarks::had_begun(const Lease& lease) const {
  return lease.instance != earlier_instance_ || blames_all_ ||
         begun_.contains({lease.job.value, lease.generation});
}

void RunMarks::start(const std::string& instance) {
  file_->layout = 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  for (std::size_t place = 0; place < kPlaces; ++place) clear(place);
  file_->is_full = 0;
  write_id(file_->instance, instance);
  write_id(file_->boot, boot_);
  file_->layout = kLayout;
}

std::optional<std::size_t> RunMarks::set(const Lease& lease) {
  for (std::size_t looked_at = 0; looked_at < kPlaces; ++looked_at) {
    const auto place = next_;
    next_ = (next_ + 1) % kPlaces;
    auto& mark = file_->marks[place];
    if (mark.state != kFree) continue;
    write_id(mark.job, lease.job.value);
    mark.generation = lease.generation;
    mark.state = kBegun;
    return place;
  }
  file_->is_full = 1;
  return std::nullopt;
}

bool RunMarks::end(std::size_t place, std::string_view result) {
  auto& mark = file_->marks[place];
  if (result.size() > mark.result.size()) return false;
  std::copy(result.begin(), result.end(), mark.result.begin());
  mark.result_size = static_cast<std::uint32_t>(result.size());
  mark.state = kEnded;
  return true;
}

void RunMarks::clear(std::size_t place) {
  auto& mark = file_->marks[place];
  mark.state = kFree;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  mark.result.fill(0);  // it may be text of a note
}

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

}  // namespace indx
