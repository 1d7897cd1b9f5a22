// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <troupe/cuda_on_host/internal/fiber_stacks.hpp>

namespace troupe::cuda_on_host {

namespace {

constexpr std::size_t guard_bytes = 4096;
constexpr int guard_install = 102;  // MADV_GUARD_INSTALL, since Linux 6.13: a guard page without a mapping of its own

bool guard(char* at) noexcept {
  return ::madvise(at, guard_bytes, guard_install) == 0 || ::mprotect(at, guard_bytes, PROT_NONE) == 0;
}

}  // namespace

fiber_stacks::~fiber_stacks() {
  for (char* region : regions_) ::munmap(region, per_region * bytes_each);
}

bool fiber_stacks::reserve(std::size_t count) noexcept {
  while (regions_.size() * per_region < count) {
    void* region = ::mmap(nullptr, per_region * bytes_each, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (region == MAP_FAILED) return false;
    for (std::size_t i = 0; i < per_region; ++i)
      if (!guard(static_cast<char*>(region) + i * bytes_each)) {
        ::munmap(region, per_region * bytes_each);
        return false;
      }
    regions_.push_back(static_cast<char*>(region));
  }
  return true;
}

fiber_stacks::stack fiber_stacks::operator[](std::size_t i) const noexcept {
  char* slot = regions_[i / per_region] + i % per_region * bytes_each;
  const std::size_t stagger = i * 5 % 60 * 64;
  return {slot + guard_bytes, bytes_each - guard_bytes - stagger};
}

}  // namespace troupe::cuda_on_host
