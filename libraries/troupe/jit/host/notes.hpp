// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/jit/host/compile.hpp>

namespace troupe::jit {

/// Returns, for `troupe doctor`, a line "key: value" for each fact: the compiler of a recipe that names none, where the
/// cache is, and how full.
std::string notes_of(const installation& at, const plan::disk_cache& cache);

}  // namespace troupe::jit
