// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace troupe::numerics {

/// The device that an engine under test computes on. The host's does nothing; a program that links tests/numerics/cuda
/// has a GPU, which sees all memory that the test allocates at the test's own addresses.
class test_device {
 public:
  virtual ~test_device() = default;
  virtual void* context() = 0;
  virtual void* stream(std::uint32_t lane) = 0;
  /// Waits for everything that was enqueued. Returns what went wrong; empty if nothing did.
  virtual std::string finish(std::uint32_t lane) = 0;

  /// Returns null for the host.
  static test_device* here() { return instance; }

 protected:
  static inline test_device* instance = nullptr;
};

}  // namespace troupe::numerics
