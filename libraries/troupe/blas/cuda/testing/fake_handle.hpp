// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <troupe/blas/cuda/testing/fakes.hpp>
#include <troupe/blas/cuda/testing/reference_blas.hpp>

struct cublasContext {
  cublasPointerMode_t scalars_in = CUBLAS_POINTER_MODE_HOST;
};

namespace troupe::blas::testing {

/// Converts cuComplex* to std::complex<float>*, through one or two pointers.
template <class V>
struct element_type {
  using type = V;
};
template <>
struct element_type<cuComplex> {
  using type = std::complex<float>;
};
template <>
struct element_type<cuDoubleComplex> {
  using type = std::complex<double>;
};
template <class V>
auto* as(V* p) {
  return reinterpret_cast<typename element_type<V>::type*>(p);
}
template <class V>
auto* as(const V* p) {
  return reinterpret_cast<const typename element_type<V>::type*>(p);
}
template <class V>
auto* list(V* const* p) {
  must_be_pinned(p);
  return reinterpret_cast<typename element_type<V>::type* const*>(p);
}
template <class V>
auto* list(const V* const* p) {
  must_be_pinned(p);
  return reinterpret_cast<const typename element_type<V>::type* const*>(p);
}

/// Returns a factor from host or device memory, as the handle's pointer mode says.
template <class V>
auto factor(cublasHandle_t h, const V* p) {
  if (h->scalars_in == CUBLAS_POINTER_MODE_DEVICE && is_on_this_stack(p))
    wrong("it reads a factor from a stack of the host");
  if (reinterpret_cast<std::uintptr_t>(p) % alignof(V) != 0) wrong("a factor is misaligned for its type");
  return *as(p);
}
template <class V>
auto known_factor(cublasHandle_t h, const V* p) {
  return known<typename element_type<V>::type>{factor(h, p), h->scalars_in == CUBLAS_POINTER_MODE_HOST};
}
inline void must_answer_on_device(cublasHandle_t h) {
  if (h->scalars_in != CUBLAS_POINTER_MODE_DEVICE) wrong("a call waits for its answer on the host");
}
inline bool is_lower(cublasFillMode_t f) { return f == CUBLAS_FILL_MODE_LOWER; }

}  // namespace troupe::blas::testing
