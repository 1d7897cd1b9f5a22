// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/enumeration.hpp>

/// Variants of operations that kernels read, too: arguments of functions and fields of requests. Their numbers are sent
/// between processes and stored with plans: add new ones at the end.
namespace troupe::dnn {

/// The result of a pooling for each window. `mean` counts padding as zeros, `mean_of_image` leaves it out.
enum class pooling_kind : std::int64_t { maximum, mean, mean_of_image };
TROUPE_ENUM(pooling_kind, maximum, mean, mean_of_image)

/// The function by which a reduction combines elements.
enum class reduction_kind : std::int64_t { sum, mean, maximum, minimum, product, absolute_maximum, norm1, norm2 };
TROUPE_ENUM(reduction_kind, sum, mean, maximum, minimum, product, absolute_maximum, norm1, norm2)

/// The kind of cell: the function that a recurrence computes at each step; see recurrence.hpp.
enum class recurrent_cell : std::int64_t { relu, tanh, lstm, gru };
TROUPE_ENUM(recurrent_cell, relu, tanh, lstm, gru)

}  // namespace troupe::dnn
