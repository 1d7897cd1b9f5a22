// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/chaos/answers.hpp>
#include <apps/chaos/refitting.hpp>
#include <apps/chaos/training.hpp>
#include <memory>
#include <thread>
#include <vector>

namespace chaos {

struct load {
  int clients = 4;
  std::uint64_t seed = 1;
  /// Sends requests that reply by value instead of through memory. Must be false if shared memory is overwritten: see
  /// docs/faults.md.
  bool numbers = true;
  bool blas = true, fft = true, jit = true;  ///< use these libraries if the device has them
  /// Sends kernels that write to sealed memory from time to time, which must not change.
  bool wild_writes = true;
  /// Trains a network at the same time, if the device has dnn: see `trainer`.
  bool training = false;
  /// Replaces weights of products and measures plans at the same time, if the device has cutlass: see `refitter`.
  bool refitting = false;
};

/// Clients that continuously send computations with known results and check every answer. In each round, a client
/// queues a few computations and checks their final results; some of them use memory that was written long before.
class workload {
 public:
  workload(const troupe::device& gpu, const load& l, answers& to);
  /// Waits until every request has been answered.
  ~workload();
  workload(const workload&) = delete;
  void stop();

  /// Returns the libraries in use: "memory, blas, fft, jit, dnn, cutlass".
  const std::string& libraries() const noexcept { return libraries_; }
  training_counts trained() const { return trainer_ ? trainer_->counts() : training_counts(); }
  refit_counts refitted() const { return refitter_ ? refitter_->counts() : refit_counts(); }

 private:
  bool has_blas() const;
  bool has_fft() const;
  bool has_jit() const;
  bool has_faults() const;
  bool has_dnn() const;
  bool has_cutlass() const;

  troupe::device gpu_;
  load load_;
  answers& answers_;
  std::string libraries_ = "memory";
  std::atomic<bool> over_{false};
  std::vector<std::thread> threads_;
  std::unique_ptr<trainer> trainer_;
  std::unique_ptr<refitter> refitter_;
};

}  // namespace chaos
