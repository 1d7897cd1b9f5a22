// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/cli/installation.hpp>
#include <apps/cli/machine.hpp>
#include <apps/cli/terminal.hpp>
#include <apps/troupe/engine_report.hpp>
#include <apps/troupe/gpu_report.hpp>
#include <apps/troupe/speed_report.hpp>
#include <span>
#include <string>
#include <troupe/runtime/engine_choice.hpp>
#include <troupe/worker/process/confinement.hpp>
#include <vector>

namespace troupe::apps {

/// The result of opening a host device, sending requests to it, and closing it.
struct service_report {
  bool serves = false;
  std::string why;  ///< why the device does not serve
  double ready_s = 0, round_trip_s = 0, close_s = 0;
  std::uint64_t memory_bytes = 0;  ///< memory that the device may allocate
};

/// An engine of this version of Troupe that is built only if a vendor's headers are installed.
struct optional_engine {
  const char *library, *name, *package;
  /// Returns what was missing when Troupe was built, and how to install it.
  std::string text() const;
};
/// Returns the engines that were left out when this installation was built. Returns none if it has no engines at all,
/// because that has another reason.
std::vector<optional_engine> left_out(const std::vector<engine_report>& engines);

struct doctor_report {
  installation here;
  std::string library;  ///< the only library to check; empty: all
  engine_choice opens;  ///< the engine of the device that open_device() opens
  service_report service;
  machine_report machine;
  confinement_support confinement;
  gpu_report gpu;
  std::vector<engine_report> engines;
  std::vector<optional_engine> left_out;
  speed_report speed;
  std::string reason;  ///< why the exit code is 1; empty if it is 0
  double seconds = 0;
};

struct doctor_settings {
  std::string library;
  std::vector<std::string> engine_folders;  ///< folders that are searched before those of the installation
};

doctor_report examine(const doctor_settings& settings);

std::string doctor_text(const doctor_report& r, const terminal& t);
std::string doctor_json(const doctor_report& r);

/// Returns the command that installs a package on this system, or a description of what to do.
std::string install_command(const std::string& package);

/// Runs `troupe doctor`. `arguments` are those after the command. Returns the exit code.
int doctor_command(std::span<const char* const> arguments);

}  // namespace troupe::apps
