// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bench/measure.hpp>
#include <bench/raw/raw.hpp>

namespace troupe::bench {

/// The raw calls for the measured device, made by this process and this thread. Declare it before the objects that it
/// makes.
class raw_side {
 public:
  /// Throws `bad_result` if the plug-in for this engine is missing or finds no such GPU.
  explicit raw_side(const settings& s);
  raw_gpu* operator->() const noexcept { return gpu_.get(); }

  /// Argument with which this program is started again to run a fault, which no process survives; engine and ordinal
  /// follow.
  static constexpr std::string_view fault_argument = "--raw-fault";
  /// Runs in the other process: prints the nanoseconds.
  static int fault(std::string_view engine, std::string_view ordinal);
  /// Returns the milliseconds from the launch of a wild pointer until the driver reports it, measured in a separate
  /// process.
  static double milliseconds_to_fault(const settings& s);

 private:
  std::unique_ptr<raw_gpu> gpu_;
};

}  // namespace troupe::bench
