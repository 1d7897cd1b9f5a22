// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <troupe/base/clock.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda_on_host/internal/block_pool.hpp>
#include <troupe/cuda_on_host/launcher.hpp>

namespace troupe::cuda_on_host {

namespace {

std::string coordinates(const troupe_host_dim& d) { return cat("(", d.x, ", ", d.y, ", ", d.z, ")"); }

std::string where(const troupe_host_fault& f) {
  return cat(f.file ? std::string(f.file) : std::string("line"), f.file ? ":" : " ", f.line);
}

std::string description_of(const grid_fault& g) {
  const troupe_host_fault& f = g.fault;
  switch (g.status) {
    case TROUPE_HOST_DIVERGED:
      return "divergent barrier: not all threads of a block reach the one at " + where(f) +
             (f.other_line ? cat("; others wait at line ", f.other_line) : "") +
             (f.text ? std::string("; ") + (f.thread != UINT32_MAX ? cat("thread ", f.thread, " ") : std::string()) +
                           f.text
                     : "");
    case TROUPE_HOST_TRAPPED:
      return "__trap() at " + where(f);
    case TROUPE_HOST_ASSERTION:
      return "assertion `" + std::string(f.text ? f.text : "") + "' failed at " + where(f);
    case TROUPE_HOST_MISPLACED:
      return "a barrier or warp operation at " + where(f) +
             " was reached by threads that run one after the other, because the translator cannot see this call; use "
             "its name, or compile for fibers only";
    case TROUPE_HOST_ON_GPUS_ONLY:
      return std::string(f.text ? f.text : "it needs a GPU") + (f.line != 0 ? "; reached at " + where(f) : "");
    case TROUPE_HOST_NO_MEMORY:
      return "no memory for the stacks or variables of a block's threads; use smaller blocks, or raise "
             "vm.max_map_count";
    default:
      return cat("its function returned ", g.status, ", which is not a status");
  }
}

reaction reaction_to(std::uint32_t status) noexcept {
  if (status == TROUPE_HOST_NO_MEMORY) return reaction::retry_later;
  return status == TROUPE_HOST_ON_GPUS_ONLY ? reaction::unsupported : reaction::caller_bug;
}

error failure(const launch_options& options, const loaded_kernel& kernel, const grid_fault& g) {
  return error({.reaction = reaction_to(g.status),
                .domain = "kernel",
                .code = g.status,
                .text = std::string(options.request) + ": kernel " + kernel.name + " was stopped in block " +
                        coordinates(g.index) + ": " + description_of(g)});
}

}  // namespace

launcher::launcher(int threads) : pool_(std::make_unique<block_pool>(threads > 0 ? threads : usable_cores())) {}
launcher::~launcher() = default;

int launcher::threads() const noexcept { return pool_->threads(); }

result<void> launcher::launch(const loaded_kernel& kernel, dim grid, dim block, std::uint64_t shared_bytes,
                              void* const* arguments, const launch_options& options) {
  TROUPE_TRY(check_launch(kernel, grid, block, shared_bytes, options));
  const grid_run run{.run = kernel.run,
                     .grid = grid,
                     .block = block,
                     .shared_bytes = static_cast<std::uint32_t>(shared_bytes),
                     .arguments = arguments,
                     .flush_to_zero = options.flush_to_zero};
  const grid_fault fault = pool_->run(run);
  if (fault.status != TROUPE_HOST_OK) return failure(options, kernel, fault);
  return {};
}

}  // namespace troupe::cuda_on_host
