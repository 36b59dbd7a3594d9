#pragma once
#include <cstdint>
#include <mutex>
#include <random>
#include <string>

namespace indx {

/// Where randomness comes from, so that tests can seed it. Safe to call from any thread.
class Random {
 public:
  virtual ~Random() = default;
  virtual std::uint64_t next() = 0;

  /// `bytes` random bytes as lower-case hex.
  std::string hex(std::size_t bytes);
  /// Uniform in [0, 1).
  double uniform();
};

/// Unpredictable: from the kernel. For tokens, ids and jitter.
class SystemRandom : public Random {
 public:
  std::uint64_t next() override;
};

/// Repeatable: SplitMix64 (Steele, Lea, Flood 2014). For tests and benches.
class SeededRandom : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() override;

 private:
  std::mutex mutex_;
  std::uint64_t state_;
};

}  // namespace indx
