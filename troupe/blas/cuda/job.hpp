// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <troupe/request/checker.hpp>
#include <troupe/request/scalar.hpp>
#include <troupe/worker/engine.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "kernel_arguments.hpp"
#include "kernels.hpp"
#include "lane.hpp"
#include "routines.hpp"
#include "status.hpp"

namespace troupe::blas {

/// The increment to use.
inline std::int64_t step(const extent& inc) noexcept { return or_tight(inc, 1).value(); }

struct grid {
  unsigned x = 1, y = 1, z = 1;
};
inline unsigned at_most(std::int64_t wanted, std::int64_t limit) noexcept {
  return static_cast<unsigned>(std::clamp<std::int64_t>(wanted, 1, limit));
}

/// One request on its way to the GPU. What it calls is enqueued on its lane's stream; nothing waits.
class job {
 public:
  job(lane& on, const kernel_set& kernels, call& c) noexcept : on_(on), kernels_(kernels), call_(c) {}

  void* reply() const noexcept { return call_.reply; }
  CUstream stream() const noexcept { return on_.stream(); }
  void* between() const noexcept { return on_.between(); }

  /// Calls a routine of cuBLAS.
  template <class F, class... A>
  result<void> operator()(const routine<F>& r, A... arguments) {
    return looked_at(r.name, attempt(r, arguments...));
  }
  /// The same, for whoever looks at the status first.
  template <class F, class... A>
  cublasStatus_t attempt(const routine<F>& r, A... arguments) {
    return r.function(on_.handle(), vendor(arguments)...);
  }
  result<void> looked_at(const char* name, cublasStatus_t s) {
    if (s == CUBLAS_STATUS_SUCCESS) [[likely]]
      return {};
    return failed(name, s, on_.stream(), call_.library_is_broken);
  }

  /// Launches one of our kernels.
  template <class A>
  result<void> launch(std::string_view name, grid blocks, grid threads, const A& arguments) {
    const CUkernel kernel = kernels_.find(name);
    if (kernel == nullptr) [[unlikely]]
      return error(reaction::fatal, "blas", "there is no kernel " + std::string(name));
    void* parameters[] = {const_cast<void*>(static_cast<const void*>(&arguments))};
    return done("cuLaunchKernel",
                ::cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), blocks.x, blocks.y, blocks.z, threads.x,
                                 threads.y, threads.z, 0, on_.stream(), parameters, nullptr),
                on_.stream());
  }

  /// Where cuBLAS finds some factors: as they are when all were given by value, else all in memory that the GPU reads.
  template <class... S>
  result<std::tuple<const S*...>> factors(const scalar<S>&... all) {
    if ((all.by_value() && ...)) {
      if (auto ok = scalars_in(CUBLAS_POINTER_MODE_HOST); !ok) return ok.error();
      return std::tuple<const S*...>(&all.value()...);
    }
    if (auto ok = scalars_in(CUBLAS_POINTER_MODE_DEVICE); !ok) return ok.error();
    result<void> fine;
    const auto place = [&]<class T>(const scalar<T>& s) -> const T* {
      if (!s.by_value()) return reinterpret_cast<const T*>(static_cast<std::uintptr_t>(s.range().address));
      auto room = on_.arguments().claim(sizeof(T));
      if (!room) {
        fine = room.error();
        return nullptr;
      }
      std::memcpy(*room, &s.value(), sizeof(T));
      return reinterpret_cast<const T*>(*room);
    };
    std::tuple<const S*...> out{place(all)...};
    if (!fine) return fine.error();
    return out;
  }
  result<void> scalars_in(cublasPointerMode_t where) {
    return looked_at("cublasSetPointerMode", on_.set_scalars_in(where));
  }

  /// Memory that the GPU reads, until the next `next_part`.
  template <class T>
  result<T*> room(std::size_t count) {
    auto at = on_.arguments().claim(count * sizeof(T));
    if (!at) return at.error();
    return reinterpret_cast<T*>(*at);
  }
  /// After some of a long list has been enqueued.
  result<void> next_part() { return on_.arguments().begin(on_.stream()); }

  /// The addresses of operands [first, first + count), where the GPU reads them.
  template <class T, access_mode M>
  result<typename operand<T, M>::pointer const*> addresses(const std::vector<operand<T, M>>& all, std::size_t first,
                                                           std::size_t count) {
    using pointer = typename operand<T, M>::pointer;
    auto at = room<pointer>(count);
    if (!at) return at.error();
    for (std::size_t i = 0; i < count; ++i) (*at)[i] = all[first + i].data();
    return static_cast<pointer const*>(*at);
  }

 private:
  lane& on_;
  const kernel_set& kernels_;
  call& call_;
};

/// As many problems of a batch as one call gets.
inline constexpr std::size_t most_in_a_call = 16 * 1024;
static_assert(most_in_a_call * sizeof(void*) <= argument_ring::part_bytes);

/// Does `count` problems in parts: f(first, count of this part).
template <class F>
result<void> in_parts(job& j, std::size_t count, F&& f) {
  for (std::size_t first = 0; first < count; first += most_in_a_call) {
    if (first > 0)
      if (auto ok = j.next_part(); !ok) return ok;
    if (auto ok = f(first, std::min(most_in_a_call, count - first)); !ok) return ok;
  }
  return {};
}

/// A factor for our own kernels.
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

/// A matrix, or each of a batch, to be scaled.
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

/// C = beta * C: cleared by 0 and left by 1, unless `always` multiplied.
template <class T, class F>
result<void> scale(job& j, const region<T>& c, const scalar<F>& beta, bool always = false) {
  if (!always && beta.is(F(1))) return {};
  static const std::string name = kernel_name<T, F>("scale");
  const kernel_arguments::scaling all{.beta = number_of(beta),
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
  const grid threads = c.columns == 1 ? grid{256, 1} : grid{32, 8};
  return j.launch(name,
                  {at_most((c.rows + threads.x - 1) / threads.x, 4096),
                   at_most((c.columns + threads.y - 1) / threads.y, 4096), at_most(c.batch, 65535)},
                  threads, all);
}

/// Threads for a matrix, or a batch of them.
inline std::pair<grid, grid> for_elements(std::int64_t rows, std::int64_t columns, std::int64_t batch = 1) noexcept {
  return {{at_most((rows + 31) / 32, 4096), at_most((columns + 7) / 8, 4096), at_most(batch, 65535)}, {32, 8}};
}

}  // namespace troupe::blas
