// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <troupe/cuda/handles.hpp>
#include <unordered_map>
#include <vector>

namespace troupe::kernel {

/// A launch without the values of its arguments. Launches with equal shapes can use the same graph.
struct launch_shape {
  /// program_root::id; the function alone is not enough, because the driver may reuse its address
  std::uint64_t program = 0;
  CUfunction function = nullptr;
  std::array<unsigned, 3> grid{}, block{};
  unsigned shared_bytes = 0;
  friend bool operator==(const launch_shape&, const launch_shape&) = default;
};

/// A cache of graphs for sequences of launches that repeat with other arguments. The driver takes 3.3 us for a launch,
/// but 0.7 us for a kernel of a graph. Making a graph takes about as long as the launches, so a graph is made only for
/// a sequence that has occurred a few times. Each cache belongs to one stream, and is used by one thread at a time.
class launch_graphs {
 public:
  static constexpr std::size_t most_kept = 64;  ///< most sequences in the cache
  /// The number of graphs of one sequence, which are used in turn: the driver can change the arguments of a graph while
  /// the graph runs, but does not run a graph twice at the same time.
  static constexpr std::size_t copies = 4;
  static constexpr std::size_t most_parameters = 256;  ///< most parameters of a kernel

  /// A graph with one kernel for each launch of a sequence.
  class graph {
   public:
    graph(cuda::graph plan, cuda::executable_graph made, std::vector<CUgraphNode> nodes,
          std::span<const launch_shape> of) noexcept
        : plan_(std::move(plan)), made_(std::move(made)), nodes_(std::move(nodes)), of_(of) {}
    /// Sets the arguments of kernel `i` for later calls of `launch`.
    CUresult set(std::size_t i, void** arguments) noexcept;
    CUresult launch(CUstream stream) noexcept { return ::cuGraphLaunch(made_.get(), stream); }

   private:
    cuda::graph plan_;  // owns the nodes
    cuda::executable_graph made_;
    std::vector<CUgraphNode> nodes_;
    std::span<const launch_shape> of_;
  };

  /// Returns a graph of these launches; the caller must set the arguments of all its kernels. Returns null if they must
  /// be launched one by one, because they have not occurred often enough or the driver cannot make a graph of them.
  graph* find(std::span<const launch_shape> launches);
  /// Returns the number of cached sequences.
  std::size_t kept() const noexcept { return known_.size(); }

 private:
  struct sequence {
    std::vector<launch_shape> launches;
    std::vector<graph> graphs;
    std::size_t next = 0, wanted = copies;
    std::uint64_t used = 0;  // value of `now_` when the sequence was last used
  };
  struct sighting {
    std::uint64_t hash = 0, times = 0;
  };

  bool is_worth_a_graph(std::uint64_t hash, std::size_t launches) noexcept;
  bool make_room();
  static graph* next_of(sequence& s);

  std::unordered_map<std::uint64_t, sequence> known_;
  std::array<sighting, 512> seen_{};
  std::uint64_t now_ = 0;
};

}  // namespace troupe::kernel
