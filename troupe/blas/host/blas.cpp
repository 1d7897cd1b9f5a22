// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The host engine of blas: OpenBLAS. It locks for itself, so lanes may call it together, and it chooses its own
// threads.
#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <troupe/blas/requests.hpp>
#include <troupe/request/checker.hpp>
#include <troupe/worker/engine.hpp>

namespace troupe::blas {
namespace {

static_assert(sizeof(blasint) == 4, "the limits below are those of an OpenBLAS that counts in 32 bits");
constexpr std::int64_t most = INT32_MAX;

template <class T>
struct routines;
template <>
struct routines<float> {
  static constexpr auto gemm = cblas_sgemm;
  static constexpr auto gemv = cblas_sgemv;
  static constexpr auto axpy = cblas_saxpy;
  static constexpr auto scal = cblas_sscal;
  static constexpr auto dot = cblas_sdot;
};
template <>
struct routines<double> {
  static constexpr auto gemm = cblas_dgemm;
  static constexpr auto gemv = cblas_dgemv;
  static constexpr auto axpy = cblas_daxpy;
  static constexpr auto scal = cblas_dscal;
  static constexpr auto dot = cblas_ddot;
};

CBLAS_TRANSPOSE code(op o) noexcept {
  if (o == op::none) return CblasNoTrans;
  return o == op::transpose ? CblasTrans : CblasConjTrans;
}

blasint narrow(extent e) noexcept { return static_cast<blasint>(e.value()); }

template <class R>
error too_large(const R& r, const extent& field, std::string_view limit) {
  std::string text(name_of<R>());
  text.append(": ")
      .append(field_name<R>(&r, &field))
      .append(" is ")
      .append(std::to_string(field.value()))
      .append("; ")
      .append(limit);
  return error(reaction::unsupported, "blas", std::move(text));
}

template <class R, class... Field>
result<void> fits(const R& r, const Field&... fields) {
  const extent* large = nullptr;
  ((large == nullptr && fields != tight && std::abs(fields.value()) > most ? void(large = &fields) : void()), ...);
  if (large == nullptr) return {};
  return too_large(r, *large,
                   "OpenBLAS counts in 32 bits, so the host engine takes at most 2147483647: split the request");
}

// OpenBLAS looks for the start of a vector that is walked backwards in 32 bits.
template <class R>
result<void> reaches_back(const R& r, std::int64_t n, const extent& inc) {
  if (inc >= 0 || inc == tight || (n - 1) * -inc.value() <= most) return {};
  return too_large(r, inc,
                   "OpenBLAS counts in 32 bits, so the host engine walks back over at most 2147483647 elements: use a "
                   "positive increment");
}

// Vectors that are longer or wider than 32 bits go in pieces. f(count, x offset, x increment, y offset, y increment).
template <class F>
void pieces(std::int64_t n, std::int64_t incx, std::int64_t incy, F&& f) {
  const std::int64_t piece = std::max<std::int64_t>(1, most / std::max(std::abs(incx), std::abs(incy)));
  for (std::int64_t i = 0; i < n; i += piece) {
    const std::int64_t count = std::min(piece, n - i);
    const auto offset = [&](std::int64_t inc) { return inc > 0 ? i * inc : (n - i - count) * -inc; };
    const auto step = [&](std::int64_t inc) { return count == 1 ? 1 : static_cast<blasint>(inc); };
    f(static_cast<blasint>(count), offset(incx), step(incx), offset(incy), step(incy));
  }
}

// For the factors that OpenBLAS's scal gets wrong: 0 and, on some processors, NaN write zeros whatever x holds
// (0.3.21).
template <class T, class F>
void replace(T* x, std::int64_t n, std::int64_t inc, F&& f) {
  for (std::int64_t i = 0; i < n; ++i) x[i * std::abs(inc)] = f(x[i * std::abs(inc)]);
}

class openblas {
 public:
  static result<std::unique_ptr<openblas>> make(const engine_context&) { return std::make_unique<openblas>(); }
  const char* version() const noexcept { return version_.c_str(); }

  template <class T>
  result<void> run(const gemm<T>& r, call&) {
    if (auto ok = fits(r, r.m, r.n, r.k, r.lda, r.ldb, r.ldc); !ok) return ok;
    const extent lda = or_tight(r.lda, r.trans_a == op::none ? r.m : r.k),
                 ldb = or_tight(r.ldb, r.trans_b == op::none ? r.k : r.n);
    // With alpha 0 the product is not formed, whatever a and b hold; OpenBLAS's kernels for AVX-512 read them
    // all the same.
    const blasint k = r.alpha == T(0) ? 0 : narrow(r.k);
    routines<T>::gemm(CblasColMajor, code(r.trans_a), code(r.trans_b), narrow(r.m), narrow(r.n), k, r.alpha, r.a.data(),
                      narrow(lda), r.b.data(), narrow(ldb), r.beta, r.c.data(), narrow(or_tight(r.ldc, r.m)));
    return {};
  }

  template <class T>
  result<void> run(const gemv<T>& r, call&) {
    const bool turned = r.trans != op::none;
    const std::int64_t nx = (turned ? r.m : r.n).value(), ny = (turned ? r.n : r.m).value();
    if (auto ok = fits(r, r.m, r.n, r.lda, r.incx, r.incy); !ok) return ok;
    if (auto ok = reaches_back(r, nx, r.incx); !ok) return ok;
    if (auto ok = reaches_back(r, ny, r.incy); !ok) return ok;
    const extent incx = or_tight(r.incx, 1), incy = or_tight(r.incy, 1);
    T beta = r.beta;
    // OpenBLAS would scale y, and scaling goes wrong with these, as below; with 0 some versions keep the NaN that y
    // held.
    if (beta == 0 || std::isnan(beta)) {
      replace(r.y.data(), ny, incy.value(), [beta](T) { return beta; });
      beta = 1;
    }
    routines<T>::gemv(CblasColMajor, code(r.trans), narrow(r.m), narrow(r.n), r.alpha, r.a.data(),
                      narrow(or_tight(r.lda, r.m)), r.x.data(), narrow(incx), beta, r.y.data(), narrow(incy));
    return {};
  }

  template <class T>
  result<void> run(const axpy<T>& r, call&) {
    pieces(r.n.value(), or_tight(r.incx, 1).value(), or_tight(r.incy, 1).value(),
           [&r](blasint n, std::int64_t x, blasint incx, std::int64_t y, blasint incy) {
             routines<T>::axpy(n, r.alpha, r.x.data() + x, incx, r.y.data() + y, incy);
           });
    return {};
  }

  template <class T>
  result<void> run(const scal<T>& r, call&) {
    const std::int64_t inc = std::abs(or_tight(r.incx, 1).value());
    if (r.alpha == 0 || std::isnan(r.alpha)) {
      replace(r.x.data(), r.n.value(), inc, [alpha = r.alpha](T x) { return alpha * x; });
      return {};
    }
    pieces(r.n.value(), inc, inc, [&r](blasint n, std::int64_t x, blasint incx, std::int64_t, blasint) {
      routines<T>::scal(n, r.alpha, r.x.data() + x, incx);
    });
    return {};
  }

  template <class T>
  result<T> run(const dot<T>& r, call&) {
    double sum = 0;
    pieces(r.n.value(), or_tight(r.incx, 1).value(), or_tight(r.incy, 1).value(),
           [&](blasint n, std::int64_t x, blasint incx, std::int64_t y, blasint incy) {
             sum += static_cast<double>(routines<T>::dot(n, r.x.data() + x, incx, r.y.data() + y, incy));
           });
    return static_cast<T>(sum);
  }

 private:
  std::string version_ = openblas_get_config();
};

}  // namespace
}  // namespace troupe::blas

using namespace troupe::blas;
TROUPE_ENGINE(openblas, "blas", "host", gemm<float>, gemm<double>, gemv<float>, gemv<double>, axpy<float>, axpy<double>,
              scal<float>, scal<double>, dot<float>, dot<double>)
