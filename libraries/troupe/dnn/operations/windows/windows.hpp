// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/graph/value.hpp>
#include <troupe/windows/per_axis.hpp>

namespace troupe::dnn {

using windows::per_axis;

}  // namespace troupe::dnn
