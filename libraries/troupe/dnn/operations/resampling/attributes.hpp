// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/graph/attributes.hpp>
#include <troupe/dnn/graph/kinds.hpp>

namespace troupe::dnn {

/// The attributes of a resampling and its gradient.
struct resampling_attributes {
  resampling_kind kind;
  std::int64_t aligned;  ///< 1 if the centers of the corner elements coincide, 0 if the outer corners do
};

constexpr bool is_sound(op, const resampling_attributes& f, const node_counts&) noexcept {
  return is_known(f.kind) && is_flag(f.aligned);
}

}  // namespace troupe::dnn
