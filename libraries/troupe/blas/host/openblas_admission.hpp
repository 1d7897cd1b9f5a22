// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <troupe/base/result.hpp>

namespace troupe::blas {

/// Admits requests of a host engine to OpenBLAS, which tries for ever if there is no memory for a thread that computes:
/// see openblas_threads.hpp. If the worker's memory is limited and may not suffice for all threads of all engines, the
/// requests of this engine compute one after another; otherwise all are admitted at once.
class openblas_admission {
 public:
  /// Fails if there is no memory for a single thread. `lanes` is the number of requests that the worker runs at once.
  static result<openblas_admission> make(const std::string& library, std::uint32_t lanes);

  /// Waits until the caller may use OpenBLAS. The caller may as long as the result exists.
  [[nodiscard]] std::unique_lock<std::mutex> enter() const {
    return turns_ ? std::unique_lock(*turns_) : std::unique_lock<std::mutex>();
  }
  bool is_limited() const noexcept { return turns_ != nullptr; }
  /// Describes the threads for an engine's notes: "threads: 8".
  std::string threads_text() const;

 private:
  std::unique_ptr<std::mutex> turns_;  // null if all are admitted
};

}  // namespace troupe::blas
