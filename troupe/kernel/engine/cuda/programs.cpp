// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/cuda/errors.hpp>
#include <troupe/kernel/engine/cuda/programs.hpp>
#include <troupe/kernel/engine/match.hpp>

namespace troupe::kernel {
namespace {

unsigned count(const extent& e) noexcept { return static_cast<unsigned>(e.value()); }
CUdeviceptr pointer(const std::byte* p) noexcept { return reinterpret_cast<CUdeviceptr>(p); }
CUstream stream_of(const call& c) noexcept { return static_cast<CUstream>(c.stream); }

error launch_failed(CUresult r, const launch_order& l, const gpu_kernel& k) {
  const bool asked_too_much = r == CUDA_ERROR_INVALID_VALUE || r == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES ||
                              r == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  return error(error::details{.reaction = asked_too_much ? reaction::caller_bug : cuda::reaction_to(r),
                              .domain = asked_too_much ? "kernel" : "cuda",
                              .code = static_cast<std::int64_t>(r),
                              .text = std::string(l.request) + ": cuLaunchKernelEx: " + cuda::text_of(r) + " (kernel " +
                                      k.name + ", which takes " + std::to_string(k.registers) +
                                      " registers of each thread)"});
}

result<void> copied(CUresult r, std::string_view request) {
  if (r == CUDA_SUCCESS) [[likely]]
    return {};
  return cuda::failed(std::string(request) + ": cuMemcpyAsync", r);
}

}  // namespace

// All of its blocks must find room at the same time, or those that have it wait for ever.
result<void> gpu_programs::check_cooperative(const gpu_kernel& k, const launch_order& l, std::uint64_t threads) const {
  if (!limits_.cooperative)
    return error(reaction::unsupported, "kernel",
                 std::string(l.request) + ": cooperative is true, but this GPU cannot run all blocks at the same time");
  int each = 0;
  if (const CUresult r = ::cuOccupancyMaxActiveBlocksPerMultiprocessor(
          &each, k.function, static_cast<int>(threads), static_cast<std::size_t>(l.shared_bytes.value()));
      r != CUDA_SUCCESS)
    return launch_failed(r, l, k);
  const std::uint64_t most = static_cast<std::uint64_t>(each) * limits_.multiprocessors;
  const extent blocks = l.grid.x * l.grid.y * l.grid.z;
  if (!blocks.overflowed() && static_cast<std::uint64_t>(blocks.value()) <= most) return {};
  return error(
      reaction::caller_bug, "kernel",
      std::string(l.request) + ": grid has " +
          (blocks.overflowed() ? std::string("too many") : std::to_string(blocks.value())) +
          " blocks; expected at most " + std::to_string(most) +
          ", because cooperative is true and no more of such blocks run on this GPU at the same time (kernel " +
          k.name + ")");
}

result<void> gpu_programs::run(const program_root& root, const launch_order& l, call& c) {
  auto program = find(root, l.request);
  if (!program) [[unlikely]]
    return program.error();
  const auto found = (*program)->kernel(l.kernel, l.request);
  if (!found) [[unlikely]]
    return found.error();
  const gpu_kernel& k = **found;
  argument_frame frame;
  if (auto matching = frame.fill(l.values, k.name, k.parameters, l.request); !matching) [[unlikely]]
    return matching;
  const auto threads = static_cast<std::uint64_t>((l.block.x * l.block.y * l.block.z).value());
  const auto shared = static_cast<std::uint64_t>(l.shared_bytes.value());
  if (auto fits =
          check_room(k.name, {k.max_threads, k.static_shared_bytes, limits_.shared_bytes}, threads, shared, l.request);
      !fits) [[unlikely]]
    return fits;
  CUlaunchAttribute cooperative{};
  cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  cooperative.value.cooperative = 1;
  CUlaunchConfig how{};
  how.gridDimX = count(l.grid.x);
  how.gridDimY = count(l.grid.y);
  how.gridDimZ = count(l.grid.z);
  how.blockDimX = count(l.block.x);
  how.blockDimY = count(l.block.y);
  how.blockDimZ = count(l.block.z);
  how.sharedMemBytes = static_cast<unsigned>(shared);
  how.hStream = stream_of(c);
  if (l.cooperative) {
    if (auto fits = check_cooperative(k, l, threads); !fits) return fits;
    how.attrs = &cooperative;
    how.numAttrs = 1;
  }
  const CUresult r = ::cuLaunchKernelEx(&how, k.function, frame.addresses(), nullptr);
  if (r != CUDA_SUCCESS) [[unlikely]]
    return launch_failed(r, l, k);
  return {};
}

result<void> gpu_programs::write(const program_root& root, std::string_view name, extent offset, const std::byte* from,
                                 std::uint64_t bytes, std::string_view request, call& c) {
  program_ref keep;
  const auto to = place(root, name, offset, bytes, request, keep);
  if (!to) return to.error();
  return copied(::cuMemcpyAsync(pointer(*to), pointer(from), bytes, stream_of(c)), request);
}

result<void> gpu_programs::read(const program_root& root, std::string_view name, extent offset, std::byte* to,
                                std::uint64_t bytes, std::string_view request, call& c) {
  program_ref keep;
  const auto from = place(root, name, offset, bytes, request, keep);
  if (!from) return from.error();
  return copied(::cuMemcpyAsync(pointer(to), pointer(*from), bytes, stream_of(c)), request);
}

result<void> gpu_programs::put(std::byte* to, std::string_view what, std::string_view request) {
  const CUresult r = ::cuMemcpy(pointer(to), reinterpret_cast<CUdeviceptr>(what.data()), what.size());
  if (r == CUDA_SUCCESS) return {};
  return cuda::failed(std::string(request) + ": cuMemcpy", r);
}

}  // namespace troupe::kernel
