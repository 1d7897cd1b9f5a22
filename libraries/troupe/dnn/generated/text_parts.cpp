// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/generated/text_parts.hpp>

namespace troupe::dnn::generated {

std::int64_t divisor_of(std::int64_t n, bool narrow) noexcept {
  n = std::max<std::int64_t>(n, 1);  // without elements nothing is divided
  if (!narrow) return n;
  // With s bits for n - 1 and m = ceil(2^(31 + s) / n), x * m >> (31 + s) is x / n for all x < 2^31.
  const auto shift = 31 + static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(n - 1)));
  const auto by = static_cast<std::uint64_t>(n);
  return static_cast<std::int64_t>(shift << 32 | ((std::uint64_t{1} << shift) + by - 1) / by);
}

const char* unsigned_type(unsigned bytes) noexcept {
  switch (bytes) {
    case 1:
      return "unsigned char";
    case 2:
      return "unsigned short";
    case 4:
      return "unsigned";
    case 8:
      return "unsigned long long";
    default:
      return "uint4";
  }
}

std::string text_of_bits(const std::string& bits) {
  return cat("static_cast<N>(__builtin_bit_cast(double, ", bits, "))");
}
std::string text_of(dtype t) { return cat("static_cast<dtype>(", static_cast<int>(t), ")"); }

std::string value_of(const elementwise_kernel::operation& o,
                     const std::function<std::string(std::uint16_t)>& argument) {
  using kind = elementwise_kernel::operation::kind;
  if (o.what == kind::round) return cat("number::rounded(", text_of(o.type), ", ", argument(o.from[0]), ")");
  if (o.what == kind::multiply_add)
    return cat("sets::multiply_add(", argument(o.from[0]), ", ", argument(o.from[1]), ", ", argument(o.from[2]), ")");
  return cat("value_of<N>(static_cast<op>(", static_cast<int>(o.function), "), ", argument(o.from[0]), ", ",
             argument(o.from[1]), ", ", argument(o.from[2]), ")");
}

}  // namespace troupe::dnn::generated
