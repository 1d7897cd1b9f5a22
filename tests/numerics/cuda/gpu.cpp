// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A GPU for tests that do not mention one: everything allocated by `new`, including vectors, comes from memory that
// the GPU sees at the same addresses. Without a GPU the program ends with an error, so that such tests never pass by
// being skipped.
#include <cuda.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <tests/numerics/device.hpp>

namespace {

// Blocks by size, in powers of two; freed blocks are reused. Good enough for tests.
class pinned_heap {
 public:
  void* take(std::size_t bytes) {
    const int c = class_of(bytes);
    if (opening) return std::malloc(bytes);  // the driver's own allocations
    const std::scoped_lock guard(lock_);
    if (begin_ == nullptr) open();
    if (void* p = free_[c]) {
      free_[c] = *static_cast<void**>(p);
      return p;
    }
    const std::size_t size = std::size_t{1} << c;
    const std::size_t at = (used_ + size - 1) / size * size;  // aligned to its size
    if (at + size > total) return nullptr;
    used_ = at + size;
    sizes_[at >> least] = static_cast<unsigned char>(c);
    return begin_ + at;
  }
  void give(void* p) noexcept {
    if (p == nullptr) return;
    if (begin_ == nullptr || p < begin_ || p >= begin_ + total) return std::free(p);
    const std::scoped_lock guard(lock_);
    const int c = sizes_[static_cast<std::size_t>(static_cast<char*>(p) - begin_) >> least];
    *static_cast<void**>(p) = free_[c];
    free_[c] = p;
  }

 private:
  static constexpr std::size_t total = std::size_t{1} << 30;
  static constexpr int least = 6;
  static int class_of(std::size_t bytes) {
    int c = least;
    while ((std::size_t{1} << c) < bytes) ++c;
    return c;
  }
  static void must(CUresult r, const char* call) {
    if (r == CUDA_SUCCESS) return;
    const char* name = nullptr;
    (void)cuGetErrorName(r, &name);
    std::fprintf(stderr, "this test needs a GPU: %s: %s\n", call, name ? name : "?");
    std::_Exit(1);
  }
  void open() {
    opening = true;
    must(cuInit(0), "cuInit");
    CUdevice d = 0;
    must(cuDeviceGet(&d, 0), "cuDeviceGet");
    CUcontext c = nullptr;
    must(cuDevicePrimaryCtxRetain(&c, d), "cuDevicePrimaryCtxRetain");
    must(cuCtxSetCurrent(c), "cuCtxSetCurrent");
    void* p = nullptr;
    must(cuMemHostAlloc(&p, total, CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE), "cuMemHostAlloc");
    begin_ = static_cast<char*>(p);
    sizes_ = static_cast<unsigned char*>(std::calloc(total >> least, 1));
    opening = false;
  }

  static inline thread_local bool opening = false;
  std::mutex lock_;
  char* begin_ = nullptr;
  unsigned char* sizes_ = nullptr;
  std::size_t used_ = 0;
  std::array<void*, 64> free_{};
};

pinned_heap& heap() {
  alignas(pinned_heap) static char room[sizeof(pinned_heap)];
  static pinned_heap* const one = new (room) pinned_heap;
  return *one;
}

void* take(std::size_t bytes, std::size_t alignment = 1) {
  void* const p = heap().take(bytes < alignment ? alignment : bytes);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

class gpu final : public troupe::numerics::test_device {
 public:
  gpu() {
    delete new int;  // opens the GPU
    instance = this;
  }
  void* context() override {
    CUcontext c = nullptr;
    (void)cuCtxGetCurrent(&c);
    return c;
  }
  void* stream(std::uint32_t lane) override {
    enter();
    const std::scoped_lock guard(lock_);
    CUstream& s = streams_.at(lane);
    if (s == nullptr) (void)cuStreamCreate(&s, CU_STREAM_NON_BLOCKING);
    return s;
  }
  std::string finish(std::uint32_t lane) override {
    const CUresult r = cuStreamSynchronize(static_cast<CUstream>(stream(lane)));
    const char* name = nullptr;
    if (r != CUDA_SUCCESS) (void)cuGetErrorName(r, &name);
    return name != nullptr ? name : "";
  }

 private:
  void enter() {
    CUcontext c = nullptr;
    (void)cuCtxGetCurrent(&c);
    if (c == nullptr) {
      (void)cuDevicePrimaryCtxRetain(&c, 0);
      (void)cuCtxSetCurrent(c);
    }
  }
  std::mutex lock_;
  std::array<CUstream, 16> streams_{};
} the_gpu;

}  // namespace

void* operator new(std::size_t bytes) { return take(bytes); }
void* operator new[](std::size_t bytes) { return take(bytes); }
void* operator new(std::size_t bytes, std::align_val_t a) { return take(bytes, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t bytes, std::align_val_t a) { return take(bytes, static_cast<std::size_t>(a)); }
void operator delete(void* p) noexcept { heap().give(p); }
void operator delete[](void* p) noexcept { heap().give(p); }
void operator delete(void* p, std::size_t) noexcept { heap().give(p); }
void operator delete[](void* p, std::size_t) noexcept { heap().give(p); }
void operator delete(void* p, std::align_val_t) noexcept { heap().give(p); }
void operator delete[](void* p, std::align_val_t) noexcept { heap().give(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { heap().give(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { heap().give(p); }
