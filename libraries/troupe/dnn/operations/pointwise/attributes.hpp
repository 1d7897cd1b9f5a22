// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/graph/attributes.hpp>
#include <troupe/epilogue/op.hpp>

namespace troupe::dnn {

/// The attributes of an elementwise operation: a function of epilogue::op.
struct pointwise_attributes {
  epilogue::op function;
  std::uint8_t unused[7];
};

constexpr bool is_sound(op, const pointwise_attributes& a, const node_counts& n) noexcept {
  return epilogue::is_function(a.function) && n == node_counts{epilogue::info(a.function).arguments, 1};
}

}  // namespace troupe::dnn
