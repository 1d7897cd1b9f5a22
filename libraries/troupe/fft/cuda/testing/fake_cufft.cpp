// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A cuFFT that only records its calls.
#include <cufftXt.h>

#include <troupe/cuda/testing/fake_driver.hpp>

using troupe::cuda::testing::driver;

namespace {
cufftHandle last = 0;
template <class... A>
cufftResult called(const char* call, const A&... arguments) {
  return static_cast<cufftResult>(driver().called(call, arguments...));
}
}  // namespace

cufftResult CUFFTAPI cufftCreate(cufftHandle* plan) {
  *plan = ++last;
  return called("cufftCreate");
}
cufftResult CUFFTAPI cufftDestroy(cufftHandle plan) { return called("cufftDestroy", plan); }
cufftResult CUFFTAPI cufftGetVersion(int* version) {
  *version = 12000;
  return called("cufftGetVersion");
}
cufftResult CUFFTAPI cufftSetAutoAllocation(cufftHandle plan, int automatic) {
  return called("cufftSetAutoAllocation", plan, automatic);
}
cufftResult CUFFTAPI cufftSetStream(cufftHandle plan, cudaStream_t) { return called("cufftSetStream", plan); }
cufftResult CUFFTAPI cufftSetWorkArea(cufftHandle plan, void* area) {
  return called("cufftSetWorkArea", plan, area != nullptr);
}
cufftResult CUFFTAPI cufftXtMakePlanMany(cufftHandle plan, int rank, long long* n, long long* in, long long in_stride,
                                         long long in_distance, cudaDataType in_type, long long* out,
                                         long long out_stride, long long out_distance, cudaDataType out_type,
                                         long long batch, std::size_t* bytes, cudaDataType computes) {
  *bytes = static_cast<std::size_t>(n[0] * batch) * 8;
  return called("cufftXtMakePlanMany", plan, rank, n[0], n[1], n[2], in[0], in[1], in[2], in_stride, in_distance,
                in_type, out[0], out[1], out[2], out_stride, out_distance, out_type, batch, computes);
}
cufftResult CUFFTAPI cufftXtExec(cufftHandle plan, void*, void*, int direction) {
  return static_cast<cufftResult>(driver().enqueue({}, "cufftXtExec", plan, direction));
}
cufftResult CUFFTAPI cufftXtSetJITCallback(cufftHandle plan, const char* name, const void*, std::size_t bytes,
                                           cufftXtCallbackType type, void**) {
  return called("cufftXtSetJITCallback", plan, name, bytes != 0, static_cast<int>(type));
}
