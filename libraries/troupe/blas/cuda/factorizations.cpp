// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/blas/cuda/engine.hpp>
#include <troupe/blas/factorizations.hpp>

namespace troupe::blas {

static_assert(std::is_same_v<int, std::int32_t>, "pivots and info are passed on as they are");

// These routines of cuBLAS have no 64-bit version.
template <class R, class... F>
static result<void> fits(const R& r, const F&... fields) {
  result<void> out;
  const auto look = [&](const extent& e) {
    if (!out || e == tight || e <= INT32_MAX) return;
    out = error(reaction::unsupported, "blas",
                cat(name_of<R>(), ": ", field_name<R>(&r, &e), " is ", e.value(),
                    "; expected at most 2147483647, because cuBLAS counts in 32 bits here"));
  };
  (look(fields), ...);
  return out;
}
static int narrow(extent e) noexcept { return static_cast<int>(e.value()); }
static int narrow(std::size_t count) noexcept { return static_cast<int>(count); }

// cuBLAS also reports a wrong argument through `info`, on the host. That would be a bug: requests are checked before.
static result<void> accepted(const char* name, int info) {
  if (info == 0) return {};
  return error(reaction::fatal, "blas",
               cat(name, " refused its argument number ", -info,
                   "; Troupe's own checks should have refused it: please report this"));
}

template <class T>
static result<void> enqueue(const getrf_batched<T>& r, job& j) {
  TROUPE_TRY(fits(r, r.n, r.lda));
  return in_parts(j, r.a.size(), [&](std::size_t first, std::size_t count) -> result<void> {
    const auto a = TROUPE_TRY(j.addresses(r.a, first, count));
    int* const pivots = r.pivots ? r.pivots->data() + first * static_cast<std::size_t>(r.n.value()) : nullptr;
    return j(TROUPE_CUBLAS(getrfBatched), narrow(r.n), a, narrow(or_tight(r.lda, r.n)), pivots, r.info.data() + first,
             narrow(count));
  });
}

// Pivots in memory can be any numbers, and cuBLAS would write where they point. Calls solve(pivots) with pivots that
// are rows of their matrix. A matrix that had others gets NaN in `c` and -1 in `info`, if that is not null.
template <class T, class Solve>
static result<void> with_safe_pivots(job& j, const int* pivots, extent n, std::size_t count, T* const* c,
                                     extent columns, extent ldc, int* info, Solve&& solve) {
  const std::size_t all = static_cast<std::size_t>(n.value()) * count;
  const cuda::scratch memory = TROUPE_TRY(j.memory((all + count) * sizeof(int)));
  int *const wrong = memory.as<int>(), *const safe = wrong + count;
  TROUPE_TRY(cuda::done_on(j.stream(), "blas", "cuMemsetD32Async",
                           ::cuMemsetD32Async(memory.address(), 0, count, j.stream())));
  const auto batch = static_cast<std::int64_t>(count);
  TROUPE_TRY(j.launch(
      kernel<"check_pivots">, {at_most((static_cast<std::int64_t>(all) + 255) / 256, 4096)}, {256},
      kernel_arguments::pivot_check{.pivots = pivots, .safe = safe, .wrong = wrong, .n = n.value(), .batch = batch}));
  TROUPE_TRY(solve(static_cast<const int*>(safe)));
  const auto [blocks, threads] = for_elements(n.value(), columns.value(), batch);
  return j.launch(kernel<"poison", T>, blocks, threads,
                  kernel_arguments::poisoning{.list = reinterpret_cast<void* const*>(c),
                                              .wrong = wrong,
                                              .info = info,
                                              .batch = batch,
                                              .rows = n.value(),
                                              .columns = columns.value(),
                                              .ld = ldc.value()});
}

template <class T>
static result<void> enqueue(const getrs_batched<T>& r, job& j) {
  TROUPE_TRY(fits(r, r.n, r.nrhs, r.lda, r.ldb));
  const extent ldb = or_tight(r.ldb, r.n);
  return in_parts(j, r.a.size(), [&](std::size_t first, std::size_t count) -> result<void> {
    const auto a = TROUPE_TRY(j.addresses(r.a, first, count));
    const auto b = TROUPE_TRY(j.addresses(r.b, first, count));
    const auto solve = [&](const int* pivots) -> result<void> {
      int info = 0;
      auto ok = j(TROUPE_CUBLAS(getrsBatched), code<T>(r.trans), narrow(r.n), narrow(r.nrhs), a,
                  narrow(or_tight(r.lda, r.n)), pivots, b, narrow(ldb), &info, narrow(count));
      return ok ? accepted(TROUPE_CUBLAS(getrsBatched).name, info) : ok;
    };
    if (!r.pivots) return solve(nullptr);
    return with_safe_pivots(j, r.pivots->data() + first * static_cast<std::size_t>(r.n.value()), r.n, count, b, r.nrhs,
                            ldb, nullptr, solve);
  });
}

template <class T>
static result<void> enqueue(const getri_batched<T>& r, job& j) {
  TROUPE_TRY(fits(r, r.n, r.lda, r.ldc));
  const extent ldc = or_tight(r.ldc, r.n);
  return in_parts(j, r.a.size(), [&](std::size_t first, std::size_t count) -> result<void> {
    const auto a = TROUPE_TRY(j.addresses(r.a, first, count));
    const auto c = TROUPE_TRY(j.addresses(r.c, first, count));
    int* const info = r.info.data() + first;
    const auto invert = [&](const int* pivots) {
      return j(TROUPE_CUBLAS(getriBatched), narrow(r.n), a, narrow(or_tight(r.lda, r.n)), pivots, c, narrow(ldc), info,
               narrow(count));
    };
    if (!r.pivots) return invert(nullptr);
    return with_safe_pivots(j, r.pivots->data() + first * static_cast<std::size_t>(r.n.value()), r.n, count, c, r.n,
                            ldc, info, invert);
  });
}

// Inverts matrices that are too large for cuBLAS's matinv: copies them to scratch memory, factors the copies, and
// inverts.
template <class T>
static result<void> invert_in_scratch(const matinv_batched<T>& r, job& j, std::size_t first, std::size_t count) {
  const auto n = static_cast<std::size_t>(r.n.value());
  const cuda::scratch memory = TROUPE_TRY(j.memory((n * n * sizeof(T) + n * sizeof(int)) * count));
  T* const factors = memory.as<T>();
  int* const pivots = reinterpret_cast<int*>(factors + n * n * count);
  const auto beside = TROUPE_TRY(j.allocate<T*>(count));
  for (std::size_t i = 0; i < count; ++i) beside[i] = factors + n * n * i;
  const auto a = TROUPE_TRY(j.addresses(r.a, first, count));
  const auto c = TROUPE_TRY(j.addresses(r.c, first, count));
  const auto batch = static_cast<std::int64_t>(count);
  const auto [blocks, threads] = for_elements(r.n.value(), r.n.value(), batch);
  TROUPE_TRY(j.launch(kernel<"copy", T>, blocks, threads,
                      kernel_arguments::copying{.from = reinterpret_cast<const void* const*>(a),
                                                .to = reinterpret_cast<void* const*>(beside),
                                                .batch = batch,
                                                .rows = r.n.value(),
                                                .columns = r.n.value(),
                                                .from_ld = or_tight(r.lda, r.n).value(),
                                                .to_ld = r.n.value()}));
  int* const info = r.info.data() + first;
  TROUPE_TRY(j(TROUPE_CUBLAS(getrfBatched), narrow(r.n), static_cast<T* const*>(beside), narrow(r.n), pivots, info,
               narrow(count)));
  return j(TROUPE_CUBLAS(getriBatched), narrow(r.n), const_cast<const T* const*>(beside), narrow(r.n),
           static_cast<const int*>(pivots), c, narrow(or_tight(r.ldc, r.n)), info, narrow(count));
}

template <class T>
static result<void> enqueue(const matinv_batched<T>& r, job& j) {
  TROUPE_TRY(fits(r, r.n, r.lda, r.ldc));
  constexpr std::int64_t largest = 32;
  if (r.n > largest) {
    // Scratch memory for the matrices of one call; a single larger matrix gets what it needs.
    constexpr std::size_t enough = std::size_t{64} << 20;
    const auto n = static_cast<std::size_t>(r.n.value());
    const std::size_t at_once = std::clamp<std::size_t>(enough / (n * n * sizeof(T)), 1, most_in_a_call);
    for (std::size_t first = 0; first < r.a.size(); first += at_once) {
      TROUPE_TRY(j.next_part());
      TROUPE_TRY(invert_in_scratch(r, j, first, std::min(at_once, r.a.size() - first)));
    }
    return {};
  }
  return in_parts(j, r.a.size(), [&](std::size_t first, std::size_t count) -> result<void> {
    const auto a = TROUPE_TRY(j.addresses(r.a, first, count));
    const auto c = TROUPE_TRY(j.addresses(r.c, first, count));
    return j(TROUPE_CUBLAS(matinvBatched), narrow(r.n), a, narrow(or_tight(r.lda, r.n)), c,
             narrow(or_tight(r.ldc, r.n)), r.info.data() + first, narrow(count));
  });
}

template <class T>
static result<void> enqueue(const geqrf_batched<T>& r, job& j) {
  TROUPE_TRY(fits(r, r.m, r.n, r.lda));
  return in_parts(j, r.a.size(), [&](std::size_t first, std::size_t count) -> result<void> {
    const auto a = TROUPE_TRY(j.addresses(r.a, first, count));
    const auto tau = TROUPE_TRY(j.addresses(r.tau, first, count));
    int info = 0;
    auto ok = j(TROUPE_CUBLAS(geqrfBatched), narrow(r.m), narrow(r.n), a, narrow(or_tight(r.lda, r.m)), tau, &info,
                narrow(count));
    return ok ? accepted(TROUPE_CUBLAS(geqrfBatched).name, info) : ok;
  });
}

template <class T>
static result<void> enqueue(const gels_batched<T>& r, job& j) {
  TROUPE_TRY(fits(r, r.m, r.n, r.nrhs, r.lda, r.ldc));
  return in_parts(j, r.a.size(), [&](std::size_t first, std::size_t count) -> result<void> {
    const auto a = TROUPE_TRY(j.addresses(r.a, first, count));
    const auto c = TROUPE_TRY(j.addresses(r.c, first, count));
    int info = 0;
    auto ok =
        j(TROUPE_CUBLAS(gelsBatched), CUBLAS_OP_N, narrow(r.m), narrow(r.n), narrow(r.nrhs), a,
          narrow(or_tight(r.lda, r.m)), c, narrow(or_tight(r.ldc, r.m)), &info, r.info.data() + first, narrow(count));
    return ok ? accepted(TROUPE_CUBLAS(gelsBatched).name, info) : ok;
  });
}

operations factorization_operations() noexcept { return operations_of<cublas, all_factorizations>(); }

}  // namespace troupe::blas
