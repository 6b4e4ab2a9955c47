#pragma once

#include <concepts>
#include <cstdint>
#include <string>

namespace flopwatt::units {

/// An exact integer count: FLOPs, bytes, parameters, tokens.  128 bits wide, because one step of a 405 B model on
/// 16 Mi tokens passes 2^64 FLOPs.  Signed, so that a difference of two counts is a count.
///
/// Arithmetic that leaves the range sticks at ±kLimit and stays there through + and *, as an infinity does; callers
/// that accept user sizes ask `overflowed()` once at the end, instead of checking every product.
class Count {
 public:
  using Integer = __int128;

  constexpr Count() noexcept = default;
  template <std::integral T>
  constexpr Count(T value) noexcept : value_{static_cast<Integer>(value)} {}  // NOLINT: an integer is a count
  constexpr Count(Integer value) noexcept : value_{value} {}                  // NOLINT

  [[nodiscard]] constexpr Integer value() const noexcept { return value_; }
  [[nodiscard]] constexpr double to_double() const noexcept { return static_cast<double>(value_); }
  [[nodiscard]] constexpr bool overflowed() const noexcept { return value_ == kLimit || value_ == -kLimit; }

  friend constexpr Count operator+(Count a, Count b) noexcept {
    if (a.overflowed()) return a;
    if (b.overflowed()) return b;
    Integer sum = 0;
    if (__builtin_add_overflow(a.value_, b.value_, &sum)) return Count{a.value_ > 0 ? kLimit : -kLimit};
    return clamp(sum);
  }
  friend constexpr Count operator-(Count a) noexcept { return Count{-a.value_}; }
  friend constexpr Count operator-(Count a, Count b) noexcept { return a + (-b); }
  friend constexpr Count operator*(Count a, Count b) noexcept {
    Integer product = 0;
    if (__builtin_mul_overflow(a.value_, b.value_, &product)) {
      return Count{((a.value_ < 0) == (b.value_ < 0)) ? kLimit : -kLimit};
    }
    return clamp(product);
  }
  /// Integer quotient, rounded towards zero.  `b` must not be zero.
  friend constexpr Count operator/(Count a, Count b) noexcept {
    return a.overflowed() ? a : Count{a.value_ / b.value_};
  }
  friend constexpr Count operator%(Count a, Count b) noexcept { return Count{a.value_ % b.value_}; }
  constexpr Count& operator+=(Count b) noexcept { return *this = *this + b; }
  constexpr Count& operator-=(Count b) noexcept { return *this = *this - b; }
  constexpr Count& operator*=(Count b) noexcept { return *this = *this * b; }

  friend constexpr bool operator==(Count a, Count b) noexcept { return a.value_ == b.value_; }
  friend constexpr auto operator<=>(Count a, Count b) noexcept { return a.value_ <=> b.value_; }

 private:
  static constexpr Integer kLimit = static_cast<Integer>(~static_cast<unsigned __int128>(0) >> 1);
  static constexpr Count clamp(Integer v) noexcept { return Count{v < -kLimit ? -kLimit : v}; }

  Integer value_{0};
};

/// Decimal digits, with a leading '-' if negative: "1543714304".
[[nodiscard]] std::string to_string(Count count);
/// The same in groups of three: "1,543,714,304".
[[nodiscard]] std::string to_grouped_string(Count count);

}  // namespace flopwatt::units
