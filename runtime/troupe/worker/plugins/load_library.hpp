// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace troupe {

/// Loads a shared library like ::dlopen, with more variables in the environment while the library and its dependencies
/// are loaded: each of `settings` is "NAME=VALUE", or empty for none.
///
/// Other threads, with isolation::thread those of the application, may be reading the environment, and ::setenv would
/// free memory that they read. So this function changes and frees no memory of the environment: it installs a copy that
/// has the variables, and later restores the original. If a thread has changed the copy meanwhile, the copy stays, so
/// that no change is lost.
void* load_library(const char* path, int flags, std::vector<std::string> settings);
/// Loads a shared library so that OpenBLAS, if it is loaded with it, uses the right kernels, no more threads than have
/// memory, and threads that sleep soon: see openblas_kernels.hpp and openblas_threads.hpp. Has no effect on an OpenBLAS
/// that the process has loaded already.
void* load_library(const char* path, int flags);

/// Makes later calls note the threads that a library starts while it is loaded as helpers, so that engines find them:
/// see library_helpers.hpp. For programs that are only a worker, because an application may use the library itself.
void note_helpers_of_libraries() noexcept;

}  // namespace troupe
