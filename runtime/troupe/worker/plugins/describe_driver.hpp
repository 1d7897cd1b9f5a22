// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>

namespace troupe {

/// Asks the NVIDIA driver, if there is one, which GPUs it shows: `troupe-worker --describe-driver`. It needs no engine
/// and nothing of CUDA while it is built; a program has a child process do it, as with engines. Lines again, each a key
/// and, after one blank, its value:
///
///   library /usr/lib/x86_64-linux-gnu/libcuda.so.580.82.07   what the loader found as libcuda.so.1
///   version 13000                                            of CUDA, as CUDA counts, that it supports
///   refused 100 CUDA_ERROR_NO_DEVICE (...)                   what cuInit answered, unless it succeeded
///   device 9.0 150754820096 0 NVIDIA H200                    one line for each: capability, bytes, compute mode, name
///   end                                                      always last
///
/// or, where there is no such library, or it is none:
///   unloadable <why>
///
/// True when it shows a GPU.
bool describe_driver(std::FILE* out);

}  // namespace troupe
