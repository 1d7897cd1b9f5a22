// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/jit/cache/compile_deadline.hpp>
#include <troupe/jit/cache/compiled.hpp>
#include <troupe/jit/host/compiler.hpp>

namespace troupe::jit {

/// The paths of the engine's files.
struct installation {
  std::string compiler_guard;  ///< path of troupe-compiler-guard
  std::string cuda_folder;     ///< folder of the headers that replace CUDA's
};

/// Preprocesses, translates and compiles a recipe.
compiled compile(const installation& at, const compiler& with, const recipe& r, const compile_deadline& how_long);

}  // namespace troupe::jit
