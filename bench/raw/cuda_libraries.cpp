// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cublas_v2.h>
#include <cufft.h>

#include <bench/raw/cuda_calls.hpp>
#include <bench/raw/cuda_libraries.hpp>
#include <troupe/blas/cuda/handle.hpp>
#include <vector>

namespace troupe::bench {

// Not in the unnamed namespace, where these would hide the overload for driver calls.
static void must(cublasStatus_t s, const char* call) {
  if (s != CUBLAS_STATUS_SUCCESS)
    throw bad_result(error(reaction::fatal, "bench", std::string("raw ") + call + ": " + ::cublasGetStatusString(s)));
}

static void must(cufftResult s, const char* call) {
  if (s != CUFFT_SUCCESS)
    throw bad_result(error(reaction::fatal, "bench", cat("raw ", call, ": cufftResult ", static_cast<int>(s))));
}

namespace {

class products final : public raw_products {
 public:
  products(raw_number type, int n, int count, std::span<const std::byte> a, std::span<const std::byte> b)
      : type_(type),
        n_(n),
        bytes_of_one_(static_cast<std::size_t>(n) * static_cast<std::size_t>(n) * (type == raw_number::f32 ? 4 : 2)),
        stream_(make_stream()),
        a_(make_memory(a.size())),
        b_(make_memory(b.size())),
        c_(make_memory(bytes_of_one_ * static_cast<std::size_t>(count))) {
    must(::cuMemcpyHtoD(a_.get(), a.data(), a.size()), "cuMemcpyHtoD");
    must(::cuMemcpyHtoD(b_.get(), b.data(), b.size()), "cuMemcpyHtoD");
    cublasHandle_t h = nullptr;
    must(::cublasCreate(&h), "cublasCreate");
    handle_.reset(h);
    must(::cublasSetStream(h, stream_.get()), "cublasSetStream");
  }
  void multiply(int which) override {
    const auto at = [&](const device_memory& m) {
      return reinterpret_cast<void*>(m.get() + bytes_of_one_ * static_cast<std::size_t>(which));
    };
    const float one = 1, zero = 0;
    if (type_ == raw_number::f32)
      must(::cublasSgemm(handle_.get(), CUBLAS_OP_N, CUBLAS_OP_N, n_, n_, n_, &one, static_cast<const float*>(at(a_)),
                         n_, static_cast<const float*>(at(b_)), n_, &zero, static_cast<float*>(at(c_)), n_),
           "cublasSgemm");
    else
      must(::cublasGemmEx(handle_.get(), CUBLAS_OP_N, CUBLAS_OP_N, n_, n_, n_, &one, at(a_), CUDA_R_16F, n_, at(b_),
                          CUDA_R_16F, n_, &zero, at(c_), CUDA_R_16F, n_, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
           "cublasGemmEx");
  }
  void synchronize() override { wait_for(stream_); }
  void download(int which, std::span<std::byte> c) override {
    synchronize();
    must(::cuMemcpyDtoH(c.data(), c_.get() + bytes_of_one_ * static_cast<std::size_t>(which), c.size()),
         "cuMemcpyDtoH");
  }

 private:
  raw_number type_;
  int n_;
  std::size_t bytes_of_one_;
  stream stream_;
  device_memory a_, b_, c_;
  blas::library_handle handle_;
};

class transforms final : public raw_transforms {
 public:
  transforms(std::span<const int> n, int batch, int count, std::span<const std::byte> one) : stream_(make_stream()) {
    bytes_ = sizeof(cufftComplex) * static_cast<std::size_t>(batch);
    for (const int i : n) bytes_ *= static_cast<std::size_t>(i);
    const std::size_t all = bytes_ * static_cast<std::size_t>(count);
    input_ = make_repeated(one, all);
    output_ = make_memory(all);
    std::vector<int> extents(n.begin(), n.end());
    must(::cufftPlanMany(&plan_, static_cast<int>(extents.size()), extents.data(), nullptr, 1, 0, nullptr, 1, 0,
                         CUFFT_C2C, batch),
         "cufftPlanMany");
    must(::cufftSetStream(plan_, stream_.get()), "cufftSetStream");
  }
  ~transforms() override { (void)::cufftDestroy(plan_); }
  transforms(const transforms&) = delete;
  void run(int which) override {
    const std::size_t at = bytes_ * static_cast<std::size_t>(which);
    must(::cufftExecC2C(plan_, reinterpret_cast<cufftComplex*>(input_.get() + at),
                        reinterpret_cast<cufftComplex*>(output_.get() + at), CUFFT_FORWARD),
         "cufftExecC2C");
  }
  void poll_until_done() override { word_.poll_until_done(stream_); }
  void synchronize() override { wait_for(stream_); }
  void download(std::size_t first, std::span<std::byte> elements) override {
    synchronize();
    must(::cuMemcpyDtoH(elements.data(), output_.get() + first * sizeof(cufftComplex), elements.size()),
         "cuMemcpyDtoH");
  }

 private:
  std::size_t bytes_ = 0;
  stream stream_;
  device_memory input_, output_;
  cufftHandle plan_ = 0;
  completion_word word_;
};

}  // namespace

std::unique_ptr<raw_products> make_products(raw_number type, int n, int count, std::span<const std::byte> a,
                                            std::span<const std::byte> b) {
  return std::make_unique<products>(type, n, count, a, b);
}
std::unique_ptr<raw_transforms> make_transforms(std::span<const int> n, int batch, int count,
                                                std::span<const std::byte> one) {
  return std::make_unique<transforms>(n, batch, count, one);
}

}  // namespace troupe::bench
