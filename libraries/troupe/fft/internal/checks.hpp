// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/cat.hpp>
#include <troupe/fft/options.hpp>
#include <troupe/request/checker.hpp>

namespace troupe::fft {

inline void known(checker& check, const normalization& n) {
  if (!is_known(n)) [[unlikely]]
    check.refuse(&n, cat("is ", static_cast<int>(n)), "none, inverse, orthonormal or forward");
}
inline void known(checker& check, const direction& d) {
  if (!is_known(d)) [[unlikely]]
    check.refuse(&d, cat("is ", static_cast<int>(d)), "forward or inverse");
}

}  // namespace troupe::fft
