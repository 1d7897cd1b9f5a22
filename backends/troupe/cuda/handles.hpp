// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <cstddef>
#include <troupe/base/linux/unique_handle.hpp>

/// Owning handles of the driver's objects.
namespace troupe::cuda {

template <class Handle, auto Close>
struct handle_traits {
  using type = Handle;
  static constexpr type null{};
  static void close(type handle) noexcept { (void)Close(handle); }
};

using stream = unique_handle<handle_traits<CUstream, ::cuStreamDestroy>>;
using event = unique_handle<handle_traits<CUevent, ::cuEventDestroy>>;
using graph = unique_handle<handle_traits<CUgraph, ::cuGraphDestroy>>;
using executable_graph = unique_handle<handle_traits<CUgraphExec, ::cuGraphExecDestroy>>;
using code_library = unique_handle<handle_traits<CUlibrary, ::cuLibraryUnload>>;
using code_module = unique_handle<handle_traits<CUmodule, ::cuModuleUnload>>;
using device_memory = unique_handle<handle_traits<CUdeviceptr, ::cuMemFree>>;
using pinned_memory = unique_handle<handle_traits<std::byte*, ::cuMemFreeHost>>;

}  // namespace troupe::cuda
