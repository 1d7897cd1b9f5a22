// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <troupe/async/accepted.hpp>
#include <troupe/dnn/graph/graph.hpp>
#include <troupe/dnn/requests/options.hpp>
#include <troupe/plan/requests.hpp>
#include <troupe/request/for_device.hpp>
#include <troupe/request/ready_request.hpp>

namespace troupe::dnn {

/// A workspace without a limit.
inline constexpr std::uint64_t any_workspace = std::numeric_limits<std::uint64_t>::max();

/// Computes a graph of tensors, and writes its results.
struct computation {
  dnn::graph graph;
  dnn::precision precision = dnn::precision::exact;
  dnn::repeatability repeatability = dnn::repeatability::always;
  dnn::fusion fusion = dnn::fusion::allowed;
  dnn::choice choice = dnn::choice::recommended;
  /// The most bytes of workspace: memory beside the operands, for tensors between steps and for vendor kernels. Kernels
  /// on the host also allocate small buffers while they run: 2 MiB for a convolution, for example.
  std::uint64_t workspace = any_workspace;
  using reply = void;
  TROUPE_REQUEST("dnn.computation", graph, precision, repeatability, fusion, choice, workspace)
  void check(checker&) const;
};

/// Plans a graph ahead of the first computation. The graph's memory is neither read nor written.
struct prepare {
  dnn::graph graph;
  dnn::precision precision = dnn::precision::exact;
  dnn::repeatability repeatability = dnn::repeatability::always;
  dnn::fusion fusion = dnn::fusion::allowed;
  dnn::choice choice = dnn::choice::recommended;
  std::uint64_t workspace = any_workspace;
  using reply = std::uint64_t;  ///< bytes of workspace that the plan needs
  static prepare of(const computation& r) {
    return {r.graph.without_writes(), r.precision, r.repeatability, r.fusion, r.choice, r.workspace};
  }
  template <ready_request R>
  static prepare of(const R& r) {
    return of(r.sent());
  }
  TROUPE_REQUEST("dnn.prepare", graph, precision, repeatability, fusion, choice, workspace)
  void check(checker&) const;
};

/// Replies how many plans were found and how many were made since the engine was opened, see plan::statistics.
using read_statistics = troupe::plan::read_statistics<"dnn">;

/// Computes and writes values: sends the request `computation`, and returns before it has run.
///   dnn::compute(gpu, {write(relu(convolution(read(x), read(filters))), y)});
template <std::same_as<device> Device>
accepted compute(const Device& gpu, graph g, const call_options_of<Device>& how = {}) {
  return gpu.tell(computation{std::move(g)}, how);
}

}  // namespace troupe::dnn
