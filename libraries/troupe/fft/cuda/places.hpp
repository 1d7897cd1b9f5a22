// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/fft/cuda/kernel_arguments.hpp>
#include <troupe/fft/placement.hpp>

/// Where the elements of transforms lie, for our own kernels and for cuFFT.
namespace troupe::fft {

kernel_arguments::places in_kernel(const placement& p);

/// cuFFT takes real rows that are n / 2 + 1 complex elements long for those of a transform in place, and writes what
/// lies between them too.
bool writes_between_rows(const placement& to);

}  // namespace troupe::fft
