// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "stage.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <troupe/base/linux/futex.hpp>

namespace adversary {

stage::stage(std::uint64_t seed) {
  path_ = (std::filesystem::temp_directory_path() / "troupe-adversary-XXXXXX").string();
  const int fd = ::mkstemp(path_.data());
  void* at = MAP_FAILED;
  if (fd >= 0 && ::ftruncate(fd, sizeof(stage_page)) == 0)
    at = ::mmap(nullptr, sizeof(stage_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) std::perror(path_.c_str()), std::exit(2);
  ::close(fd);
  page_ = new (at) stage_page;
  page_->seed.store(seed);
  page_->application.store(::getpid());
}

stage::~stage() {
  ::unlink(path_.c_str());
  ::munmap(page_, sizeof(stage_page));
}

void stage::set_attacker(std::int32_t who) noexcept {
  page_->attacker.store(who);
  troupe::futex_wake(reinterpret_cast<const std::atomic<std::uint32_t>&>(page_->attacker), troupe::futex_scope::shared);
}

hostile_environment::hostile_environment(const stage& where, const char* strategy) {
  ::setenv(stage_variable, where.path().c_str(), 1);
  ::setenv(strategy_variable, strategy, 1);
  ::setenv("LD_PRELOAD", TROUPE_HOSTILE_WORKER, 1);
}
hostile_environment::~hostile_environment() {
  for (const char* name : {stage_variable, strategy_variable, "LD_PRELOAD"}) ::unsetenv(name);
}

}  // namespace adversary
