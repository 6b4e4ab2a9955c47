#pragma once

/// Quantity types.  The exponents of (second, joule, byte, FLOP, token) are part of the type: a wrong formula does not
/// compile and a right one costs one double.  Numbers enter by multiplying with a unit and leave by naming one:
/// `Power p = 700 * watt; p.in(kilowatt)`.

namespace flopwatt::units {

template <int... Exponents>
class Quantity {
 public:
  constexpr Quantity() noexcept = default;
  /// From a number of base units (s, J, B, FLOP, token and their products).
  [[nodiscard]] static constexpr Quantity from_base(double value) noexcept { return Quantity{value}; }
  /// The number of `unit`s in this quantity: the only way out of the type.
  [[nodiscard]] constexpr double in(Quantity unit) const noexcept { return value_ / unit.value_; }

  constexpr Quantity& operator+=(Quantity other) noexcept { return value_ += other.value_, *this; }
  constexpr Quantity& operator-=(Quantity other) noexcept { return value_ -= other.value_, *this; }
  friend constexpr Quantity operator+(Quantity a, Quantity b) noexcept { return Quantity{a.value_ + b.value_}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) noexcept { return Quantity{a.value_ - b.value_}; }
  friend constexpr Quantity operator-(Quantity a) noexcept { return Quantity{-a.value_}; }
  friend constexpr Quantity operator*(double k, Quantity a) noexcept { return Quantity{k * a.value_}; }
  friend constexpr Quantity operator*(Quantity a, double k) noexcept { return Quantity{a.value_ * k}; }
  friend constexpr Quantity operator/(Quantity a, double k) noexcept { return Quantity{a.value_ / k}; }
  // Spelled out, not defaulted from <=>: g++ 12 turns the defaulted form into branches where `<` is one instruction.
  friend constexpr bool operator==(Quantity a, Quantity b) noexcept { return a.value_ == b.value_; }
  friend constexpr bool operator<(Quantity a, Quantity b) noexcept { return a.value_ < b.value_; }
  friend constexpr bool operator>(Quantity a, Quantity b) noexcept { return a.value_ > b.value_; }
  friend constexpr bool operator<=(Quantity a, Quantity b) noexcept { return a.value_ <= b.value_; }
  friend constexpr bool operator>=(Quantity a, Quantity b) noexcept { return a.value_ >= b.value_; }

  template <int... A, int... B>
  friend constexpr auto operator*(Quantity<A...> a, Quantity<B...> b) noexcept;
  template <int... A, int... B>
  friend constexpr auto operator/(Quantity<A...> a, Quantity<B...> b) noexcept;
  template <int... A>
  friend constexpr auto operator/(double k, Quantity<A...> a) noexcept;

 private:
  constexpr explicit Quantity(double value) noexcept : value_{value} {}
  double value_{0.0};
};

template <int... A, int... B>
constexpr auto operator*(Quantity<A...> a, Quantity<B...> b) noexcept {
  if constexpr (((A + B == 0) && ...)) {
    return a.value_ * b.value_;  // a dimensionless product is a plain double
  } else {
    return Quantity<(A + B)...>::from_base(a.value_ * b.value_);
  }
}
template <int... A, int... B>
constexpr auto operator/(Quantity<A...> a, Quantity<B...> b) noexcept {
  if constexpr (((A == B) && ...)) {
    return a.value_ / b.value_;
  } else {
    return Quantity<(A - B)...>::from_base(a.value_ / b.value_);
  }
}
template <int... A>
constexpr auto operator/(double k, Quantity<A...> a) noexcept {
  return Quantity<(-A)...>::from_base(k / a.value_);
}

//                               s   J   B  FLOP tok
using Duration = Quantity<1, 0, 0, 0, 0>;
using Energy = Quantity<0, 1, 0, 0, 0>;
using DataSize = Quantity<0, 0, 1, 0, 0>;
using FlopCount = Quantity<0, 0, 0, 1, 0>;
using TokenCount = Quantity<0, 0, 0, 0, 1>;
using Frequency = Quantity<-1, 0, 0, 0, 0>;
using Power = Quantity<-1, 1, 0, 0, 0>;
using Bandwidth = Quantity<-1, 0, 1, 0, 0>;
using FlopRate = Quantity<-1, 0, 0, 1, 0>;
using TokenRate = Quantity<-1, 0, 0, 0, 1>;
using Intensity = Quantity<0, 0, -1, 1, 0>;
using FlopPerToken = Quantity<0, 0, 0, 1, -1>;
using EnergyPerToken = Quantity<0, 1, 0, 0, -1>;
using EnergyPerFlop = Quantity<0, 1, 0, -1, 0>;
using EnergyPerByte = Quantity<0, 1, -1, 0, 0>;

inline constexpr Duration second = Duration::from_base(1);
inline constexpr Duration millisecond = 1e-3 * second, microsecond = 1e-6 * second, hour = 3600 * second;
inline constexpr Frequency hertz = Frequency::from_base(1), megahertz = 1e6 * hertz;
inline constexpr Energy joule = Energy::from_base(1), kilowatt_hour = 3.6e6 * joule;
inline constexpr Power watt = joule / second, milliwatt = 1e-3 * watt, kilowatt = 1e3 * watt;
inline constexpr DataSize byte = DataSize::from_base(1), gigabyte = 1e9 * byte, gibibyte = 1073741824.0 * byte;
inline constexpr Bandwidth byte_per_second = byte / second, gigabyte_per_second = gigabyte / second;
inline constexpr FlopCount flop = FlopCount::from_base(1), teraflop = 1e12 * flop;
inline constexpr FlopRate flop_per_second = flop / second, teraflop_per_second = teraflop / second;
inline constexpr TokenCount token = TokenCount::from_base(1);
inline constexpr TokenRate token_per_second = token / second;

}  // namespace flopwatt::units
