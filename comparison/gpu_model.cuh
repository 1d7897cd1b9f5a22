// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The model on a GPU, with the CUDA runtime and cuBLAS alone: one stream, and every call checked. Counted in each
// version that includes it.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <comparison/service.hpp>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace comparison {

inline void check(cudaError_t status, const char* call) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(status));
}
inline void check(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string(call) + ": " + cublasGetStatusString(status));
}

// After a fault these calls fail too, and nothing is left to be freed.
struct freed {
  void operator()(cudaStream_t s) const { static_cast<void>(cudaStreamDestroy(s)); }
  void operator()(cublasHandle_t h) const { static_cast<void>(cublasDestroy(h)); }
};
struct freed_on_device {
  void operator()(float* p) const { static_cast<void>(cudaFree(p)); }
};
struct freed_on_host {
  void operator()(float* p) const { static_cast<void>(cudaFreeHost(p)); }
};
using device_memory = std::unique_ptr<float, freed_on_device>;
using pinned_memory = std::unique_ptr<float, freed_on_host>;

inline device_memory allocate(std::size_t count) {
  float* p = nullptr;
  check(cudaMalloc(&p, count * sizeof(float)), "cudaMalloc");
  return device_memory(p);
}
inline pinned_memory allocate_pinned(std::size_t count) {
  float* p = nullptr;
  check(cudaMallocHost(&p, count * sizeof(float)), "cudaMallocHost");
  return pinned_memory(p);
}

__global__ void add_bias(const float* bias, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(y[i] + bias[i % width], 0.0f);
}
__global__ void write_wild(unsigned long long address) { *reinterpret_cast<float*>(address) = 1; }

/// The functions throw after an error; then the context is lost, and with it the model.
class gpu_model {
 public:
  explicit gpu_model(const model& m) {
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    stream_.reset(stream);
    cublasHandle_t blas = nullptr;
    check(cublasCreate(&blas), "cublasCreate");
    blas_.reset(blas);
    check(cublasSetStream(blas, stream), "cublasSetStream");
    weights_ = allocate(width * width), bias_ = allocate(width);
    x_ = allocate(largest_batch * width), y_ = allocate(largest_batch * width);
    staging_ = allocate_pinned(largest_batch * width);
    copy(weights_.get(), m.weights.data(), width * width, cudaMemcpyHostToDevice);
    copy(bias_.get(), m.bias.data(), width, cudaMemcpyHostToDevice);
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }

  void answer(std::span<const vector> in, std::span<vector> out) {
    const int batch = static_cast<int>(in.size()), n = batch * width;
    const float one = 1, zero = 0;
    std::memcpy(staging_.get(), in.data(), in.size_bytes());
    copy(x_.get(), staging_.get(), n, cudaMemcpyHostToDevice);
    // By columns, as cuBLAS sees them, the weights are transposed, and each vector is a column.
    check(cublasSgemm(blas_.get(), CUBLAS_OP_T, CUBLAS_OP_N, width, batch, width, &one, weights_.get(), width, x_.get(),
                      width, &zero, y_.get(), width),
          "cublasSgemm");
    add_bias<<<(n + 255) / 256, 256, 0, stream_.get()>>>(bias_.get(), y_.get(), n);
    check(cudaGetLastError(), "add_bias");
    copy(staging_.get(), y_.get(), n, cudaMemcpyDeviceToHost);
    check(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize");
    std::memcpy(out.data(), staging_.get(), in.size_bytes());
  }
  void launch_wild() {
    write_wild<<<1, 1, 0, stream_.get()>>>(wild_address);
    check(cudaGetLastError(), "write_wild");
  }

 private:
  void copy(float* to, const float* from, std::size_t count, cudaMemcpyKind kind) {
    check(cudaMemcpyAsync(to, from, count * sizeof(float), kind, stream_.get()), "cudaMemcpyAsync");
  }

  std::unique_ptr<CUstream_st, freed> stream_;
  std::unique_ptr<cublasContext, freed> blas_;
  device_memory weights_, bias_, x_, y_;
  pinned_memory staging_;
};

inline std::string name_of_gpu() {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  return properties.name;
}

}  // namespace comparison
