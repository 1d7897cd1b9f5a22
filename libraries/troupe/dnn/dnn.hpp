// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Everything of dnn: tensors, what is computed from them, and the requests.
#include <troupe/dnn/computation.hpp>
#include <troupe/dnn/convolution.hpp>
#include <troupe/dnn/normalization.hpp>
#include <troupe/dnn/pointwise.hpp>
#include <troupe/dnn/pooling.hpp>
#include <troupe/dnn/ready.hpp>
#include <troupe/dnn/reductions.hpp>
#include <troupe/dnn/shaping.hpp>
#include <troupe/request/request_list.hpp>

namespace troupe::dnn {

using all_requests = request_list<computation, prepare, read_statistics>;

}  // namespace troupe::dnn
