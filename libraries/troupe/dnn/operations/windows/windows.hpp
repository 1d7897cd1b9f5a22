// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/graph/value.hpp>
#include <troupe/windows/options.hpp>

namespace troupe::dnn {

using windows::convolution_options, windows::most_spatial, windows::per_axis;

}  // namespace troupe::dnn
