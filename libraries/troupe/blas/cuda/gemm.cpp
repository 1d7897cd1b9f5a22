// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/try.hpp>
#include <troupe/blas/cuda/engine.hpp>
#include <troupe/blas/cuda/products.hpp>
#include <troupe/blas/gemm.hpp>

namespace troupe::blas {

static constexpr routine gemm_ex{&cublasGemmEx_64, "cublasGemmEx_64"};
static constexpr routine gemm_strided_batched_ex{&cublasGemmStridedBatchedEx_64, "cublasGemmStridedBatchedEx_64"};
static constexpr routine gemm_batched_ex{&cublasGemmBatchedEx_64, "cublasGemmBatchedEx_64"};
static constexpr routine gemm_grouped_batched_ex{&cublasGemmGroupedBatchedEx_64, "cublasGemmGroupedBatchedEx_64"};

template <class T, class C>
static result<void> enqueue(const gemm<T, C>& r, job& j) {
  const product_shape s = shape_of(r);
  const region<C> c{.c = r.c.data(), .rows = s.m, .columns = s.n, .ld = s.ldc};
  const auto ours = [&] {
    return multiply_ours<T, C>(j, product_of(s, r.alpha, r.beta, r.a.data(), r.b.data(), r.c.data()));
  };
  if (is_small(s)) return ours();
  if (r.alpha.is(0)) return scale(j, c, r.beta);
  if (!suits_cublas<T>(s, r.alpha, r.beta) || !suits_cublas<T>(r.a.data()) || !suits_cublas<T>(r.b.data()))
    return ours();
  const auto f = TROUPE_TRY(j.factors(r.alpha, r.beta));
  const auto attempt = [&](cublasComputeType_t compute) {
    return j.attempt(gemm_ex, code<T>(s.trans_a), code<T>(s.trans_b), s.m, s.n, s.k, std::get<0>(f), r.a.data(),
                     data_type<T>, s.lda, r.b.data(), data_type<T>, s.ldb, std::get<1>(f), r.c.data(), data_type<C>,
                     s.ldc, compute, CUBLAS_GEMM_DEFAULT);
  };
  return unless_zero(j, r.alpha, r.beta, c, [&] { return multiply<T, C>(j, gemm_ex.name, r.math, attempt, ours); });
}

template <class T, class C>
static result<void> enqueue(const gemm_strided_batched<T, C>& r, job& j) {
  const product_shape s = shape_of(r);
  const auto stride = [](extent given, std::int64_t ld, std::int64_t columns) {
    return or_tight(given, extent(ld) * columns).value();
  };
  const std::int64_t a = stride(r.stride_a, s.lda, s.columns_a()), b = stride(r.stride_b, s.ldb, s.columns_b()),
                     c = stride(r.stride_c, s.ldc, s.n), batch = r.batch.value();
  const region<C> results{.c = r.c.data(), .rows = s.m, .columns = s.n, .ld = s.ldc, .batch = batch, .stride = c};
  if (r.alpha.is(0)) return scale(j, results, r.beta);
  const auto ours = [&] {
    return multiply_ours<T, C>(j, static_cast<std::size_t>(batch), [&](std::size_t index) {
      const auto i = static_cast<std::int64_t>(index);
      return product_of(s, r.alpha, r.beta, r.a.data() + i * a, r.b.data() + i * b, r.c.data() + i * c);
    });
  };
  if (!suits_cublas<T>(s, r.alpha, r.beta) || !suits_cublas<T>(r.a.data()) || !suits_cublas<T>(r.b.data()) ||
      (std::is_same_v<T, std::int8_t> && (a % 4 != 0 || b % 4 != 0)))
    return ours();
  const auto f = TROUPE_TRY(j.factors(r.alpha, r.beta));
  const auto attempt = [&](cublasComputeType_t compute) {
    return j.attempt(gemm_strided_batched_ex, code<T>(s.trans_a), code<T>(s.trans_b), s.m, s.n, s.k, std::get<0>(f),
                     r.a.data(), data_type<T>, s.lda, a, r.b.data(), data_type<T>, s.ldb, b, std::get<1>(f), r.c.data(),
                     data_type<C>, s.ldc, c, batch, compute, CUBLAS_GEMM_DEFAULT);
  };
  return unless_zero(j, r.alpha, r.beta, results,
                     [&] { return multiply<T, C>(j, gemm_strided_batched_ex.name, r.math, attempt, ours); });
}

// Enqueues products first to first + count - 1 of the lists.
template <class T, class C, class R>
static result<void> multiply_list(job& j, const R& r, const product_shape& s, const scalar<compute_of<T, C>>& alpha,
                                  const scalar<compute_of<T, C>>& beta, std::size_t first, std::size_t count) {
  const auto ours = [&](std::size_t from, std::size_t here) {
    return multiply_ours<T, C>(j, here, [&, from](std::size_t i) {
      return product_of(s, alpha, beta, r.a[from + i].data(), r.b[from + i].data(), r.c[from + i].data());
    });
  };
  bool suits = suits_cublas<T>(s, alpha, beta);
  for (std::size_t i = first; suits && i < first + count; ++i)
    suits = suits_cublas<T>(r.a[i].data()) && suits_cublas<T>(r.b[i].data());
  if (!suits && !alpha.is(0)) return ours(first, count);
  return in_parts(j, count, [&](std::size_t begin, std::size_t here) -> result<void> {
    const auto c = TROUPE_TRY(j.addresses(r.c, first + begin, here));
    const region<C> results{
        .c = nullptr, .rows = s.m, .columns = s.n, .ld = s.ldc, .batch = static_cast<std::int64_t>(here), .list = c};
    if (alpha.is(0)) return scale(j, results, beta);
    const auto a = TROUPE_TRY(j.addresses(r.a, first + begin, here));
    const auto b = TROUPE_TRY(j.addresses(r.b, first + begin, here));
    const auto f = TROUPE_TRY(j.factors(alpha, beta));
    const auto attempt = [&](cublasComputeType_t compute) {
      return j.attempt(gemm_batched_ex, code<T>(s.trans_a), code<T>(s.trans_b), s.m, s.n, s.k, std::get<0>(f),
                       reinterpret_cast<const void* const*>(a), data_type<T>, s.lda,
                       reinterpret_cast<const void* const*>(b), data_type<T>, s.ldb, std::get<1>(f),
                       reinterpret_cast<void* const*>(c), data_type<C>, s.ldc, static_cast<std::int64_t>(here), compute,
                       CUBLAS_GEMM_DEFAULT);
    };
    return unless_zero(j, alpha, beta, results, [&] {
      return multiply<T, C>(j, gemm_batched_ex.name, r.math, attempt, [&] { return ours(first + begin, here); });
    });
  });
}

template <class T, class C>
static result<void> enqueue(const gemm_batched<T, C>& r, job& j) {
  return multiply_list<T, C>(j, r, shape_of(r), r.alpha, r.beta, 0, r.a.size());
}

// The types for which cuBLAS computes groups in one call.
template <class T, class C>
inline constexpr bool has_grouped = std::is_same_v<T, C> && !is_complex<T> && !std::is_same_v<T, std::int8_t>;

template <class T, class C>
class groups_of {
 public:
  groups_of(const gemm_grouped<T, C>& r, job& j) : r_(r), j_(j) {}

  // Enqueues the small products of all groups as one launch of our kernel, and the large ones with cuBLAS.
  result<void> enqueue() {
    std::size_t first = 0;
    for (const auto& g : r_.groups) {
      const auto count = static_cast<std::size_t>(g.count.value());
      const part one{&g, shape_of(g), first, count};
      (is_small(one.shape) ? small_ : g.alpha == number(0) ? cleared_ : large_).push_back(one);
      first += count;
    }
    for (const part& p : cleared_) TROUPE_TRY(one_by_one(p));
    TROUPE_TRY(multiply_small());
    if (has_grouped<T, C> && large_.size() > 1 && count_of(large_) <= most_in_a_call) return multiply_large();
    return each_large();
  }

 private:
  using number = compute_of<T, C>;
  struct part {
    const gemm_group<number>* group;
    product_shape shape;
    std::size_t first, count;
  };
  static std::size_t count_of(const std::vector<part>& parts) noexcept {
    std::size_t out = 0;
    for (const part& p : parts) out += p.count;
    return out;
  }

  result<void> one_by_one(const part& p) {
    TROUPE_TRY(j_.next_part());
    return multiply_list<T, C>(j_, r_, p.shape, scalar<number>(p.group->alpha), scalar<number>(p.group->beta), p.first,
                               p.count);
  }
  result<void> each_large() {
    for (const part& p : large_) TROUPE_TRY(one_by_one(p));
    return {};
  }
  result<void> multiply_small() {
    auto p = small_.begin();
    std::size_t i = 0;
    return multiply_ours<T, C>(j_, count_of(small_), [&](std::size_t) {
      while (i == p->count) ++p, i = 0;
      const std::size_t at = p->first + i++;
      return product_of(p->shape, scalar<number>(p->group->alpha), scalar<number>(p->group->beta), r_.a[at].data(),
                        r_.b[at].data(), r_.c[at].data());
    });
  }

  template <class F>
  auto of_each(F&& f) const {
    std::vector<decltype(f(large_[0]))> out;
    for (const part& p : large_) out.push_back(f(p));
    return out;
  }
  template <class O>
  result<typename O::pointer const*> addresses(const list<O>& all) {
    const auto at = TROUPE_TRY(j_.template allocate<typename O::pointer>(count_of(large_)));
    std::size_t next = 0;
    for (const part& p : large_)
      for (std::size_t i = 0; i < p.count; ++i) at[next++] = all[p.first + i].data();
    return static_cast<typename O::pointer const*>(at);
  }
  result<void> multiply_large() {
    TROUPE_TRY(j_.next_part());
    TROUPE_TRY(j_.scalars_in(CUBLAS_POINTER_MODE_HOST));
    const auto a = TROUPE_TRY(addresses(r_.a));
    const auto b = TROUPE_TRY(addresses(r_.b));
    const auto c = TROUPE_TRY(addresses(r_.c));
    const auto ops_a = of_each([](const part& p) { return code<T>(p.shape.trans_a); }),
               ops_b = of_each([](const part& p) { return code<T>(p.shape.trans_b); });
    const auto m = of_each([](const part& p) { return p.shape.m; }),
               n = of_each([](const part& p) { return p.shape.n; }),
               k = of_each([](const part& p) { return p.shape.k; }),
               lda = of_each([](const part& p) { return p.shape.lda; }),
               ldb = of_each([](const part& p) { return p.shape.ldb; }),
               ldc = of_each([](const part& p) { return p.shape.ldc; }),
               counts = of_each([](const part& p) { return static_cast<std::int64_t>(p.count); });
    const auto alpha = of_each([](const part& p) { return p.group->alpha; }),
               beta = of_each([](const part& p) { return p.group->beta; });
    return multiply<T, C>(
        j_, gemm_grouped_batched_ex.name, r_.math,
        [&](cublasComputeType_t compute) {
          return j_.attempt(gemm_grouped_batched_ex, ops_a.data(), ops_b.data(), m.data(), n.data(), k.data(),
                            alpha.data(), reinterpret_cast<const void* const*>(a), data_type<T>, lda.data(),
                            reinterpret_cast<const void* const*>(b), data_type<T>, ldb.data(), beta.data(),
                            reinterpret_cast<void* const*>(c), data_type<C>, ldc.data(),
                            static_cast<std::int64_t>(large_.size()), counts.data(), compute);
        },
        [&] { return each_large(); });
  }

  const gemm_grouped<T, C>& r_;
  job& j_;
  std::vector<part> cleared_, small_, large_;
};

template <class T, class C>
static result<void> enqueue(const gemm_grouped<T, C>& r, job& j) {
  return groups_of<T, C>(r, j).enqueue();
}

// Enqueues small products as one launch, whatever their shapes.
template <class T, class C>
static std::uint64_t group_key(const gemm<T, C>& r) noexcept {
  return is_small(shape_of(r)) ? 1 : 0;
}
template <class T, class C>
static result<void> enqueue_group(const group<gemm<T, C>>& all, job& j) {
  return multiply_ours<T, C>(j, all.size(), [&](std::size_t i) {
    const gemm<T, C> r = all[i];
    return product_of(shape_of(r), r.alpha, r.beta, r.a.data(), r.b.data(), r.c.data());
  });
}

operations gemm_operations() noexcept { return operations_of<cublas, all_products>(); }

}  // namespace troupe::blas
