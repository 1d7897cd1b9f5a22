// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/fft/options.hpp>
#include <troupe/request/checker.hpp>

namespace troupe::fft {

inline void known(checker& check, const normalization& n) {
  check.require(is_known(n), n, "is not a normalization", "none, inverse, orthonormal or forward");
}
inline void known(checker& check, const direction& d) {
  check.require(is_known(d), d, "is not a direction", "forward or inverse");
}

}  // namespace troupe::fft
