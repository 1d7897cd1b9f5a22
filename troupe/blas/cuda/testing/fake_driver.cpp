// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda.h>
#include <pthread.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "fakes.hpp"
#include "kernels_on_host.hpp"

namespace troupe::blas::testing {
namespace {

std::mutex mutex;
std::map<std::uintptr_t, std::size_t> pinned;

// What was enqueued and has not run: nothing, unless launches are held back. Events are the numbers of what came
// before.
bool held_back = false;
std::deque<std::function<void()>> waiting;
std::uint64_t enqueued = 0, passed = 0;

void pass(std::uint64_t number) {
  for (; passed < number; ++passed) {
    waiting.front()();
    waiting.pop_front();
  }
}

CUresult allocate(void** out, std::size_t bytes) {
  *out = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (*out == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  std::memset(*out, 0xff, bytes);
  return CUDA_SUCCESS;
}

}  // namespace

void wrong(const char* what) {
  std::fprintf(stderr, "a GPU would go wrong: %s\n", what);
  std::abort();
}
bool is_pinned(const void* address) {
  const std::lock_guard lock(mutex);
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  auto next = pinned.upper_bound(at);
  return next != pinned.begin() && at < std::prev(next)->first + std::prev(next)->second;
}
bool is_on_this_stack(const void* address) {
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return false;
  void* lowest = nullptr;
  std::size_t bytes = 0;
  ::pthread_attr_getstack(&attributes, &lowest, &bytes);
  ::pthread_attr_destroy(&attributes);
  const auto at = reinterpret_cast<std::uintptr_t>(address), low = reinterpret_cast<std::uintptr_t>(lowest);
  return at >= low && at < low + bytes;
}

}  // namespace troupe::blas::testing

using namespace troupe::blas::testing;

extern "C" {

CUresult cuGetErrorName(CUresult, const char** out) { return *out = "CUDA_ERROR", CUDA_SUCCESS; }
CUresult cuGetErrorString(CUresult, const char** out) { return *out = "an error", CUDA_SUCCESS; }

CUresult cuMemHostAlloc(void** out, std::size_t bytes, unsigned) {
  if (const CUresult r = allocate(out, bytes); r != CUDA_SUCCESS) return r;
  const std::lock_guard lock(mutex);
  pinned[reinterpret_cast<std::uintptr_t>(*out)] = bytes;
  return CUDA_SUCCESS;
}
CUresult cuMemFreeHost(void* memory) {
  const std::lock_guard lock(mutex);
  pinned.erase(reinterpret_cast<std::uintptr_t>(memory));
  std::free(memory);
  return CUDA_SUCCESS;
}
CUresult cuMemAlloc(CUdeviceptr* out, std::size_t bytes) {
  void* memory = nullptr;
  const CUresult r = allocate(&memory, bytes);
  *out = reinterpret_cast<CUdeviceptr>(memory);
  return r;
}
CUresult cuMemFree(CUdeviceptr memory) {
  std::free(reinterpret_cast<void*>(memory));
  return CUDA_SUCCESS;
}
CUresult cuMemAllocAsync(CUdeviceptr* out, std::size_t bytes, CUstream) { return cuMemAlloc(out, bytes); }
CUresult cuMemFreeAsync(CUdeviceptr memory, CUstream) { return cuMemFree(memory); }
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream) {
  for (std::size_t i = 0; i < count; ++i) reinterpret_cast<unsigned*>(to)[i] = value;
  return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent* out, unsigned) {
  *out = reinterpret_cast<CUevent>(new std::uint64_t(0));
  return CUDA_SUCCESS;
}
CUresult cuEventDestroy(CUevent event) {
  delete reinterpret_cast<std::uint64_t*>(event);
  return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent event, CUstream) {
  *reinterpret_cast<std::uint64_t*>(event) = enqueued;
  return CUDA_SUCCESS;
}
CUresult cuEventSynchronize(CUevent event) {
  pass(*reinterpret_cast<std::uint64_t*>(event));
  return CUDA_SUCCESS;
}
CUresult cuStreamQuery(CUstream) {
  if (capture_status == CU_STREAM_CAPTURE_STATUS_NONE) return static_cast<CUresult>(stream_state);
  capture_status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}
CUresult cuStreamIsCapturing(CUstream, CUstreamCaptureStatus* out) {
  if (stream_state != CUDA_SUCCESS && stream_state != CUDA_ERROR_NOT_READY) return static_cast<CUresult>(stream_state);
  *out = static_cast<CUstreamCaptureStatus>(capture_status);
  return CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary* out, const void*, CUjit_option*, void**, unsigned, CUlibraryOption*, void**,
                           unsigned) {
  *out = reinterpret_cast<CUlibrary>(const_cast<host_kernel*>(host_kernels().data()));
  return CUDA_SUCCESS;
}
CUresult cuLibraryUnload(CUlibrary) { return CUDA_SUCCESS; }
CUresult cuLibraryGetKernelCount(unsigned* out, CUlibrary) {
  *out = static_cast<unsigned>(host_kernels().size());
  return CUDA_SUCCESS;
}
CUresult cuLibraryEnumerateKernels(CUkernel* out, unsigned count, CUlibrary) {
  for (unsigned i = 0; i < count; ++i)
    out[i] = reinterpret_cast<CUkernel>(const_cast<host_kernel*>(&host_kernels()[i]));
  return CUDA_SUCCESS;
}
CUresult cuKernelGetName(const char** out, CUkernel kernel) {
  *out = reinterpret_cast<const host_kernel*>(kernel)->name;
  return CUDA_SUCCESS;
}
CUresult cuLaunchKernel(CUfunction kernel, unsigned bx, unsigned by, unsigned bz, unsigned tx, unsigned ty, unsigned tz,
                        unsigned, CUstream, void** parameters, void**) {
  if (by > 65535 || bz > 65535 || tx * ty * tz > 1024 || bx * by * bz * tx * ty * tz == 0)
    return CUDA_ERROR_INVALID_VALUE;
  const auto& what = *reinterpret_cast<const host_kernel*>(kernel);
  if (!held_back) {
    run_on_host(what, {bx, by, bz}, {tx, ty, tz}, parameters[0]);
    return CUDA_SUCCESS;
  }
  const auto* const first = static_cast<const std::byte*>(parameters[0]);
  waiting.emplace_back([&what, bx, by, bz, tx, ty, tz, copy = std::vector(first, first + what.argument_bytes)] {
    run_on_host(what, {bx, by, bz}, {tx, ty, tz}, copy.data());
  });
  ++enqueued;
  return CUDA_SUCCESS;
}

// For tests: see next_answer.
__attribute__((visibility("default"))) void troupe_fake_gpu_answer(int cublas, int stream) {
  next_answer = cublas;
  stream_state = stream;
}
// For tests: whether the stream records from now on; answers whether it did.
__attribute__((visibility("default"))) int troupe_fake_gpu_captures(int status) {
  return std::exchange(capture_status, status);
}
// For tests: memory as a graph keeps it for what it records.
__attribute__((visibility("default"))) void* troupe_fake_gpu_pinned(std::size_t bytes) {
  void* out = nullptr;
  return ::cuMemHostAlloc(&out, bytes, 0) == CUDA_SUCCESS ? out : nullptr;
}
// For tests: what our kernels do waits until it must run. Only from one thread, and with none of cuBLAS's calls.
__attribute__((visibility("default"))) void troupe_fake_gpu_hold_back() { held_back = true; }
__attribute__((visibility("default"))) void troupe_fake_gpu_go_on() {
  held_back = false;
  pass(enqueued);
}

}  // extern "C"
