// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <complex>
#include <troupe/epilogue/host/runs.hpp>

namespace troupe::epilogue::host {
namespace {

template <class T>
std::complex<T> value(op what, std::complex<T> x, std::complex<T> y) noexcept {
  switch (what) {
    case op::negate:
      return -x;
    case op::add:
      return x + y;
    case op::subtract:
      return x - y;
    case op::multiply:
      return x * y;
    case op::divide:
      return x / y;
    default:
      return x;
  }
}

template <class T>
void apply_each(op what, basic_complex<T>* out, const basic_complex<T>* x, const basic_complex<T>* y,
                std::int64_t n) noexcept {
  for (std::int64_t i = 0; i < n; ++i) out[i] = value<T>(what, x[i], y[i]);
}

// Precondition for the next two functions: the type is c64 or c128.
template <class T>
void read_each(dtype type, const void* from, std::int64_t stride, basic_complex<T>* to, std::int64_t n) noexcept {
  const auto each = [&](const auto* at) {
    for (std::int64_t i = 0; i < n; ++i) to[i] = basic_complex<T>(at[i * stride]);
  };
  type == dtype::c64 ? each(static_cast<const complex64*>(from)) : each(static_cast<const complex128*>(from));
}
template <class T>
void write_each(dtype type, const basic_complex<T>* from, void* to, std::int64_t stride, std::int64_t n) noexcept {
  const auto each = [&]<class C>(C* at) {
    for (std::int64_t i = 0; i < n; ++i) at[i * stride] = C(from[i]);
  };
  type == dtype::c64 ? each(static_cast<complex64*>(to)) : each(static_cast<complex128*>(to));
}

}  // namespace

void apply(op what, complex64* out, const complex64* x, const complex64* y, const complex64*, std::int64_t n) noexcept {
  apply_each(what, out, x, y, n);
}
void apply(op what, complex128* out, const complex128* x, const complex128* y, const complex128*,
           std::int64_t n) noexcept {
  apply_each(what, out, x, y, n);
}
void read(dtype type, const void* from, std::int64_t stride, complex64* to, std::int64_t n) noexcept {
  read_each(type, from, stride, to, n);
}
void read(dtype type, const void* from, std::int64_t stride, complex128* to, std::int64_t n) noexcept {
  read_each(type, from, stride, to, n);
}
void write(dtype type, const complex64* from, void* to, std::int64_t stride, std::int64_t n) noexcept {
  write_each(type, from, to, stride, n);
}
void write(dtype type, const complex128* from, void* to, std::int64_t stride, std::int64_t n) noexcept {
  write_each(type, from, to, stride, n);
}
// Rounds to c64 or c128. Both hold every complex64, so nothing changes.
void round(dtype, const complex64* from, complex64* to, std::int64_t n) noexcept { std::copy_n(from, n, to); }
void round(dtype type, const complex128* from, complex128* to, std::int64_t n) noexcept {
  for (std::int64_t i = 0; i < n; ++i) to[i] = type == dtype::c64 ? complex128(complex64(from[i])) : from[i];
}

}  // namespace troupe::epilogue::host
