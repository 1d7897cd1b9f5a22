// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe::cutlass {

/// The product that computes a convolution: see `window` in templates/arguments.hpp.
///  - forward: lines of the first factor are positions, terms are taps; the second has the taps as contiguous terms.
///  - data_gradient: the same, of the gradient of the result; positions are those of the image whose coordinates have
///    one remainder by the stride, taps the filter's elements that contribute to them; terms of the second have any
///    offset.
///  - weight_gradient: terms are positions. Lines of the first are filters, lines of the second are taps.
enum class convolution : std::uint8_t { none, forward, data_gradient, weight_gradient };

}  // namespace troupe::cutlass
