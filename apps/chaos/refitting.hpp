// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/chaos/answers.hpp>
#include <optional>
#include <thread>
#include <troupe/cutlass/weights.hpp>
#include <vector>

namespace chaos {

/// Counts of what a refitter has done.
struct refit_counts {
  std::uint64_t refits = 0;    ///< complete replacements of the weights
  std::uint64_t products = 0;  ///< products with the weights of one refit, whose results were compared
  std::uint64_t plans = 0;     ///< plans that were measured
};

/// Replaces the weights of matrix products while other threads multiply with them and measure plans for them. Each
/// product must use the weights of a single refit: one that was in force when the product was sent, or that came into
/// force later.
class refitter {
 public:
  /// Makes the first refit, and compiles the kernels with which plans are measured, before there are faults.
  refitter(const troupe::device& gpu, answers& to, std::uint64_t seed);
  /// Calls stop().
  ~refitter();
  refitter(const refitter&) = delete;

  /// Starts threads that refit, multiply and measure.
  void start();
  void stop();
  refit_counts counts() const noexcept { return {refits_.load(), products_.load(), plans_.load()}; }

 private:
  void refit();
  void multiply(std::uint64_t seed);
  void measure(std::uint64_t seed);
  void measure_for(std::int64_t rows);
  bool goes_on() const;

  troupe::device gpu_;
  answers& answers_;
  const std::uint64_t seed_;
  std::optional<troupe::cutlass::weights> weights_;
  /// The value of all weights: of the newest complete refit, and of the newest refit that has begun.
  std::atomic<int> newest_{0}, begun_{0};
  std::atomic<bool> over_{false};
  std::atomic<std::uint64_t> refits_{0}, products_{0}, plans_{0};
  std::vector<std::thread> threads_;
};

}  // namespace chaos
