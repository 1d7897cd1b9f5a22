// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/threads/thread_team.hpp>
#include <troupe/dnn/steps/locations.hpp>

namespace troupe::dnn::host {

/// The context of a running computation: the graph, the address of its workspace, and the threads.
struct execution_context {
  const encoded_graph& graph;
  std::byte* workspace;
  std::span<const std::uint64_t> buffers;  ///< offset of each buffer in the workspace
  thread_team& team;

  /// Returns the address of a location.
  std::byte* at(const location& l) const noexcept {
    std::byte* const base =
        l.is_buffer ? workspace + buffers[l.number] : reinterpret_cast<std::byte*>(graph.memory()[l.number].address);
    return base + l.offset * static_cast<std::int64_t>(bytes_of(l.type));
  }
  template <class N>
  N* elements(const location& l) const noexcept {
    return reinterpret_cast<N*>(at(l));
  }
  template <class N>
  N* elements(const location* l) const noexcept {
    return l != nullptr ? elements<N>(*l) : nullptr;
  }
};

}  // namespace troupe::dnn::host
