// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tests/adversary/worker/stage_page.hpp>

namespace adversary {

/// The page that the driver and the hostile workers share. Its file is private to this process.
class stage {
 public:
  explicit stage(std::uint64_t seed);
  ~stage();
  stage(const stage&) = delete;
  stage& operator=(const stage&) = delete;

  stage_page& page() const noexcept { return *page_; }
  const std::string& path() const noexcept { return path_; }
  /// Lets this worker attack, or all workers, or none.
  void set_attacker(std::int32_t who) noexcept;

 private:
  std::string path_;
  stage_page* page_ = nullptr;
};

/// While an object exists, opened devices have hostile workers.
class hostile_environment {
 public:
  hostile_environment(const stage& where, const char* strategy);
  ~hostile_environment();
  hostile_environment(const hostile_environment&) = delete;
};

}  // namespace adversary
