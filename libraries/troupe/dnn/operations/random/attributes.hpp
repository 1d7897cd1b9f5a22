// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/enumeration.hpp>
#include <troupe/dnn/graph/attributes.hpp>

namespace troupe::dnn {

/// Distributions of random numbers: uniform in [0, 1), standard normal, or 1 with a probability and otherwise 0.
enum class random_kind : std::int64_t { uniform, normal, bernoulli };
TROUPE_ENUM(random_kind, uniform, normal, bernoulli)

/// The attributes of random numbers. Input: none, or u32 or i32 words in memory, of each number the lower word first: 2
/// words for the seed, or 4 for the seed and a number that is added to the offset. See generator.hpp.
struct random_attributes {
  random_kind kind;
  std::uint64_t seed, offset;
  double probability;
};

constexpr bool is_sound(op, const random_attributes& a, const node_counts&) noexcept { return is_known(a.kind); }

}  // namespace troupe::dnn
