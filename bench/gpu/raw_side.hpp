// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bench/measure.hpp>
#include <bench/raw/raw.hpp>

namespace troupe::bench {

/// The raw calls for the measured device, made by this process and thread. Declare it before the objects that it makes.
class raw_side {
 public:
  /// Loads the plug-in. Throws `bad_result` if there is none for this engine, or if it finds no such GPU.
  explicit raw_side(const settings& s);
  raw_gpu* operator->() const noexcept { return gpu_.get(); }

  /// The argument with which this program is started again to run a fault, which no process survives. Engine and
  /// ordinal follow.
  static constexpr std::string_view fault_argument = "--raw-fault";
  /// Runs the fault, in that other process: prints the nanoseconds until it is reported.
  static int fault(std::string_view engine, std::string_view ordinal);
  /// Returns the milliseconds from the launch of a kernel with a wild pointer until the driver reports the fault,
  /// measured in a separate process.
  static double milliseconds_to_fault(const settings& s);

 private:
  std::unique_ptr<raw_gpu> gpu_;
};

}  // namespace troupe::bench
