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

/// What a matrix product on the host engine reaches of the processor's peak, on one core. Of one, because a machine
/// that is busy, or has many cores, would tell more of itself than of the library.
struct speed_report {
  bool measured = false;
  std::string why;  ///< it was not; empty: nobody asked for it
  int threads = 0;  ///< that OpenBLAS uses
  std::int64_t n = 0;
  double flops = 0;  ///< per second: the best of some products of n x n matrices of double, asked of a device
                     ///< whose worker has one core
  arithmetic_peak peak;
  std::string kernels;  ///< as OpenBLAS calls them
  kernel_choice choice;

  /// 1: all of the peak; 0: not known.
  double share() const noexcept { return peak.flops > 0 ? flops / peak.flops : 0; }
  /// Less than half.
  bool is_slow() const noexcept { return measured && peak.flops > 0 && share() < 0.5; }
  /// Whether kernels are in use that leave a part of the processor unused.
  bool kernels_are_unfit() const noexcept { return !kernels.empty() && unfit(kernels, choice.processor); }
  /// What to do about either; empty: nothing.
  std::string remedy() const;
};

/// Takes from the notes of the engine how many threads and which kernels it uses.
void read_notes(speed_report& s, const std::vector<std::string>& notes);

/// Opens a device for it. Takes some tenths of a second.
speed_report measure_speed(const installation& here, const std::vector<std::string>& engine_folders,
                           const engine_report& blas);

}  // namespace troupe::apps
