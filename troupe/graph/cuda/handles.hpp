// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <troupe/base/unique_handle.hpp>

namespace troupe::graph {

struct graph_traits {
  using type = CUgraph;
  static constexpr type null = nullptr;
  static void close(type g) noexcept { (void)::cuGraphDestroy(g); }
};
struct executable_traits {
  using type = CUgraphExec;
  static constexpr type null = nullptr;
  static void close(type g) noexcept { (void)::cuGraphExecDestroy(g); }
};
struct stream_traits {
  using type = CUstream;
  static constexpr type null = nullptr;
  static void close(type s) noexcept { (void)::cuStreamDestroy(s); }
};
struct event_traits {
  using type = CUevent;
  static constexpr type null = nullptr;
  static void close(type e) noexcept { (void)::cuEventDestroy(e); }
};
struct device_memory_traits {
  using type = CUdeviceptr;
  static constexpr type null = 0;
  static void close(type memory) noexcept { (void)::cuMemFree(memory); }
};
struct pinned_memory_traits {
  using type = std::byte*;
  static constexpr type null = nullptr;
  static void close(type memory) noexcept { (void)::cuMemFreeHost(memory); }
};
struct library_traits {
  using type = CUlibrary;
  static constexpr type null = nullptr;
  static void close(type l) noexcept { (void)::cuLibraryUnload(l); }
};

}  // namespace troupe::graph
