// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <troupe/kernel/engine/cuda/image.hpp>
#include <troupe/kernel/engine/cuda/launch_graphs.hpp>
#include <troupe/kernel/engine/program_store.hpp>
#include <troupe/worker/engine.hpp>
#include <vector>

namespace troupe::kernel {

/// The programs of a worker on a GPU. A launch is enqueued on the stream of its request's lane.
class gpu_programs : public program_store<gpu_image> {
 public:
  static constexpr bool puts_together = true;
  gpu_programs(const gpu_limits& limits, std::uint32_t lanes, maker make)
      : program_store(std::move(make)), limits_(limits), lanes_(lanes) {}

  result<void> run(const program_root& root, const launch_order& l, call& c);
  /// Runs `count` launches, in order, as one graph. `each(i, f)` calls `f(root, order)` for launch i. Returns false if
  /// the launches must run one by one; then nothing was enqueued, and a wrong launch fails when it runs alone.
  template <class Each>
  bool run_sequence(std::size_t count, const Each& each, call& c) {
    lane_runs* const lane = begin_sequence(c.lane, count);
    if (lane == nullptr) return false;
    for (std::size_t i = 0; i < count; ++i)
      if (!each(i, [&](const program_root& root, const launch_order& l) { return add_launch(*lane, root, l); }))
        return false;
    launch_graphs::graph* const graph = find_graph(*lane);
    if (graph == nullptr) return false;
    for (std::size_t i = 0; i < count; ++i)
      if (!each(i, [&](const program_root&, const launch_order& l) { return set_arguments(*graph, i, *lane, l); }))
        return false;
    return graph->launch(static_cast<CUstream>(c.stream)) == CUDA_SUCCESS;
  }
  result<occupancy> occupancy_of(const program_root& root, const occupancy_question& q);

  static result<void> copy(void* to, const void* from, std::uint64_t bytes, std::string_view request, call& c);
  /// Copies from the worker's memory to a request's memory and waits for the GPU. Call it on helper threads only.
  static result<void> put(std::byte* to, std::string_view what, std::string_view request, call& c);

 private:
  /// The graphs of one lane, whose operations run one at a time.
  struct lane_runs {
    launch_graphs graphs;
    std::vector<launch_shape> shapes;
    std::vector<const gpu_kernel*> kernels;
    // `in_vain`: sequences without a graph since the last sequence with one; `skipped`: sequences since the last that
    // was looked up. The longer launches do not repeat, the more sequences are skipped, because a search without a
    // result takes time.
    std::uint32_t in_vain = 0, skipped = 0;
  };
  lane_runs* begin_sequence(std::uint32_t lane, std::size_t count);
  bool add_launch(lane_runs& lane, const program_root& root, const launch_order& l);
  static launch_graphs::graph* find_graph(lane_runs& lane);
  static bool set_arguments(launch_graphs::graph& to, std::size_t i, const lane_runs& lane, const launch_order& l);

  result<void> check_launch_of(const gpu_kernel& k, const launch_order& l) const;
  result<void> check_cooperative(const gpu_kernel& k, const launch_order& l, const CUlaunchConfig& how) const;
  result<void> check_maps(const launch_order& l) const;
  result<void> check_cluster(const dimensions& cluster, std::string_view request) const;

  gpu_limits limits_;
  std::vector<std::unique_ptr<lane_runs>> lanes_;  // each is made when its lane is first used
};

}  // namespace troupe::kernel
