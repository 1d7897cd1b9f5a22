// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/cuda_on_host/launcher.hpp>

#include <string>

namespace troupe::cuda_on_host {

namespace {

error refusal(const launch_options& options, const loaded_kernel& kernel, const std::string& what) {
  return error(reaction::caller_bug, "kernel",
               std::string(options.request) + ": " + what + " (kernel " + kernel.name + ")");
}

std::string extent(const char* field, std::uint64_t value, std::uint64_t limit, const char* unit = "") {
  return cat(field, " is ", value, "; expected 1 to ", limit, unit);
}

bool within(std::uint32_t value, std::uint32_t limit) noexcept { return value >= 1 && value <= limit; }

}  // namespace

result<void> check_launch(const loaded_kernel& kernel, dim grid, dim block, std::uint64_t shared_bytes,
                          const launch_options& options) {
  if (kernel.attributes.how == execution::never)
    return error(
        reaction::unsupported, "kernel",
        std::string(options.request) + ": kernel " + kernel.name + " needs a GPU: " + kernel.attributes.reason);
  constexpr dim g = launch_limits::grid, b = launch_limits::block;
  if (!within(grid.x, g.x)) return refusal(options, kernel, extent("grid.x", grid.x, g.x));
  if (!within(grid.y, g.y)) return refusal(options, kernel, extent("grid.y", grid.y, g.y));
  if (!within(grid.z, g.z)) return refusal(options, kernel, extent("grid.z", grid.z, g.z));
  if (!within(block.x, b.x)) return refusal(options, kernel, extent("block.x", block.x, b.x));
  if (!within(block.y, b.y)) return refusal(options, kernel, extent("block.y", block.y, b.y));
  if (!within(block.z, b.z)) return refusal(options, kernel, extent("block.z", block.z, b.z));
  const std::uint32_t limit =
      kernel.attributes.max_threads < launch_limits::threads ? kernel.attributes.max_threads : launch_limits::threads;
  if (const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z; threads > limit)
    return refusal(options, kernel,
                   cat("block has ", threads, " threads; expected at most ", limit,
                       limit < launch_limits::threads ? ", because of the kernel's __launch_bounds__" : ""));
  if (shared_bytes > launch_limits::shared_bytes - kernel.attributes.static_shared_bytes)
    return refusal(options, kernel,
                   cat("shared_bytes is ", shared_bytes, "; expected at most ",
                       launch_limits::shared_bytes - kernel.attributes.static_shared_bytes, ", because a block has ",
                       launch_limits::shared_bytes, " bytes of shared memory and this kernel uses ",
                       kernel.attributes.static_shared_bytes, " of them for its own variables"));
  return {};
}

}  // namespace troupe::cuda_on_host
