// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bench/networks/numbers.hpp>
#include <troupe/base/bfloat16.hpp>
#include <troupe/dnn/dnn.hpp>
#include <troupe/troupe.hpp>
#include <vector>

namespace troupe::bench {

/// Makes a vector of equal numbers.
template <class T>
tensor<T> vector_of(const device& gpu, std::int64_t count, float with) {
  const auto memory = gpu.alloc<T>(static_cast<std::size_t>(count));
  gpu.fill(memory, T(with));
  return tensor(memory, {count});
}

/// The weights of a network that `dnn::gradients` differentiates: float with a copy in bf16, in which products are
/// computed. All are parts of few vectors, so that an optimizer needs no loop over them.
class weight_vectors {
 public:
  /// Allocates memory for `count` weights, and as many numbers for each of some moments.
  weight_vectors(const device& gpu, std::int64_t count, int moments);

  using extents = std::vector<std::int64_t>;
  /// Returns the next weights as a variable: the copy in bf16 if `is_narrow`.
  dnn::value add(const std::vector<float>& initial, const extents& of, bool is_narrow);
  /// Returns filters as a variable. `initial` has them in row-major order; in memory, their channels are last.
  dnn::value add_filters(const std::vector<float>& initial, const extents& of);

  /// Returns the writes of the gradients of all variables.
  std::vector<dnn::written> gradients_of(const dnn::value& loss) const;
  /// Copies the initial weights to their copy in bf16.
  void complete(const device& gpu) const { gpu.tell(dnn::computation{{write(dnn::read(master), narrow)}}); }

  tensor<float> master, gradients;
  tensor<bfloat16> narrow;
  std::vector<tensor<float>> moments;

 private:
  dnn::value add(const std::vector<float>& initial, const extents& of, const extents& strides, bool is_narrow);

  const device gpu_;
  std::int64_t used_ = 0;
  std::vector<dnn::value> variables_;
  std::vector<tensor<float>> views_;  // of the gradients
};

}  // namespace troupe::bench
