// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bench/measure.hpp>
#include <bench/raw/raw.hpp>

namespace troupe::bench {

/// The raw calls for the device that is measured, made by this process and this thread. Declare it before what it
/// makes.
class raw_side {
 public:
  /// Throws `bad_result` where the plug-in for this engine is missing, or finds no such GPU.
  explicit raw_side(const settings& s);
  raw_gpu* operator->() const noexcept { return gpu_.get(); }

  /// This program is started again with it for a fault, which no process survives: followed by engine and ordinal.
  static constexpr std::string_view fault_argument = "--raw-fault";
  /// What that other process runs: says the nanoseconds.
  static int fault(std::string_view engine, std::string_view ordinal);
  /// From the launch of a wild pointer to the driver's word for it, in milliseconds, in a process of its own.
  static double milliseconds_to_fault(const settings& s);

 private:
  std::unique_ptr<raw_gpu> gpu_;
};

}  // namespace troupe::bench
