// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/requests/computation.hpp>

/// Dropout as requests. No mask is stored: equal seeds and offsets yield the same mask on every engine.
namespace troupe::dnn {

/// y = x / (1 - probability), or 0 with the probability.
struct dropout_forward {
  in_any x;
  out_any y;
  double probability;
  std::uint64_t seed = 0;    ///< seed and offset are part of the plan's key
  std::uint64_t offset = 0;  ///< index of the first element's number in the sequence of the seed
  /// Given instead of the seed: 2 or 4 words of u32 or i32, which are read when the request runs; see random_seed.
  std::optional<in_any> words = {};
  computation_options options = {};
  TROUPE_REQUEST("dnn.dropout_forward", x, y, probability, seed, offset, words, options)
  computation sent() const;
};
/// dx = the gradient of x, computed from dy, the gradient of y. The other fields must be those of the forward request.
struct dropout_backward {
  in_any dy;
  out_any dx;
  double probability;
  std::uint64_t seed = 0, offset = 0;
  std::optional<in_any> words = {};
  computation_options options = {};
  TROUPE_REQUEST("dnn.dropout_backward", dy, dx, probability, seed, offset, words, options)
  computation sent() const;
};

}  // namespace troupe::dnn
