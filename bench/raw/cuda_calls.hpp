// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <algorithm>
#include <bench/raw/raw.hpp>
#include <string>
#include <troupe/base/result.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/cuda/errors.hpp>
#include <troupe/cuda/handles.hpp>

/// Driver calls that several measures share. They throw `bad_result` if the driver fails.
namespace troupe::bench {

inline void must(CUresult r, const char* call) {
  if (r != CUDA_SUCCESS) throw bad_result(cuda::failed(std::string("raw ") + call, r));
}

using cuda::code_module, cuda::device_memory, cuda::event, cuda::pinned_memory, cuda::stream;

inline stream make_stream() {
  CUstream s = nullptr;
  must(::cuStreamCreate(&s, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  return stream(s);
}
inline event make_event() {
  CUevent e = nullptr;
  must(::cuEventCreate(&e, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  return event(e);
}
inline device_memory make_memory(std::size_t bytes) {
  CUdeviceptr p = 0;
  must(::cuMemAlloc(&p, bytes), "cuMemAlloc");
  return device_memory(p);
}
/// Returns memory that repeats the given bytes.
inline device_memory make_repeated(std::span<const std::byte> one, std::size_t bytes) {
  device_memory out = make_memory(bytes);
  for (std::size_t at = 0; at < bytes; at += one.size())
    must(::cuMemcpyHtoD(out.get() + at, one.data(), std::min(one.size(), bytes - at)), "cuMemcpyHtoD");
  return out;
}
inline pinned_memory make_pinned(std::size_t bytes) {
  void* p = nullptr;
  must(::cuMemHostAlloc(&p, bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP), "cuMemHostAlloc");
  return pinned_memory(static_cast<std::byte*>(p));
}
inline void wait_for(const stream& s) { must(::cuStreamSynchronize(s.get()), "cuStreamSynchronize"); }

inline code_module load(const void* image) {
  CUmodule m = nullptr;
  must(::cuModuleLoadData(&m, image), "cuModuleLoadData");
  return code_module(m);
}
inline CUfunction only_kernel_of(const code_module& m) {
  unsigned count = 0;
  must(::cuModuleGetFunctionCount(&count, m.get()), "cuModuleGetFunctionCount");
  if (count != 1) throw bad_result(error(reaction::fatal, "bench", cat("an image with ", count, " kernels, not one")));
  CUfunction f = nullptr;
  must(::cuModuleEnumerateFunctions(&f, 1, m.get()), "cuModuleEnumerateFunctions");
  must(::cuFuncLoad(f), "cuFuncLoad");
  return f;
}

/// A word of this process's memory that the GPU writes after the work in a stream.
class completion_word {
 public:
  completion_word()
      : pinned_(make_pinned(sizeof(std::uint64_t))), word_(reinterpret_cast<volatile std::uint64_t*>(pinned_.get())) {
    *word_ = 0;
    must(::cuMemHostGetDevicePointer(&word_on_gpu_, pinned_.get(), 0), "cuMemHostGetDevicePointer");
  }
  void poll_until_done(const stream& s) {
    ++sequence_;
    must(::cuStreamWriteValue64(s.get(), word_on_gpu_, sequence_, CU_STREAM_WRITE_VALUE_DEFAULT),
         "cuStreamWriteValue64");
    while (*word_ != sequence_) {
    }
  }

 private:
  pinned_memory pinned_;
  volatile std::uint64_t* word_;
  CUdeviceptr word_on_gpu_ = 0;
  std::uint64_t sequence_ = 0;
};

}  // namespace troupe::bench
