// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/epilogue/op.hpp>

namespace troupe::dnn {

/// The attributes of an elementwise operation: one of epilogue::op.
struct pointwise_attributes {
  epilogue::op function;
  std::uint8_t unused[7];
};

}  // namespace troupe::dnn
