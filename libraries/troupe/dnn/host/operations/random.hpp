// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/host/execution_context.hpp>
#include <troupe/dnn/operations/random/attributes.hpp>
#include <troupe/dnn/steps/steps.hpp>

namespace troupe::dnn::host {

/// A sequence of random numbers: the same numbers as those of generator.hpp, computed in vectors.
class random_sequence {
 public:
  random_sequence(const elementwise_kernel::sequence& s, const execution_context& on) noexcept;

  /// Computes the n numbers at the positions first, first + stride, ... of the sequence.
  void make(std::int64_t first, std::int64_t stride, float* to, std::int64_t n) const noexcept;
  void make(std::int64_t first, std::int64_t stride, double* to, std::int64_t n) const noexcept;

 private:
  random_kind kind_;
  std::uint64_t seed_, offset_;
  std::uint32_t limit_;  // see bernoulli_limit
};

}  // namespace troupe::dnn::host
