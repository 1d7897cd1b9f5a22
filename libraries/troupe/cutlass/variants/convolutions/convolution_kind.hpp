// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe::cutlass {

/// The product that computes a convolution. For positions and taps see `convolution_arguments` in
/// templates/arguments.hpp.
///  - forward: lines of the first factor are positions of y, its terms are taps in x. Lines of the second factor are
///    filters, and their taps are contiguous.
///  - data_gradient: lines of the first factor are positions of dx whose coordinates have one remainder modulo the
///  stride,
///    its terms are taps in dy: the filter's elements that contribute to them. Lines of the second factor are channels;
///    its taps may be at any offsets.
///  - weight_gradient: terms are positions of dy. Lines of the first factor are filters, lines of the second taps in x.
enum class convolution_kind : std::uint8_t { none, forward, data_gradient, weight_gradient };

}  // namespace troupe::cutlass
