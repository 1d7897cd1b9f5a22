// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <troupe/base/result.hpp>
#include <troupe/base/time_span.hpp>
#include <troupe/jit/cache/compiled.hpp>
#include <troupe/plan/disk_cache.hpp>

namespace troupe::jit {

/// Refuses recipes that the host engine does not support.
result<void> check_for_host(const recipe& r);

/// Returns the path of the recipe's compiler; if it names none, of TROUPE_CXX; if that is not set, of the first of c++,
/// g++ and clang++ in PATH. The `unsupported` error names the package to install. Does not run the compiler.
result<std::string> find_compiler(const recipe& r);

/// Identifies compilers. A path may lead to a wrapper, such as ccache, so a compiler is asked for its version and for
/// the programs that do its work; its identity changes when any of these changes. Thread-safe.
class known_compilers {
 public:
  /// Runs the compiler to ask for its version and programs, unless the answer for the unchanged files is known here or
  /// in `cache`, which may be null. A compiler that does not answer in time is refused.
  result<compiler> identify(const std::string& compiler_guard, const std::string& path, plan::disk_cache* cache,
                            time_span timeout = time_span::of_seconds(10));

 private:
  struct known {
    std::string version;
    plan::manifest programs;
  };
  static result<known> ask(const std::string& compiler_guard, const std::string& path, time_span timeout);

  std::mutex lock_;
  std::map<std::string, known> known_;
};

/// Returns the model and features of this machine's processor, for which code is compiled.
const std::string& processor_identity();

}  // namespace troupe::jit
