// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/thread_team.hpp>
#include <troupe/dnn/steps/locations.hpp>

namespace troupe::dnn::host {

/// The graph, memory and threads of a running computation.
struct execution_context {
  const encoded_graph& graph;
  std::byte* scratch;
  std::span<const std::uint64_t> buffers;  ///< offset of each in scratch
  thread_team& team;

  /// Returns the address of a location.
  std::byte* at(const location& l) const noexcept {
    std::byte* const base =
        l.is_buffer ? scratch + buffers[l.number] : reinterpret_cast<std::byte*>(graph.memory()[l.number].address);
    return base + l.offset * static_cast<std::int64_t>(bytes_of(l.type));
  }
  template <class N>
  N* numbers(const location& l) const noexcept {
    return reinterpret_cast<N*>(at(l));
  }
};

}  // namespace troupe::dnn::host
