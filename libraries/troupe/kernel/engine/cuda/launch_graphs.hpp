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

/// A launch without its arguments.
struct launch_shape {
  std::uint64_t program = 0;  ///< program_root::id: the driver may give a function's address to another program's later
  CUfunction function = nullptr;
  std::array<unsigned, 3> grid{}, block{};
  unsigned shared_bytes = 0;
  friend bool operator==(const launch_shape&, const launch_shape&) = default;
};

/// Launches that have come before, one after the other, as graphs whose kernels take other arguments each time: the
/// driver takes 3.3 us for a launch, and 0.7 for a kernel of such a graph. To make one takes about as long as the
/// launches themselves, so it is made for launches that have come a few times. For one stream, and for one thread at a
/// time.
class launch_graphs {
 public:
  static constexpr std::size_t most_kept = 64;  ///< different sequences of launches
  /// The driver can change the arguments of a graph while it runs, but a graph does not run beside itself.
  static constexpr std::size_t copies = 4;
  static constexpr std::size_t most_parameters = 256;  ///< of a kernel

  class graph {
   public:
    graph(cuda::graph plan, cuda::executable_graph made, std::vector<CUgraphNode> nodes,
          std::span<const launch_shape> of) noexcept
        : plan_(std::move(plan)), made_(std::move(made)), nodes_(std::move(nodes)), of_(of) {}
    /// Sets the arguments of launch `i`, for `launch` calls from now on.
    CUresult set(std::size_t i, void** arguments) noexcept;
    CUresult launch(CUstream stream) noexcept { return ::cuGraphLaunch(made_.get(), stream); }

   private:
    cuda::graph plan_;  // which the nodes belong to
    cuda::executable_graph made_;
    std::vector<CUgraphNode> nodes_;
    std::span<const launch_shape> of_;
  };

  /// Returns a graph of these launches, whose arguments must all be set; or null if they must be launched one by one:
  /// they have not come often enough, or the driver makes no graph of them.
  graph* find(std::span<const launch_shape> launches);
  std::size_t kept() const noexcept { return known_.size(); }

 private:
  struct sequence {
    std::vector<launch_shape> launches;
    std::vector<graph> graphs;
    std::size_t next = 0, wanted = copies;
    std::uint64_t used = 0;  // when, as `now_` counts
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
