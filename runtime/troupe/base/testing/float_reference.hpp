// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <troupe/base/numbers/narrow_float.hpp>
#include <utility>
#include <vector>

// An independent reference for the narrow formats: values by definition, conversion by search. It shares no code with
// the code it checks.
namespace troupe::reference {

// A type in which every float, double and 64-bit integer, and every midpoint between numbers of a format, is exact.
using exact = long double;
static_assert(std::numeric_limits<exact>::digits >= 64);

struct candidate {
  exact value;
  unsigned code;
};

struct definition {
  int exponent_bits, mantissa_bits, bias;
  bool has_infinity, has_nan, has_sign = true;

  unsigned sign_bit() const { return 1u << (exponent_bits + mantissa_bits); }
  unsigned codes() const { return has_sign ? 2 * sign_bit() : sign_bit(); }

  // Returns the value of a code by the definition of the format.
  exact value(unsigned code) const {
    const int mantissa = static_cast<int>(code % (1u << mantissa_bits));
    const int exponent = static_cast<int>(code >> mantissa_bits) % (1 << exponent_bits);
    const exact sign = has_sign && (code & sign_bit()) ? -1 : 1;
    const bool all_ones = exponent == (1 << exponent_bits) - 1;
    if (has_infinity && all_ones)
      return mantissa == 0 ? sign * std::numeric_limits<exact>::infinity() : std::numeric_limits<exact>::quiet_NaN();
    if (has_nan && !has_infinity && all_ones && mantissa == (1 << mantissa_bits) - 1)
      return std::numeric_limits<exact>::quiet_NaN();
    return sign * in_line(static_cast<unsigned>(exponent << mantissa_bits | mantissa));
  }

  // Returns the value that a code would have if no code were special.
  exact in_line(unsigned magnitude) const {
    const int mantissa = static_cast<int>(magnitude % (1u << mantissa_bits));
    const int exponent = static_cast<int>(magnitude >> mantissa_bits);
    if (!has_sign) return std::ldexp(exact{1}, exponent - bias);  // E8M0 has neither zero nor subnormals
    if (exponent == 0) return std::ldexp(exact(mantissa), 1 - bias - mantissa_bits);
    return std::ldexp(exact((1 << mantissa_bits) + mantissa), exponent - bias - mantissa_bits);
  }

  // Returns the finite non-negative numbers in ascending order, and the first number that is out of range.
  std::vector<candidate> line() const {
    std::vector<candidate> all;
    unsigned magnitude = 0;
    for (; magnitude < sign_bit() && std::isfinite(value(magnitude)); ++magnitude)
      all.push_back({value(magnitude), magnitude});
    all.push_back({in_line(magnitude), magnitude});
    return all;
  }
};

// Finds the nearest number by search, ties to the even code. The caller handles NaN.
class converter {
 public:
  explicit converter(const definition& d) : format_(d), line_(d.line()) {}

  const std::vector<candidate>& line() const { return line_; }
  unsigned largest() const { return line_[line_.size() - 2].code; }

  unsigned nearest(exact x, on_overflow choice) const {
    const exact magnitude = std::fabs(x);
    const unsigned sign = format_.has_sign && std::signbit(x) ? format_.sign_bit() : 0;
    const auto above = std::lower_bound(line_.begin(), line_.end(), magnitude,
                                        [](const candidate& c, exact v) { return c.value < v; });
    unsigned code = 0;
    if (above == line_.end())
      code = line_.back().code;
    else if (above == line_.begin() || above->value == magnitude)
      code = above->code;
    else {
      const auto below = above - 1;
      const exact down = magnitude - below->value, up = above->value - magnitude;
      code = down < up ? below->code : up < down ? above->code : below->code % 2 == 0 ? below->code : above->code;
    }
    return sign | (code > largest() ? overflow(choice) : code);
  }

 private:
  unsigned overflow(on_overflow choice) const {
    if (choice == on_overflow::saturate || (!format_.has_infinity && !format_.has_nan)) return largest();
    return largest() + 1;  // the code after the largest number: infinity, or NaN if there is none
  }

  definition format_;
  std::vector<candidate> line_;
};

// Returns inputs at which rounding errors show: every number of the format, every midpoint between neighbors, and the
// values next to those.
template <class Float>
std::vector<Float> hard_cases(const converter& c) {
  std::vector<Float> all;
  const Float infinity = std::numeric_limits<Float>::infinity();
  const auto add = [&](exact x) {
    const auto v = static_cast<Float>(x);
    for (const Float near : {v, std::nextafter(v, infinity), std::nextafter(v, -infinity)}) {
      all.push_back(near);
      all.push_back(-near);
    }
  };
  for (std::size_t i = 0; i < c.line().size(); ++i) {
    add(c.line()[i].value);
    if (i + 1 < c.line().size()) add((c.line()[i].value + c.line()[i + 1].value) / 2);
  }
  using limits = std::numeric_limits<Float>;
  for (const Float x : {limits::infinity(), limits::max(), limits::min(), limits::denorm_min(), Float{0}}) {
    all.push_back(x);
    all.push_back(-x);
  }
  return all;
}

// Returns the seed of this run: TROUPE_SEED if it is set, otherwise a new one. Prints it, so that a failure can be
// repeated.
inline std::uint64_t seed() {
  static const std::uint64_t value = [] {
    const char* given = std::getenv("TROUPE_SEED");
    const std::uint64_t s = given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
    std::printf("TROUPE_SEED=%llu\n", static_cast<unsigned long long>(s));
    return s;
  }();
  return value;
}

}  // namespace troupe::reference
