// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cublas_v2.h>

#include <bench/raw/cuda_libraries.hpp>
#include <bench/raw/cuda_lt.hpp>
#include <troupe/blas/cuda/handle.hpp>
#include <vector>

namespace troupe::bench {
namespace {

constexpr std::int64_t element_bytes = 2;

class groups final : public raw_groups {
 public:
  groups(std::span<const std::int32_t> sizes, int n, int k, std::span<const std::byte> a, std::span<const std::byte> b)
      : stream_(make_stream()), workspace_(make_memory(lt_product::workspace_bytes)), lt_(make_lt()) {
    std::int64_t rows = 0;
    for (const std::int32_t size : sizes) rows += size;
    const auto memory_of = [](std::int64_t lines, std::int64_t width) {
      return static_cast<std::size_t>(lines * width * element_bytes);
    };
    a_ = make_repeated(a, memory_of(rows, k)), d_ = make_memory(memory_of(rows, n));
    b_ = make_repeated(b, memory_of(std::int64_t{n} * static_cast<std::int64_t>(sizes.size()), k));
    std::int64_t first = 0;
    std::vector<CUdeviceptr> as, bs, ds;
    for (std::size_t g = 0; g < sizes.size(); ++g) {
      if (sizes[g] == 0) continue;
      as.push_back(a_.get() + memory_of(first, k));
      bs.push_back(b_.get() + memory_of(std::int64_t{n} * static_cast<std::int64_t>(g), k));
      ds.push_back(d_.get() + memory_of(first, n));
      first += sizes[g];
      rows_.push_back(sizes[g]);
      alone_.push_back(
          {lt_product({CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUDA_R_32F}, sizes[g], n, k),
           as.back(), bs.back(), ds.back()});
      if (!alone_.back().product.search(lt_))
        throw bad_result(error(reaction::unsupported, "bench", "cuBLASLt has no algorithm for this product"));
    }
    const std::size_t count = rows_.size();
    ns_.assign(count, n), ks_.assign(count, k), ones_.assign(count, 1);
    transposed_.assign(count, CUBLAS_OP_T), plain_.assign(count, CUBLAS_OP_N);
    alphas_.assign(count, 1.f), betas_.assign(count, 0.f);
    // The lists of matrices are in memory of the GPU, and the lists of extents in memory of the process.
    for (auto* list : {&as, &bs, &ds}) {
      lists_.push_back(make_memory(count * sizeof(CUdeviceptr)));
      must(::cuMemcpyHtoD(lists_.back().get(), list->data(), count * sizeof(CUdeviceptr)), "cuMemcpyHtoD");
    }
    cublasHandle_t h = nullptr;
    must(::cublasCreate(&h), "cublasCreate");
    handle_.reset(h);
    must(::cublasSetStream(h, stream_.get()), "cublasSetStream");
  }
  // In column-major terms: D_g^T = B_g * A_g^T.
  void multiply_at_once() override {
    const auto list = [&](std::size_t i) { return reinterpret_cast<void**>(lists_[i].get()); };
    must(::cublasGemmGroupedBatchedEx(handle_.get(), transposed_.data(), plain_.data(), ns_.data(), rows_.data(),
                                      ks_.data(), alphas_.data(), list(1), CUDA_R_16BF, ks_.data(), list(0),
                                      CUDA_R_16BF, ks_.data(), betas_.data(), list(2), CUDA_R_16BF, ns_.data(),
                                      static_cast<int>(rows_.size()), ones_.data(), CUBLAS_COMPUTE_32F),
         "cublasGemmGroupedBatchedEx");
  }
  void multiply_one_by_one() override {
    for (const one& g : alone_) g.product.run(lt_, g.a, g.b, 0, g.d, g.d, workspace_, stream_);
  }
  void synchronize() override { wait_for(stream_); }
  void download(std::span<std::byte> d) override {
    synchronize();
    must(::cuMemcpyDtoH(d.data(), d_.get(), d.size()), "cuMemcpyDtoH");
  }

 private:
  struct one {
    lt_product product;
    CUdeviceptr a, b, d;
  };
  stream stream_;
  device_memory workspace_, a_, b_, d_;
  lt_handle lt_;
  blas::library_handle handle_;
  std::vector<one> alone_;
  std::vector<device_memory> lists_;
  std::vector<int> rows_, ns_, ks_, ones_;
  std::vector<cublasOperation_t> transposed_, plain_;
  std::vector<float> alphas_, betas_;
};

}  // namespace

std::unique_ptr<raw_groups> make_groups(std::span<const std::int32_t> sizes, int n, int k, std::span<const std::byte> a,
                                        std::span<const std::byte> b) {
  return std::make_unique<groups>(sizes, n, k, a, b);
}

}  // namespace troupe::bench
