#include "base/random.hpp"

#include "base/assert.hpp"

#include <array>
#include <sys/random.h>
#include <utility>

namespace indx {

std::string Random::hex(std::size_t bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes * 2);
  while (text.size() < bytes * 2) {
    const std::uint64_t word = next();
    for (int shift = 60; shift >= 0 && text.size() < bytes * 2; shift -= 4)
      text += kDigits[(word >> shift) & 15U];
  }
  return text;
}

double Random::uniform() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

// A call of the kernel for each word would be one in ten of those that a read of a note makes.
std::uint64_t SystemRandom::next() {
  thread_local std::array<std::uint64_t, 32> words;  // 256 bytes: never cut short by the kernel
  thread_local std::size_t used = words.size();
  if (used == words.size()) {
    INDX_ASSERT(::getrandom(words.data(), sizeof words, 0) == sizeof words);
    used = 0;
  }
  return std::exchange(words[used++], 0);  // what was given is not kept
}

std::uint64_t SeededRandom::next() {
  const std::scoped_lock lock(mutex_);
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

}  // namespace indx
