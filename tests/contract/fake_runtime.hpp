// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "harness.hpp"

namespace troupe::whole {

/// A folder with a fake worker, which is removed at the end.
class fake_runtime {
 public:
  fake_runtime() {
    char name[] = "/tmp/troupe-fake-XXXXXX";
    path_ = ::mkdtemp(name);
  }
  ~fake_runtime() { std::filesystem::remove_all(path_); }
  fake_runtime(const fake_runtime&) = delete;

  std::string folder() const { return path_; }
  std::string program() const { return path_ + "/troupe-worker"; }
  /// Sets what the fake worker does instead of serving: see tests/engines/fake_worker.cpp.
  void behave(const std::string& mode) const {
    std::filesystem::create_symlink(path_of("TROUPE_FAKE_WORKER", TROUPE_FAKE_WORKER), program());
    std::ofstream(path_ + "/mode") << mode << "\n";
  }

 private:
  std::string path_;
};

}  // namespace troupe::whole
