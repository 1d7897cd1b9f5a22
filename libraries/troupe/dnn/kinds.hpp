// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Which of several operations of one kind: arguments of functions and fields of requests. The numbers are sent between
/// processes and stored with plans: add at the end.
namespace troupe::dnn {

/// What a pooling takes of each window. The last is a mean without the zeros around the image.
enum class pooling_kind : std::int64_t { maximum, mean, mean_of_image };

/// How elements are combined.
enum class reduction_kind : std::int64_t { sum, mean, maximum, minimum, product, absolute_maximum, norm1, norm2 };

/// How an image is read between its elements.
enum class resampling_kind : std::int64_t { nearest, linear, cubic };

/// What a step of a recurrence computes from the step before it, see recurrence.hpp.
enum class recurrent_cell : std::int64_t { relu, tanh, lstm, gru };

}  // namespace troupe::dnn
