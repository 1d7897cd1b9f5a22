// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

/// Memory for OpenBLAS in a process whose memory is limited. OpenBLAS takes 128 MiB for each thread that computes, and
/// keeps them. If the system refuses, it tries for ever: its own threads as soon as it is loaded, others when they
/// first compute.
namespace troupe {

/// The number of host engines that use OpenBLAS: blas, matmul, cutlass and dnn. A worker may open all of them.
inline constexpr int openblas_engines = 4;

/// Returns for how many threads, up to `most`, the system has memory now; `most` if the memory is not limited.
int openblas_threads_with_memory(int most);

/// Returns the variable for the environment in which OpenBLAS is loaded: "OPENBLAS_NUM_THREADS=1". Empty if there is
/// memory for as many threads as OpenBLAS starts by itself, or if the user has set that variable.
std::string openblas_threads_setting();

}  // namespace troupe
