// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/blas/elements.hpp>

namespace troupe::blas {

/// Returns the argument for elements T. Pass null where there is no function for a type: a call for it then does not
/// compile.
template <class T, class S, class D, class C, class Z>
constexpr auto of_type([[maybe_unused]] S s, [[maybe_unused]] D d, [[maybe_unused]] C c,
                       [[maybe_unused]] Z z) noexcept {
  static_assert(is_full<T>);
  if constexpr (std::is_same_v<T, float>)
    return s;
  else if constexpr (std::is_same_v<T, double>)
    return d;
  else if constexpr (std::is_same_v<T, complex64>)
    return c;
  else
    return z;
}

}  // namespace troupe::blas
