// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

/// The threads of OpenBLAS in a worker.
///
/// OpenBLAS takes 128 MiB for each thread that computes, and keeps them. If the system refuses, it tries for ever: its
/// own threads as soon as it is loaded, others when they first compute.
///
/// Between two products its own threads wait in a loop of ::sched_yield before they sleep, for 2^26 ticks of the
/// processor's clock by default: 20 to 30 ms. With two workers on two cores, those loops keep threads that have work
/// from the processor, under Linux 6.18 for seconds: even a killed worker does not end.
namespace troupe {

/// The number of host engines that use OpenBLAS: blas, matmul, cutlass and dnn. A worker may open all of them.
inline constexpr int openblas_engines = 4;

/// Returns for how many threads, up to `most`, the system has memory now; `most` if the memory is not limited.
int openblas_threads_with_memory(int most);

/// Returns variables for the environment in which OpenBLAS is loaded, without those that the user has set:
/// "OPENBLAS_NUM_THREADS=1" if there is not memory for as many threads as OpenBLAS starts by itself, and
/// "OPENBLAS_THREAD_TIMEOUT=20", so that its threads sleep after 2^20 ticks, about 0.4 ms. To wake them then takes some
/// 30 microseconds.
std::vector<std::string> openblas_thread_settings();

}  // namespace troupe
