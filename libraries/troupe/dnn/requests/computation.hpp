// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/async/accepted.hpp>
#include <troupe/dnn/graph/graph.hpp>
#include <troupe/dnn/requests/options.hpp>
#include <troupe/plan/requests.hpp>
#include <troupe/request/for_device.hpp>
#include <troupe/request/ready_request.hpp>

namespace troupe::dnn {

/// Computes a graph of tensors, and writes its results.
struct computation {
  dnn::graph graph;
  computation_options options = {};
  TROUPE_REQUEST("dnn.computation", graph, options)
  void check(checker&) const;
};

/// Plans a computation before it is needed. Its memory is neither read nor written.
///   const auto bytes = gpu.ask(dnn::prepare{request}).get();
struct prepare {
  computation request;
  using reply = std::uint64_t;  ///< bytes of workspace that the plan needs
  /// Returns the preparation of the computation that a ready request is sent as.
  template <ready_request R>
  static prepare of(const R& r) {
    return {r.to_request()};
  }
  TROUPE_REQUEST("dnn.prepare", request)
  void check(checker&) const;
};

/// Replies how many plans were found and how many were made since the engine was opened; see plan::statistics.
using read_statistics = troupe::plan::read_statistics<"dnn">;

/// Computes values and writes them: sends the request `computation`, and returns before the request has run.
///   dnn::compute(gpu, {write(relu(convolution(read(x), read(filters))), y)});
template <std::same_as<device> Device>
accepted compute(const Device& gpu, graph g, const call_options_of<Device>& how = {}) {
  return gpu.tell(computation{std::move(g)}, how);
}

}  // namespace troupe::dnn
