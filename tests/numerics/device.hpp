// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace troupe::numerics {

/// What an engine under test computes on. The host's is nothing at all; a program that is linked with
/// tests/numerics/cuda has a GPU, which sees all memory that the test allocates at the test's own addresses.
class test_device {
 public:
  virtual ~test_device() = default;
  virtual void* context() = 0;
  virtual void* stream(std::uint32_t lane) = 0;
  /// Waits for what was enqueued. What went wrong; empty when nothing did.
  virtual std::string finish(std::uint32_t lane) = 0;

  /// Null: the host.
  static test_device* here() { return instance; }

 protected:
  static inline test_device* instance = nullptr;
};

}  // namespace troupe::numerics
