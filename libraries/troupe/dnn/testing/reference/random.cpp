// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <troupe/dnn/operations/random/attributes.hpp>
#include <troupe/dnn/operations/random/generator.hpp>
#include <troupe/dnn/testing/reference/definitions.hpp>

namespace troupe::dnn::detail {
namespace {

// Returns word n of the sequence of a seed, without the code of generator.hpp.
std::uint32_t word_at(std::uint64_t seed, std::uint64_t n) noexcept { return philox(seed, n / 4).word[n % 4]; }

double normal_at(std::uint64_t seed, std::uint64_t n) noexcept {
  constexpr double pi = 3.14159265358979323846;
  const std::uint64_t pair = n / 2 * 2;
  const double u = (std::floor(word_at(seed, pair) * 0x1p-9) + 0.5) * 0x1p-23;
  const double angle = 2 * pi * std::floor(word_at(seed, pair + 1) * 0x1p-8) * 0x1p-24;
  return std::sqrt(-2 * std::log(u)) * (n % 2 == 0 ? std::cos(angle) : std::sin(angle));
}

}  // namespace

void make_random(const random_attributes& a, inputs in, outputs out) {
  const output_values y = out[0];
  std::uint64_t seed = a.seed, n = a.offset;
  if (!in.empty()) {
    const auto word = [&](std::size_t i) {
      return static_cast<std::uint64_t>(static_cast<std::uint32_t>(static_cast<std::int64_t>(in[0].numbers[i])));
    };
    seed = word(0) | word(1) << 32;
    if (in[0].numbers.size() == 4) n += word(2) | word(3) << 32;
  }
  for (double& number : y.numbers) {
    const double uniform = std::floor(word_at(seed, n) * 0x1p-8) * 0x1p-24;
    if (a.kind == random_kind::uniform)
      number = uniform;
    else if (a.kind == random_kind::bernoulli)
      number = uniform < a.probability ? 1 : 0;
    else
      number = normal_at(seed, n);
    ++n;
  }
}

}  // namespace troupe::dnn::detail
