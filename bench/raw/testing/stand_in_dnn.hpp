// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bench/raw/raw_dnn.hpp>

namespace troupe::bench {

/// Computes graphs with the reference in double. If `is_wrong`, the last element of each operand is changed.
std::unique_ptr<raw_dnn> make_dnn_stand_in(bool is_wrong);

}  // namespace troupe::bench
