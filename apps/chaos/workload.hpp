// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/chaos/answers.hpp>
#include <thread>
#include <vector>

namespace chaos {

struct load {
  int clients = 4;
  std::uint64_t seed = 1;
  /// Some questions are answered by a number instead of memory. Not where shared memory is overwritten: see
  /// docs/faults.md.
  bool numbers = true;
  bool blas = true, fft = true, jit = true;  ///< where the device has them
  /// Now and then a kernel writes where it should not: into memory that is sealed, which must stay as it is.
  bool wild_writes = true;
};

/// Clients that ask a device for what can be computed beforehand, all the time, and judge every answer. Each queues a
/// few computations as a whole and looks once, at their ends; among them are such that use memory written long ago.
class workload {
 public:
  workload(const troupe::device& gpu, const load& l, answers& to);
  /// Waits until every question is answered.
  ~workload();
  workload(const workload&) = delete;
  void stop();

  /// "memory, blas, fft, jit": whose operations take part.
  const std::string& libraries() const noexcept { return libraries_; }

 private:
  bool has_blas() const;
  bool has_fft() const;
  bool has_jit() const;
  bool has_faults() const;

  troupe::device gpu_;
  load load_;
  answers& answers_;
  std::string libraries_ = "memory";
  std::atomic<bool> over_{false};
  std::vector<std::thread> threads_;
};

}  // namespace chaos
