// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/worker/engine.hpp>

#include "support.hpp"
#include "workers.hpp"

namespace troupe::blas {

/// The host engine of blas: OpenBLAS. It locks for itself, so lanes may call it together, and it chooses its own
/// threads.
///
/// Each source beside this one has a `compute(request)` for some requests, or a `compute(request, workers&)` for
/// batches, and lists them at its end. Those that may share a call also have `is_small(request)`.
class openblas {
 public:
  static result<std::unique_ptr<openblas>> make(const engine_context&) { return std::make_unique<openblas>(); }
  const char* version() const noexcept { return version_.c_str(); }

  template <class R>
  result<typename R::reply> run(const R& r, call&) {
    if constexpr (requires { compute(r, workers_); })
      return compute(r, workers_);
    else
      return compute(r);
  }

  /// On a processor, requests of one kind need not be alike to be run one after the other.
  template <class R>
  static std::uint64_t group_of(const R& r) {
    return is_small(r) ? 1 : 0;
  }
  template <class R>
  result<void> run_group(const group<R>& all, call& c) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      // Small requests are never refused.
      [[maybe_unused]] const auto done = run(all[i], c);
      if constexpr (!std::is_void_v<typename R::reply>) all.answer(i, *done);
    }
    return {};
  }

 private:
  std::string version_ = openblas_get_config();
  workers workers_{static_cast<unsigned>(openblas_get_num_threads())};
};

/// Small enough that the way to the engine costs more than the work: at most this many multiplications, in a shape that
/// OpenBLAS can count.
template <class R, class... E>
bool is_small_work(const R& r, std::int64_t limit, const E&... sizes) noexcept {
  std::int64_t work = 1;
  for (const extent e : {extent(sizes)...}) {
    if (e > limit) return false;
    work *= e.value();
    if (work > limit) return false;
  }
  return R::visit_fields(r, [](std::string_view, const auto&... field) { return (countable(field) && ...); });
}

using operations = std::span<const troupe_engine_operation>;
operations level1_operations() noexcept;
operations rotation_operations() noexcept;
operations level2_operations() noexcept;
operations triangular_operations() noexcept;
operations update_operations() noexcept;
operations gemm_operations() noexcept;
operations level3_operations() noexcept;
operations extension_operations() noexcept;
operations batched_operations() noexcept;
operations factorization_operations() noexcept;

}  // namespace troupe::blas
