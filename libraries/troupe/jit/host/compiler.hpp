// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <troupe/base/result.hpp>
#include <troupe/base/time_span.hpp>
#include <troupe/jit/cache/compiled.hpp>
#include <troupe/jit/cache/disk_cache.hpp>

namespace troupe::jit {

/// Refuses what the host engine has no use for.
result<void> check_for_host(const recipe& r);

/// The recipe's, else TROUPE_CXX, else the first of c++, g++ and clang++ in PATH. `unsupported` names the package to
/// install. The path only: it does not run.
result<std::string> find_compiler(const recipe& r);

/// Which compilers there are. What stands at a path may be a wrapper, such as ccache: so a compiler is asked for its
/// version and for the programs that do the work, and is another one when any of them has changed. Thread safe.
class known_compilers {
 public:
  /// Asks, unless that is known of these very files, here or in `cache`, which may be null. One that has
  /// not answered in time is none.
  result<compiler> identify(const std::string& keeper, const std::string& path, disk_cache* cache,
                            time_span patience = time_span::of_seconds(10));

 private:
  struct known {
    std::string version;
    manifest programs;
  };
  static result<known> ask(const std::string& keeper, const std::string& path, time_span patience);

  std::mutex lock_;
  std::map<std::string, known> known_;
};

/// Model and abilities of this machine's processor: code is compiled for it.
const std::string& processor_identity();

}  // namespace troupe::jit
