#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace flopwatt::stats {

/// One step of SplitMix64 (Steele, Lea and Flood 2014): advances `state` and returns 64 mixed bits.
[[nodiscard]] constexpr std::uint64_t split_mix_64(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

/// xoshiro256** (Blackman and Vigna 2018, "Scrambled linear pseudorandom number generators"), its state filled by
/// SplitMix64 from a seed.  Every draw is integer arithmetic, or integer to double by an exact power of two, so a seed
/// gives the same sequence with every compiler and platform (the distributions of <random> do not promise that).
/// Not for cryptography.
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) : state_{} {
    for (std::uint64_t& word : state_) word = split_mix_64(seed);
  }
  /// From a raw state, which must not be all zero.
  explicit constexpr Random(const std::array<std::uint64_t, 4>& state) : state_(state) {}

  /// 64 uniform bits.
  [[nodiscard]] constexpr std::uint64_t bits() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17U;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  /// Uniform in 0 … bound - 1 without bias: Lemire's multiply, shift and reject (2019) on the upper 32 bits of a draw.
  /// `bound` must not be zero.
  [[nodiscard]] constexpr std::uint32_t below(std::uint32_t bound) {
    std::uint64_t product = (bits() >> 32U) * bound;
    if (static_cast<std::uint32_t>(product) < bound) {
      const std::uint32_t reject = (0U - bound) % bound;  // 2^32 mod bound
      while (static_cast<std::uint32_t>(product) < reject) product = (bits() >> 32U) * bound;
    }
    return static_cast<std::uint32_t>(product >> 32U);
  }

  /// Uniform in [0, 1), a multiple of 2^-53.
  [[nodiscard]] constexpr double uniform() { return static_cast<double>(bits() >> 11U) * 0x1.0p-53; }

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace flopwatt::stats
