// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/fft/cuda/kernel_arguments.hpp>
#include <troupe/fft/placement.hpp>

/// Converts positions of a transform's elements for our own kernels and for cuFFT.
namespace troupe::fft {

kernel_arguments::places in_kernel(const placement& p);

/// Returns true if cuFFT would write between the rows of `to`. It takes real rows that are 2 * (n / 2 + 1) elements
/// apart for rows of an in-place transform, and then also writes their padding.
bool writes_between_rows(const placement& to);

}  // namespace troupe::fft
