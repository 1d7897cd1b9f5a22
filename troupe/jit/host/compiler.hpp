// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/base/result.hpp>
#include <troupe/base/time_span.hpp>
#include <troupe/jit/host/disk_cache.hpp>
#include <troupe/jit/recipe.hpp>

namespace troupe::jit {

/// The system's compiler.
struct compiler {
  std::string path;          ///< to run
  std::string identity;      ///< file, size, time and version: part of every key
  std::string version = {};  ///< the first line of what it says of itself
};

/// Refuses what the host engine has no use for.
result<void> check_for_host(const recipe& r);

/// The recipe's, else TROUPE_CXX, else the first of c++, g++ and clang++ in PATH. `unsupported` names the package to
/// install. The path only: it does not run.
result<std::string> find_compiler(const recipe& r);

/// Asks the compiler for its version, unless `cache` (may be null) knows what this very file said.
result<compiler> identify(const std::string& keeper, const std::string& path, disk_cache* cache,
                          time_span patience = time_span::of_seconds(10));

/// Model and abilities of this machine's processor: code is compiled for it.
const std::string& processor_identity();

}  // namespace troupe::jit
