#include "base/ids.hpp"

namespace indx {

std::string new_ulid(Timestamp now, Random& random) {
  static constexpr char kAlphabet[] = "0123456789abcdefghjkmnpqrstvwxyz";
  std::string id(26, '0');
  auto time = static_cast<std::uint64_t>(to_millis(now));
  for (std::size_t i = 10; i-- > 0; time >>= 5U) id[i] = kAlphabet[time & 31U];
  for (std::size_t half = 0; half < 2; ++half) {
    std::uint64_t bits = random.next();
    for (std::size_t i = 0; i < 8; ++i, bits >>= 5U) id[10 + half * 8 + i] = kAlphabet[bits & 31U];
  }
  return id;
}

}  // namespace indx
