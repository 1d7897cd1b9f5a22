// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/graph/encoded_graph.hpp>

namespace troupe::dnn {

/// Returns true if a graph must be computed in double: it has f64 tensors, or integers that float cannot represent.
bool needs_double(const encoded_graph& g);

}  // namespace troupe::dnn
