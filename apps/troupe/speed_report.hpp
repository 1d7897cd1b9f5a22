// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/cli/installation.hpp>
#include <apps/cli/peak.hpp>
#include <apps/troupe/engine_report.hpp>
#include <cstdint>
#include <string>
#include <troupe/worker/plugins/openblas_kernels.hpp>
#include <vector>

namespace troupe::apps {

/// The share of the processor's peak that a matrix product on the host engine reaches, on one core. On more cores, the
/// result would depend on the machine's load as much as on the library.
struct speed_report {
  bool measured = false;
  std::string why;  ///< why the speed was not measured; empty if that was not requested
  int threads = 0;  ///< threads of OpenBLAS
  std::int64_t n = 0;
  /// Operations per second: the best of several products of n x n matrices of double, on a device whose worker has one
  /// core.
  double flops = 0;
  arithmetic_peak peak;
  std::string kernels;  ///< OpenBLAS's name for them
  kernel_choice choice;

  /// Returns the share: 1 for all of the peak; 0 if unknown.
  double share() const noexcept { return peak.flops > 0 ? flops / peak.flops : 0; }
  /// Returns true if the share is less than half.
  bool is_slow() const noexcept { return measured && peak.flops > 0 && share() < 0.5; }
  /// Returns true if the kernels in use leave a part of the processor unused.
  bool kernels_are_unfit() const noexcept { return !kernels.empty() && unfit(kernels, choice.processor); }
  /// Returns what to do if the product is slow or the kernels do not fit; otherwise an empty text.
  std::string remedy() const;
};

/// Reads the number of threads and the names of the kernels from the engine's notes.
void read_notes(speed_report& s, const std::vector<std::string>& notes);

/// Measures the speed on a device that it opens for that. Takes some tenths of a second.
speed_report measure_speed(const installation& here, const std::vector<std::string>& engine_folders,
                           const engine_report& blas);

}  // namespace troupe::apps
