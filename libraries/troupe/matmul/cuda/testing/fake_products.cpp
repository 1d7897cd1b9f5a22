// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A fake cublasLtMatmul that computes products by their definition.
#include <cmath>
#include <complex>
#include <troupe/epilogue/numbers.hpp>
#include <troupe/epilogue/op_definitions.hpp>
#include <troupe/matmul/cuda/testing/fakes.hpp>

using namespace troupe::matmul::testing;
using troupe::dtype;

namespace {

using value = std::complex<double>;

dtype type_of(int t) {
  switch (t) {
    case CUDA_R_16F:
      return dtype::f16;
    case CUDA_R_16BF:
      return dtype::bf16;
    case CUDA_R_8F_E4M3:
      return dtype::f8e4m3;
    case CUDA_R_8F_E5M2:
      return dtype::f8e5m2;
    case CUDA_R_8I:
      return dtype::i8;
    case CUDA_R_32I:
      return dtype::i32;
    case CUDA_R_64F:
      return dtype::f64;
    default:
      return dtype::f32;
  }
}

value load(int type, const void* memory, std::int64_t at) {
  if (type == CUDA_C_32F) return static_cast<const std::complex<float>*>(memory)[at];
  if (type == CUDA_C_64F) return static_cast<const std::complex<double>*>(memory)[at];
  const dtype t = type_of(type);
  return troupe::epilogue::number_at(
      static_cast<const std::byte*>(memory) + at * static_cast<std::int64_t>(troupe::bytes_of(t)), t);
}
void store(int type, void* memory, std::int64_t at, value x) {
  if (type == CUDA_C_32F) {
    static_cast<std::complex<float>*>(memory)[at] = std::complex<float>(x);
  } else if (type == CUDA_C_64F) {
    static_cast<std::complex<double>*>(memory)[at] = x;
  } else {
    const dtype t = type_of(type);
    troupe::epilogue::put_number(static_cast<std::byte*>(memory) + at * static_cast<std::int64_t>(troupe::bytes_of(t)),
                                 t, x.real());
  }
}

struct addresses {
  const void *a, *b, *c;
  void* d;
};

class computation {
 public:
  computation(const product_description& p, const addresses& at, value alpha, value beta)
      : p_(p), at_(at), alpha_(alpha), beta_(beta) {}

  void run() {
    for (which_ = 0; which_ < p_.d.batch; ++which_) {
      for (std::int64_t i = 0; i < p_.d.rows; ++i) {
        double of_row = 0;
        for (std::int64_t j = 0; j < p_.d.columns; ++j) of_row += element(i, j).real();
        if ((what().epilogue & 16) != 0)
          store(what().bias_type, const_cast<void*>(what().bias), which_ * what().bias_stride + i, of_row);
      }
    }
    if (what().amax != nullptr) store(CUDA_R_32F, const_cast<void*>(what().amax), 0, largest_);
  }

 private:
  const product& what() const { return p_.what; }
  bool has(unsigned part) const { return (what().epilogue & part) == part; }

  value element(std::int64_t i, std::int64_t j) {
    value sum = 0;
    const std::int64_t k = what().transpose_a == CUBLAS_OP_T ? p_.a.rows : p_.a.columns;
    for (std::int64_t l = 0; l < k; ++l) {
      const std::int64_t in_a = what().transpose_a == CUBLAS_OP_T ? l + i * p_.a.ld : i + l * p_.a.ld,
                         in_b = what().transpose_b == CUBLAS_OP_T ? j + l * p_.b.ld : l + j * p_.b.ld;
      sum += load(p_.a.type, at_.a, which_ * p_.a.stride + in_a) * load(p_.b.type, at_.b, which_ * p_.b.stride + in_b) *
             of_block(what().a_scale, i, l, p_.d.rows, k, what().a_scale_mode) *
             of_block(what().b_scale, j, l, p_.d.columns, k, what().b_scale_mode);
    }
    value x =
        alpha_ * sum * scale(what().a_scale, i, what().a_scale_mode) * scale(what().b_scale, j, what().b_scale_mode);
    if (beta_ != 0.0) x += beta_ * load(p_.c.type, at_.c, which_ * p_.c.stride + i + j * p_.c.ld);
    if (has(4)) x += load(what().bias_type, what().bias, which_ * what().bias_stride + i);
    const std::int64_t in_aux = which_ * what().aux_stride + i + j * what().aux_ld;
    using troupe::epilogue::op, troupe::epilogue::value_of;
    if (has(64 | 128)) {
      x *= value_of(op::d_gelu_tanh, load(what().aux_type, what().aux, in_aux).real());
    } else if (has(128)) {
      store(what().aux_type, const_cast<void*>(what().aux), in_aux, x);
    }
    if (has(2)) x = value_of(op::relu, x.real());
    if (has(32)) x = value_of(op::gelu_tanh, x.real());
    largest_ = std::max(largest_, std::fabs(x.real()));
    store(p_.d.type, at_.d, which_ * p_.d.stride + i + j * p_.d.ld, x * scale(what().d_scale, 0, 0));
    return x;
  }
  // Returns the scale of the whole matrix, or of line i.
  static value scale(const void* at, std::int64_t i, int mode) {
    return at == nullptr || mode > 3 ? 1 : load(CUDA_R_32F, at, mode == 0 ? 0 : i);
  }
  // Returns the scale of the block at `index` along k: 128 numbers of one line, or of 128 lines.
  static value of_block(const void* at, std::int64_t line, std::int64_t index, std::int64_t lines, std::int64_t k,
                        int mode) {
    const std::int64_t block = index / 128, blocks = (k + 127) / 128;
    if (mode == 4) return load(CUDA_R_32F, at, block * lines + line);
    return mode == 5 ? load(CUDA_R_32F, at, line / 128 * ((blocks + 3) / 4 * 4) + block) : 1;
  }

  const product_description& p_;
  const addresses at_;
  const value alpha_, beta_;
  std::int64_t which_ = 0;
  double largest_ = 0;
};

}  // namespace

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t what, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                              const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algorithm, void*, size_t,
                              cudaStream_t) {
  const auto layout_of = [](cublasLtMatrixLayout_t l) { return *reinterpret_cast<const layout*>(l->data); };
  const product_description p{*reinterpret_cast<const product*>(what->data), layout_of(a_layout), layout_of(b_layout),
                              layout_of(c_layout), layout_of(d_layout)};
  if (algorithm == nullptr || algorithm->data[0] != fake_algorithm) return CUBLAS_STATUS_INVALID_VALUE;
  if (algorithm->data[2] != 0 && c != d) return CUBLAS_STATUS_EXECUTION_FAILED;  // CUDA_ERROR_MISALIGNED_ADDRESS
  // cuBLASLt of CUDA 13 finds algorithms for i8 of any alignment, but does not run them.
  const auto is_aligned = [](const void* at, const layout& l) {
    return (reinterpret_cast<std::uintptr_t>(at) | static_cast<std::uintptr_t>(l.ld | l.stride)) % 4 == 0;
  };
  if (p.a.type == CUDA_R_8I && !(is_aligned(a, p.a) && is_aligned(b, p.b))) return CUBLAS_STATUS_NOT_SUPPORTED;
  const int scale = p.what.scale;
  const auto compute = [=, at = addresses{a, b, c, d}, x = load(scale, alpha, 0), y = load(scale, beta, 0)] {
    computation(p, at, x, y).run();
  };
  const CUresult s = driver().enqueue(driver().computes ? std::function<void()>(compute) : nullptr, "cublasLtMatmul",
                                      p.d.rows, p.d.columns, p.what.epilogue);
  return static_cast<cublasStatus_t>(s);
}
