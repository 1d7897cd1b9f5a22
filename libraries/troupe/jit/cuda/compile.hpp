// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/jit/cache/compile_deadline.hpp>
#include <troupe/jit/cache/compiled.hpp>
#include <troupe/jit/cuda/nvrtc/nvrtc.hpp>

namespace troupe::jit {

/// Returns the compiler for a recipe and a GPU. Refuses recipes that NVRTC does not support.
result<compiler> compiler_for(const nvrtc& with, const recipe& r, capability gpu);

/// Compiles for the compiler's architecture. The names of the source's kernels and globals are appended to the image.
compiled compile(const nvrtc& with, const compiler& c, const recipe& r, const compile_deadline& how_long);

}  // namespace troupe::jit
