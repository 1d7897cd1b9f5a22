// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <troupe/base/try.hpp>
#include <troupe/blas/cuda/kernels.hpp>
#include <troupe/blas/cuda/kernels/kernel_arguments.hpp>
#include <troupe/blas/cuda/lane.hpp>
#include <troupe/blas/cuda/routines.hpp>
#include <troupe/blas/cuda/status.hpp>
#include <troupe/cuda/launch.hpp>
#include <troupe/cuda/scratch.hpp>
#include <troupe/request/checker.hpp>
#include <troupe/request/operands/scalar.hpp>
#include <troupe/worker/engine.hpp>
#include <tuple>
#include <utility>
#include <vector>

namespace troupe::blas {

/// Returns the increment, which is 1 if the field is `tight`.
inline std::int64_t step(const extent& inc) noexcept { return or_tight(inc, 1).value(); }

using cuda::at_most, cuda::grid, cuda::kernel;

/// One request that is being enqueued on the stream of its lane. No function waits for the GPU.
class job {
 public:
  job(lane& on, const cuda::kernel_set& kernels, call& c) noexcept : on_(on), kernels_(kernels), call_(c) {}

  void* reply() const noexcept { return call_.reply; }
  CUstream stream() const noexcept { return on_.memory().stream(); }
  void* partial_results() const noexcept { return on_.partial_results(); }
  /// Allocates device memory for the duration of this request.
  result<cuda::scratch> memory(std::size_t bytes) const { return cuda::scratch::make(call_, "blas", bytes); }

  /// Calls a routine of cuBLAS.
  template <class F, class... A>
  result<void> operator()(const routine<F>& r, A... arguments) {
    return checked(r.name, attempt(r, arguments...));
  }
  /// Calls a routine of cuBLAS and returns its status.
  template <class F, class... A>
  cublasStatus_t attempt(const routine<F>& r, A... arguments) {
    return r.function(on_.handle(), vendor(arguments)...);
  }
  result<void> checked(const char* name, cublasStatus_t s) {
    if (s == CUBLAS_STATUS_SUCCESS) [[likely]]
      return {};
    return failed(name, s, stream(), call_.library_is_broken);
  }

  /// Launches one of our kernels.
  template <class A>
  result<void> launch(cuda::kernel_id which, grid blocks, grid threads, const A& arguments) {
    return cuda::launch(kernels_, which, blocks, threads, stream(), "blas", arguments);
  }

  /// Returns the factors in the form that cuBLAS takes: on the host if all are given by value, otherwise all in memory
  /// that the GPU can read.
  template <class... S>
  result<std::tuple<const S*...>> factors(const scalar<S>&... all) {
    if ((all.by_value() && ...)) {
      TROUPE_TRY(scalars_in(CUBLAS_POINTER_MODE_HOST));
      static_assert(sizeof...(S) <= std::tuple_size_v<decltype(complex_)>);
      std::size_t next = 0;
      const auto place = [&]<class T>(const scalar<T>& s) -> const T* {
        if constexpr (!std::is_same_v<T, complex128>)
          return &s.value();
        else
          return &(complex_[next++].value = s.value());
      };
      return std::tuple<const S*...>{place(all)...};
    }
    TROUPE_TRY(scalars_in(CUBLAS_POINTER_MODE_DEVICE));
    result<void> fine;
    const auto place = [&]<class T>(const scalar<T>& s) -> const T* {
      if (!s.by_value()) return reinterpret_cast<const T*>(static_cast<std::uintptr_t>(s.range().address));
      auto copy = on_.memory().claim(sizeof(T));
      if (!copy) {
        fine = copy.error();
        return nullptr;
      }
      std::memcpy(*copy, &s.value(), sizeof(T));
      return reinterpret_cast<const T*>(*copy);
    };
    std::tuple<const S*...> out{place(all)...};
    if (!fine) return fine.error();
    return out;
  }
  result<void> scalars_in(cublasPointerMode_t where) {
    return checked("cublasSetPointerMode", on_.set_scalars_in(where));
  }

  /// Returns host memory that the GPU can read, valid until the next `next_part`.
  template <class T>
  result<T*> allocate(std::size_t count) {
    return reinterpret_cast<T*>(TROUPE_TRY(on_.memory().claim(count * sizeof(T))));
  }
  /// Call after each part of a long list has been enqueued: ends the use of memory from `allocate`.
  result<void> next_part() { return on_.memory().next_part(); }

  /// Returns the addresses of operands first to first + count - 1, in memory that the GPU can read.
  template <class T, access_mode M>
  result<typename operand<T, M>::pointer const*> addresses(const list<operand<T, M>>& all, std::size_t first,
                                                           std::size_t count) {
    using pointer = typename operand<T, M>::pointer;
    auto at = TROUPE_TRY(allocate<pointer>(count));
    for (std::size_t i = 0; i < count; ++i) at[i] = all[first + i].data();
    return static_cast<pointer const*>(at);
  }

 private:
  // cuBLAS assumes that a factor has the alignment of cuDoubleComplex.
  struct alignas(cuDoubleComplex) aligned_complex {
    complex128 value;
  };

  lane& on_;
  const cuda::kernel_set& kernels_;
  call& call_;
  std::array<aligned_complex, 2> complex_;  ///< factors passed to cuBLAS, which copies them
};

/// The most products or matrices of a batch that one call of cuBLAS takes.
inline constexpr std::size_t most_in_a_call = 16 * 1024;
static_assert(most_in_a_call * sizeof(void*) <= cuda::argument_ring::part_bytes);

/// Splits a batch of `count` problems into parts, and calls f(first problem, number of problems) for each.
template <class F>
result<void> in_parts(job& j, std::size_t count, F&& f) {
  for (std::size_t first = 0; first < count; first += most_in_a_call) {
    if (first > 0) TROUPE_TRY(j.next_part());
    TROUPE_TRY(f(first, std::min(most_in_a_call, count - first)));
  }
  return {};
}

/// Returns a factor in the form that our own kernels take.
template <class T>
kernel_arguments::number number_of(const scalar<T>& s) noexcept {
  kernel_arguments::number out{};
  static_assert(sizeof(T) <= sizeof out.value);
  if (s.by_value())
    std::memcpy(out.value, &s.value(), sizeof(T));
  else
    out.at = reinterpret_cast<const void*>(static_cast<std::uintptr_t>(s.range().address));
  return out;
}

/// A matrix to scale, or the matrices of a batch.
template <class T>
struct region {
  T* c;
  std::int64_t rows, columns, ld;
  kernel_arguments::part which = kernel_arguments::part::whole;
  std::int64_t step = 1;
  std::int64_t batch = 1, stride = 0;
  T* const* list = nullptr;
};
template <class T>
region<T> vector_region(T* x, std::int64_t n, const extent& inc) noexcept {
  return {.c = x, .rows = n, .columns = 1, .ld = 1, .step = std::abs(step(inc))};
}

template <class T, class F>
kernel_arguments::scaling scaling_of(const region<T>& c, const scalar<F>& beta, bool always = false) noexcept {
  return {.beta = number_of(beta),
          .c = c.c,
          .list = reinterpret_cast<void* const*>(c.list),
          .stride = c.stride,
          .batch = c.batch,
          .rows = c.rows,
          .columns = c.columns,
          .step = c.step,
          .ld = c.ld,
          .which = c.which,
          .always = always};
}
/// Returns blocks and threads for the elements of a batch of matrices. The number of blocks is limited, because more
/// would not fill a GPU better: each block continues with further elements.
inline std::pair<grid, grid> for_elements(std::int64_t rows, std::int64_t columns, std::int64_t batch = 1,
                                          std::int64_t most_blocks = 32 * 1024) noexcept {
  const grid threads = columns == 1 ? grid{256, 1} : grid{32, 8};
  grid blocks;
  blocks.x = at_most((rows + threads.x - 1) / threads.x, columns == 1 ? most_blocks : 64);
  blocks.y = at_most((columns + threads.y - 1) / threads.y, most_blocks / blocks.x);
  blocks.z = at_most(batch, most_blocks / blocks.x / blocks.y);
  return {blocks, threads};
}

/// C = beta * C: clears C if beta is 0, and leaves it if beta is 1, unless `always` is set, which multiplies in any
/// case.
template <class T, class F>
result<void> scale(job& j, const region<T>& c, const scalar<F>& beta, bool always = false) {
  if (!always && beta.is(F(1))) return {};
  const auto [blocks, threads] = for_elements(c.rows, c.columns, c.batch);
  return j.launch(kernel<"scale", T, F>, blocks, threads, scaling_of(c, beta, always));
}

template <class S>
constexpr kernel_arguments::factor kind_of() noexcept {
  using kernel_arguments::factor;
  if constexpr (std::is_same_v<S, float>) return factor::f32;
  if constexpr (std::is_same_v<S, double>) return factor::f64;
  if constexpr (std::is_same_v<S, complex64>) return factor::c64;
  if constexpr (std::is_same_v<S, complex128>) return factor::c128;
  return factor::i32;
}

/// Calls compute(), which sets C = alpha * product + beta * C. If alpha is 0, the product must have no effect, whatever
/// it contains; cuBLAS does not document whether it tests a factor in memory for 0.
template <class T, class S, class F, class Compute>
result<void> unless_zero(job& j, const scalar<S>& alpha, const scalar<F>& beta, const region<T>& c, Compute&& compute) {
  if (alpha.by_value()) return compute();
  const auto [blocks, threads] = for_elements(c.rows, c.columns, c.batch, 1024);  // usually there is nothing to do
  const bool nothing_stays = beta.is(F(0));
  std::optional<cuda::scratch> memory;
  if (!nothing_stays) {
    auto made = TROUPE_TRY(j.memory(static_cast<std::size_t>(c.rows * c.columns * c.batch) * sizeof(T)));
    memory.emplace(std::move(made));
  }
  kernel_arguments::keeping all{.what = scaling_of(c, beta),
                                .alpha = number_of(alpha),
                                .kept = memory ? memory->as<void>() : nullptr,
                                .kind = kind_of<S>(),
                                .restore = 0};
  if (memory) TROUPE_TRY(j.launch(kernel<"keep", T, F>, blocks, threads, all));
  TROUPE_TRY(compute());
  all.restore = 1;
  return j.launch(kernel<"keep", T, F>, blocks, threads, all);
}

}  // namespace troupe::blas
