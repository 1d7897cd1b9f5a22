// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/encoded_graph.hpp>

namespace troupe::dnn {

/// Whether a graph must be computed in double: it has f64, or integers that float has not.
bool needs_double(const encoded_graph& g);

}  // namespace troupe::dnn
