// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/jit/cache/compile_deadline.hpp>
#include <troupe/jit/cache/compiled.hpp>
#include <troupe/jit/cuda/nvrtc.hpp>

namespace troupe::jit {

/// What an engine with NVRTC makes code for and with; refuses what it has no use for.
result<compiler> compiler_for(const nvrtc& with, const recipe& r, capability gpu);

/// Compiles for the compiler's architecture. The image has the names of the source behind it.
compiled compile(const nvrtc& with, const compiler& c, const recipe& r, const compile_deadline& how_long);

}  // namespace troupe::jit
