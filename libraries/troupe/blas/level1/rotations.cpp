// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/blas/internal/checks.hpp>
#include <troupe/blas/level1/rotations.hpp>
#include <troupe/request/encoding/describe.hpp>

namespace troupe::blas {
namespace {

// Checks a result that may be written to the memory of an input.
template <class T>
void replaces(checker& check, const std::optional<out<T>>& place, const scalar<T>& input) {
  result_to(check, place);
  if (place && !input.by_value() && place->range().address == input.range().address) check.may_overlap(&input, &*place);
}

}  // namespace

template <class T>
void rotg<T>::check(checker& check) const {
  check.number(a);
  check.number(b);
  replaces(check, r, a);
  replaces(check, z, b);
  result_to(check, c);
  result_to(check, s);
}

template <class T, class S>
void rot<T, S>::check(checker& check) const {
  check.positive(n);
  vector(check, x, n, incx);
  vector(check, y, n, incy);
  check.number(c);
  check.number(s);
}

template <class T>
void rotmg<T>::check(checker& check) const {
  check.number(d1);
  check.number(d2);
  check.number(x1);
  check.number(y1);
  replaces(check, new_d1, d1);
  replaces(check, new_d2, d2);
  replaces(check, new_x1, x1);
  result_to(check, param);
}

template <class T>
void rotm<T>::check(checker& check) const {
  check.positive(n);
  vector(check, x, n, incx);
  vector(check, y, n, incy);
  check.number(param);
  if (!param.by_value()) return;
  const T flag = param.value().flag;
  if (flag != -2 && flag != -1 && flag != 0 && flag != 1)
    check.refuse(&param, "has flag " + troupe::detail::text(static_cast<double>(flag)), "-2, -1, 0 or 1");
}

}  // namespace troupe::blas

TROUPE_CHECKS(troupe::blas::all_rotations)
