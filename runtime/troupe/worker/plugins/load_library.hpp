// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace troupe {

/// Loads a shared library, as ::dlopen does, with one more variable in the environment while it and what it needs are
/// loaded: `setting` is "NAME=VALUE", or empty for none.
///
/// The worker has threads, and with isolation::thread they are the application's, which may be reading the environment
/// at this moment: ::setenv would free what they read. So no memory of the environment is changed or freed here. A
/// copy, with the variable, takes its place, and afterwards the original takes it back. Where somebody has changed the
/// copy in between, it stays, so that no change is lost.
void* load_library(const char* path, int flags, const std::string& setting);
/// The same, and OpenBLAS, should it be loaded with this library, takes the right kernels: see openblas_kernels.hpp.
/// Where the process has loaded OpenBLAS already, nothing changes.
void* load_library(const char* path, int flags);

}  // namespace troupe
