// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <troupe/kernel/engine/cuda/launch_graphs.hpp>

namespace troupe::kernel {
namespace {

CUDA_KERNEL_NODE_PARAMS parameters_of(const launch_shape& l, void** arguments) noexcept {
  CUDA_KERNEL_NODE_PARAMS p{};
  p.func = l.function;
  p.gridDimX = l.grid[0], p.gridDimY = l.grid[1], p.gridDimZ = l.grid[2];
  p.blockDimX = l.block[0], p.blockDimY = l.block[1], p.blockDimZ = l.block[2];
  p.sharedMemBytes = l.shared_bytes;
  p.kernelParams = arguments;
  return p;
}

std::uint64_t hash_of(std::span<const launch_shape> launches) noexcept {
  std::uint64_t hash = launches.size();
  const auto mix = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  };
  for (const launch_shape& l : launches) {
    mix(l.program);
    mix(reinterpret_cast<std::uintptr_t>(l.function));
    mix(l.grid[0] | std::uint64_t{l.grid[1]} << 32);
    mix(l.block[0] | std::uint64_t{l.grid[2]} << 32);
    mix(l.block[1] | std::uint64_t{l.block[2]} << 32);
    mix(l.shared_bytes);
  }
  return hash;
}

// Zeros, as arguments for making a graph: the driver requires arguments, although they are replaced before each launch.
// Each is as large as the largest parameter.
struct no_arguments {
  alignas(128) std::byte zeros[32768]{};
  void* addresses[launch_graphs::most_parameters];
  no_arguments() noexcept {
    for (void*& a : addresses) a = zeros;
  }
};

std::optional<launch_graphs::graph> make(std::span<const launch_shape> launches) {
  static no_arguments nothing;
  CUgraph made = nullptr;
  if (::cuGraphCreate(&made, 0) != CUDA_SUCCESS) return {};
  cuda::graph plan(made);
  std::vector<CUgraphNode> nodes(launches.size());
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const CUDA_KERNEL_NODE_PARAMS p = parameters_of(launches[i], nothing.addresses);
    if (::cuGraphAddKernelNode(&nodes[i], made, i == 0 ? nullptr : &nodes[i - 1], i == 0 ? 0 : 1, &p) != CUDA_SUCCESS)
      return {};
  }
  CUDA_GRAPH_INSTANTIATE_PARAMS how{};
  CUgraphExec out = nullptr;
  if (::cuGraphInstantiateWithParams(&out, made, &how) != CUDA_SUCCESS) return {};
  return launch_graphs::graph(std::move(plan), cuda::executable_graph(out), std::move(nodes), launches);
}

}  // namespace

CUresult launch_graphs::graph::set(std::size_t i, void** arguments) noexcept {
  const CUDA_KERNEL_NODE_PARAMS p = parameters_of(of_[i], arguments);
  return ::cuGraphExecKernelNodeSetParams(made_.get(), nodes_[i], &p);
}

launch_graphs::graph* launch_graphs::find(std::span<const launch_shape> launches) {
  ++now_;
  const std::uint64_t hash = hash_of(launches);
  auto at = known_.find(hash);
  if (at == known_.end()) {
    if (!is_worth_a_graph(hash, launches.size()) || !make_room()) return nullptr;
    at = known_.emplace(hash, sequence{.launches = {launches.begin(), launches.end()}, .graphs = {}}).first;
  } else if (!std::equal(launches.begin(), launches.end(), at->second.launches.begin(), at->second.launches.end())) {
    return nullptr;
  }
  at->second.used = now_;
  return next_of(at->second);
}

// Returns true if the sequence has occurred often enough for a graph to pay. Making a graph takes 25 us, and 2 us for
// each launch; it saves 2.6 us for each launch.
bool launch_graphs::is_worth_a_graph(std::uint64_t hash, std::size_t launches) noexcept {
  sighting& s = seen_[hash % seen_.size()];
  if (s.hash != hash) s = {.hash = hash};
  return ++s.times >= 2 + 16 / launches;
}

// Drops the least recently used sequence to make room for another; returns false if it was used recently. Otherwise, if
// more sequences repeat than are cached, their graphs would be made again and again.
bool launch_graphs::make_room() {
  constexpr std::uint64_t long_ago = 4 * most_kept;
  if (known_.size() < most_kept) return true;
  const auto oldest = std::min_element(known_.begin(), known_.end(),
                                       [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
  if (now_ - oldest->second.used < long_ago) return false;
  known_.erase(oldest);
  return true;
}

launch_graphs::graph* launch_graphs::next_of(sequence& s) {
  if (s.graphs.size() < s.wanted) {
    if (auto more = make(s.launches)) {
      s.graphs.push_back(std::move(*more));
      return &s.graphs.back();
    }
    s.wanted = s.graphs.size();  // so that a failed attempt is not repeated
  }
  return s.graphs.empty() ? nullptr : &s.graphs[s.next++ % s.graphs.size()];
}

}  // namespace troupe::kernel
