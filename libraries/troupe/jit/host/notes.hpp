// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/jit/host/compile.hpp>

namespace troupe::jit {

/// Returns lines "key: value" for `troupe doctor`: the compiler of recipes that name none, where the cache is, and how
/// full it is.
std::string notes_of(const installation& at, const plan::disk_cache& cache);

}  // namespace troupe::jit
