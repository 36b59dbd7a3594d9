#include "http/file_tail.hpp"

#include <algorithm>

namespace indx {

std::string FileTail::next_block() {
  constexpr std::uint64_t kTailBlock = 256U << 10U;
  while (!is_empty() && !is_broken_) {
    auto& part = parts_[at_];
    if (!part.text.empty()) return std::exchange(part.text, {});
    if (part.size == 0) {
      ++at_;
      continue;
    }
    const auto wanted = std::min(part.size, kTailBlock);
    auto block = file_->read(part.begin, wanted);
    is_broken_ = !block || block->size() < wanted;
    if (is_broken_) return {};
    part.begin += wanted;
    part.size -= wanted;
    return std::move(*block);
  }
  return {};
}

}  // namespace indx
