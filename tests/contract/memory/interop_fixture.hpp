// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tests of memory that is shared with code outside of the device: by descriptor, by address, by DLPack.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <troupe/base/complex.hpp>
#include <troupe/base/float4.hpp>
#include <troupe/device/sharing.hpp>
#include <troupe/interop/abi.hpp>
#include <troupe/interop/dlpack.hpp>
#include <troupe/memory/requests.hpp>

#include <tests/contract/harness.hpp>
#include "memory_of_others.hpp"

namespace troupe::whole::interop_tests {

using namespace testing_actor;

// Maps exported memory, as another program would.
class opened {
 public:
  explicit opened(const shared_memory& m) : bytes_(m.allocation_bytes), offset_(m.offset_bytes) {
    at_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, m.descriptor.get(), 0);
  }
  ~opened() { ::munmap(at_, bytes_); }
  opened(const opened&) = delete;
  explicit operator bool() const { return at_ != MAP_FAILED; }
  float* floats() const { return reinterpret_cast<float*>(static_cast<std::byte*>(at_) + offset_); }

 private:
  std::size_t bytes_, offset_;
  void* at_;
};

template <class F>
bool soon(F&& so) {
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (!so() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
  return so();
}

inline file_descriptor memory_with(std::size_t count, float first, int seals = F_SEAL_SHRINK | F_SEAL_GROW) {
  return memory_of_others(8192, counting(count, first), seals);
}

}  // namespace troupe::whole::interop_tests
