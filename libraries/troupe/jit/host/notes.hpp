// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/jit/host/compile.hpp>

namespace troupe::jit {

/// For `troupe doctor`, a line of the form "key: value" for each fact: the compiler that a recipe gets which names
/// none, where the cache is, and how full.
std::string notes_of(const installation& at, const disk_cache& cache);

}  // namespace troupe::jit
