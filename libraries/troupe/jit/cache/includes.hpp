// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/jit/recipe.hpp>
#include <troupe/plan/manifest.hpp>

namespace troupe::jit {

/// The files that a compile may have read.
struct read_files {
  plan::manifest made_from;
  std::string why_unknown;  ///< why the list may be incomplete; empty if it is complete
};

/// Finds the files that a compile may have read. Compilers do not report where they searched in vain, and NVRTC does
/// not even report what it reads. The sources are therefore searched for everything that they could include, regardless
/// of conditions: the result has all files found, and all places that are searched before them. Headers in the
/// compiler's own folders are omitted, because the compiler's identity covers them. `headers_in` is the folder where
/// headers in memory search for headers beside them; empty: they do not.
read_files files_a_compile_may_read(const recipe& r, const std::string& headers_in = {});

}  // namespace troupe::jit
