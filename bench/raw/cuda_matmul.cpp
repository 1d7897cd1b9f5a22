// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <bench/raw/cuda_kernels.hpp>
#include <bench/raw/cuda_libraries.hpp>
#include <bench/raw/cuda_lt.hpp>
#include <bit>
#include <optional>

namespace troupe::bench {
namespace {

using kind = raw_matmul_epilogue;

lt_types types_of(raw_matmul_type t) {
  switch (t) {
    case raw_matmul_type::bf16:
      return {CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUDA_R_32F};
    case raw_matmul_type::f16:
      return {CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, CUDA_R_32F};
    case raw_matmul_type::tf32:
      return {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F};
    case raw_matmul_type::f64:
      return {CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, CUDA_R_64F};
    case raw_matmul_type::s8:
      return {CUDA_R_8I, CUDA_R_32I, CUDA_R_32I, CUBLAS_COMPUTE_32I, CUDA_R_32I};
    case raw_matmul_type::fp8_to_fp8:
      return {CUDA_R_8F_E4M3, CUDA_R_16BF, CUDA_R_8F_E4M3, CUBLAS_COMPUTE_32F, CUDA_R_32F};
    case raw_matmul_type::fp8:
      break;
  }
  return {CUDA_R_8F_E4M3, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUDA_R_32F};
}

/// Memory with the same number of bytes for each of several products.
struct operand {
  std::size_t bytes = 0;
  device_memory memory{};

  CUdeviceptr of(int which) const { return memory.get() + bytes * static_cast<std::size_t>(which); }
};
operand empty(std::size_t bytes, int count) { return {bytes, make_memory(bytes * static_cast<std::size_t>(count))}; }
operand repeated(std::span<const std::byte> one, std::size_t bytes, int count) {
  return {bytes, make_repeated(one, bytes * static_cast<std::size_t>(count))};
}

class matmuls final : public raw_matmuls {
 public:
  matmuls(const raw_matmul_problem& p, std::span<const std::byte> a, std::span<const std::byte> b,
          std::span<const std::byte> third)
      : problem_(p), stream_(make_stream()), workspace_(make_memory(lt_product::workspace_bytes)) {
    const auto [factor, result] = elements_of(p.type);
    const auto m = static_cast<std::size_t>(p.m), n = static_cast<std::size_t>(p.n), k = static_cast<std::size_t>(p.k);
    a_ = repeated(a, m * k * bytes_of(factor), p.count);
    b_ = repeated(b, static_cast<std::size_t>(p.rows_of_b()) * k * bytes_of(factor), p.count);
    d_ = empty(m * n * bytes_of(result), p.count);
    switch (p.epilogue) {
      case kind::none:
        return;
      case kind::bias_relu:
      case kind::bias_gelu:
        third_ = repeated(third, third.size(), 1);
        return;
      case kind::bias_gelu_aux:
        third_ = repeated(third, third.size(), 1);
        second_ = empty(d_.bytes, p.count);
        return;
      case kind::swiglu:
        between_ = empty(2 * d_.bytes, 1);
        return;
      case kind::sum_rows:
        third_ = repeated(third, d_.bytes, p.count);
        second_ = empty(m * sizeof(float), p.count);
        return;
      case kind::quantize:
        between_ = empty(m * n * 2, 1);
        second_ = empty(sizeof(float), p.count);
        scale_ = make_memory(sizeof(float));
        must(::cuMemcpyHtoD(scale_.get(), &p.scale, sizeof(float)), "cuMemcpyHtoD");
        return;
    }
  }
  // The first product also opens the library and searches for an algorithm.
  void multiply(int which) override {
    if (!product_) open_library();
    const bool adds = problem_.epilogue == kind::sum_rows, two = kernels_.has_value();
    if (problem_.epilogue == kind::bias_gelu_aux)
      product_->set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, second_.of(which));
    if (problem_.epilogue == kind::quantize && !two)
      product_->set(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, second_.of(which));
    // If C is passed but not added, it is never read.
    const CUdeviceptr d = two && !adds ? between_.of(0) : d_.of(which),
                      c = adds                                          ? third_.of(which)
                          : problem_.epilogue == kind::quantize && !two ? between_.of(0)
                                                                        : d;
    product_->run(library_, a_.of(which), b_.of(which), adds ? 1 : 0, c, d, workspace_, stream_);
    if (!two) return;
    if (problem_.epilogue == kind::swiglu) kernels_->gate(d, d_.of(which), problem_.m, problem_.n, stream_);
    if (adds) kernels_->sum_rows(d, second_.of(which), problem_.m, problem_.n, stream_);
    if (problem_.epilogue == kind::quantize)
      kernels_->quantize(d, d_.of(which), std::int64_t{problem_.m} * problem_.n, problem_.scale, second_.of(which),
                         stream_);
  }
  std::array<std::uint64_t, 8> algorithm() const override {
    return std::bit_cast<std::array<std::uint64_t, 8>>(product_.value().algorithm());
  }
  int calls() const override { return kernels_ ? 2 : 1; }
  void poll_until_done() override { word_.poll_until_done(stream_); }
  void synchronize() override { wait_for(stream_); }
  void download(int which, std::span<std::byte> d) override { download_from(d_, which, d); }
  void download_second(int which, std::span<std::byte> to) override { download_from(second_, which, to); }

 private:
  void download_from(const operand& from, int which, std::span<std::byte> to) {
    synchronize();
    must(::cuMemcpyDtoH(to.data(), from.of(which), to.size()), "cuMemcpyDtoH");
  }
  void open_library() {
    library_ = make_lt();
    if (search(problem_.type, true)) return;
    // Without fusion: computes the product in bf16, for a second kernel.
    if (problem_.epilogue == kind::quantize && search(raw_matmul_type::fp8, false)) return;
    throw bad_result(error(reaction::unsupported, "bench", "cuBLASLt has no algorithm for this product"));
  }
  bool search(raw_matmul_type t, bool fused) {
    const raw_matmul_problem& p = problem_;
    product_.emplace(types_of(t), p.m, p.rows_of_b(), p.k);
    if (p.fast) product_->set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{1});
    const auto use = [&](cublasLtEpilogue_t e) {
      product_->set(CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<std::uint32_t>(e));
      product_->set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, third_.of(0));
    };
    if (p.epilogue == kind::bias_relu) use(CUBLASLT_EPILOGUE_RELU_BIAS);
    if (p.epilogue == kind::bias_gelu) use(CUBLASLT_EPILOGUE_GELU_BIAS);
    if (p.epilogue == kind::bias_gelu_aux) {
      use(CUBLASLT_EPILOGUE_GELU_AUX_BIAS);
      product_->set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, second_.of(0));
      product_->set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t{p.n});
    }
    if (p.epilogue == kind::quantize && fused) {
      product_->set(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, scale_.get());
      product_->set(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, second_.of(0));
    }
    if (p.epilogue == kind::swiglu || p.epilogue == kind::sum_rows || !fused) kernels_.emplace();
    return product_->search(library_);
  }

  raw_matmul_problem problem_;
  stream stream_;
  device_memory workspace_, scale_;
  operand a_, b_, d_, third_, second_;
  operand between_;  // the input of a second kernel; or C, which is not read
  lt_handle library_;
  std::optional<lt_product> product_;
  std::optional<plain_kernels> kernels_;
  completion_word word_;
};

}  // namespace

std::unique_ptr<raw_matmuls> make_matmuls(const raw_matmul_problem& p, std::span<const std::byte> a,
                                          std::span<const std::byte> b, std::span<const std::byte> third) {
  return std::make_unique<matmuls>(p, a, b, third);
}

}  // namespace troupe::bench
