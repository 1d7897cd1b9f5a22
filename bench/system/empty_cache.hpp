// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bench/system/temporary_folder.hpp>
#include <cstdlib>
#include <string>

namespace troupe::bench {

/// Sets TROUPE_CACHE to an empty folder, for the workers that start during its lifetime.
class empty_cache {
 public:
  empty_cache() {
    if (const char* const set = std::getenv(name)) before_ = set;
    ::setenv(name, folder_.path().c_str(), 1);
  }
  ~empty_cache() { before_.empty() ? ::unsetenv(name) : ::setenv(name, before_.c_str(), 1); }
  empty_cache(const empty_cache&) = delete;
  empty_cache& operator=(const empty_cache&) = delete;

 private:
  static constexpr const char* name = "TROUPE_CACHE";
  temporary_folder folder_;
  std::string before_;
};

}  // namespace troupe::bench
