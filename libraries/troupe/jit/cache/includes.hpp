// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/jit/cache/manifest.hpp>
#include <troupe/jit/recipe.hpp>

namespace troupe::jit {

/// What a compile may have read.
struct read_files {
  manifest made_from;
  std::string why_unknown;  ///< nobody knows all of them; empty when all are in the manifest
};

/// Compilers do not tell where they looked and found nothing, and NVRTC not even what it reads. So the sources are
/// searched for what they could include, whatever conditions stand around it: all that is found, and all places where
/// something would have been found first. What only the compiler's own folders have is left out: it stands for itself.
/// `headers_in`: where headers in memory look for others beside them; empty: nowhere.
read_files files_a_compile_may_read(const recipe& r, const std::string& headers_in = {});

}  // namespace troupe::jit
