// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda/errors.hpp>
#include <troupe/kernel/engine/cuda/programs.hpp>
#include <troupe/kernel/engine/match.hpp>

namespace troupe::kernel {
namespace {

unsigned count(const extent& e) noexcept { return static_cast<unsigned>(e.value()); }
CUdeviceptr pointer(const void* p) noexcept { return reinterpret_cast<CUdeviceptr>(p); }
CUstream stream_of(const call& c) noexcept { return static_cast<CUstream>(c.stream); }

extent blocks_of(const dimensions& d) noexcept { return d.x * d.y * d.z; }

// A launch configuration together with its attributes, to which it has a pointer.
class launch_config {
 public:
  launch_config(const dimensions& grid, const dimensions& block, std::size_t shared_bytes, CUstream stream) noexcept {
    config_.gridDimX = count(grid.x);
    config_.gridDimY = count(grid.y);
    config_.gridDimZ = count(grid.z);
    config_.blockDimX = count(block.x);
    config_.blockDimY = count(block.y);
    config_.blockDimZ = count(block.z);
    config_.sharedMemBytes = static_cast<unsigned>(shared_bytes);
    config_.hStream = stream;
    config_.attrs = attributes_;
  }
  launch_config(const launch_config&) = delete;

  void cluster(const dimensions& d) noexcept {
    add(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).clusterDim = {count(d.x), count(d.y), count(d.z)};
  }
  void cooperative() noexcept { add(CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative = 1; }
  void dependent() noexcept {
    add(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION).programmaticStreamSerializationAllowed = 1;
  }
  void carveout(unsigned per_cent) noexcept {
    add(CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT).sharedMemCarveout = per_cent;
  }
  const CUlaunchConfig& get() const noexcept { return config_; }

 private:
  CUlaunchAttributeValue& add(CUlaunchAttributeID id) noexcept {
    CUlaunchAttribute& a = attributes_[config_.numAttrs++];
    a.id = id;
    return a.value;
  }
  CUlaunchConfig config_{};
  CUlaunchAttribute attributes_[4]{};
};

error launch_failed(CUresult r, const launch_order& l, const gpu_kernel& k) {
  const bool asked_too_much = r == CUDA_ERROR_INVALID_VALUE || r == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES ||
                              r == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE || r == CUDA_ERROR_INVALID_CLUSTER_SIZE;
  return error(error::details{
      .reaction = asked_too_much ? reaction::caller_bug : cuda::reaction_to(r),
      .domain = asked_too_much ? "kernel" : "cuda",
      .code = static_cast<std::int64_t>(r),
      .text = cat(l.request, ": cuLaunchKernelEx: ", cuda::text_of(r), " (kernel ", k.name, ", which takes ",
                  k.registers, " registers per thread)",
                  asked_too_much ? "; use a smaller grid, block or cluster, or less shared memory" : "")});
}

// The values of Troupe's enumerations equal those of CUDA's.
std::string make_map(const tensor_layout& m, std::uint64_t address, void* descriptor) {
  static_assert(sizeof(CUtensorMap) == tensor_descriptor_bytes && alignof(CUtensorMap) <= tensor_descriptor_alignment);
  static_assert(static_cast<int>(tensor_type::u6x16_align16) == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B &&
                static_cast<int>(tensor_type::tf32) == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 &&
                static_cast<int>(tensor_type::bf16) == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 &&
                static_cast<int>(tensor_type::f16) == CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
  static_assert(static_cast<int>(tensor_interleave::bytes_32) == CU_TENSOR_MAP_INTERLEAVE_32B &&
                static_cast<int>(tensor_swizzle::bytes_128) == CU_TENSOR_MAP_SWIZZLE_128B &&
                static_cast<int>(tensor_swizzle::bytes_128_atoms_64) == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B &&
                static_cast<int>(tensor_promotion::bytes_256) == CU_TENSOR_MAP_L2_PROMOTION_L2_256B &&
                static_cast<int>(tensor_fill::nan_for_zero_fma) == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
  const CUresult r = ::cuTensorMapEncodeTiled(
      static_cast<CUtensorMap*>(descriptor), static_cast<CUtensorMapDataType>(m.type), m.rank,
      reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), m.sizes.data(), m.strides.data(), m.box.data(),
      m.steps.data(), static_cast<CUtensorMapInterleave>(m.interleave), static_cast<CUtensorMapSwizzle>(m.swizzle),
      static_cast<CUtensorMapL2promotion>(m.promotion), static_cast<CUtensorMapFloatOOBfill>(m.fill));
  return r == CUDA_SUCCESS ? ""
                           : "is a tensor map that the driver refuses: cuTensorMapEncodeTiled: " + cuda::text_of(r);
}

}  // namespace

result<void> gpu_programs::check_cluster(const dimensions& cluster, std::string_view request) const {
  if (cluster == dimensions(1) || limits_.major >= 9) [[likely]]
    return {};
  return error(reaction::unsupported, "kernel",
               cat(request, ": cluster has ", blocks_of(cluster).value(), " blocks, but this GPU has capability ",
                   limits_.major, ".", limits_.minor, "; clusters need 9.0 or newer"));
}

result<void> gpu_programs::check_maps(const launch_order& l) const {
  if (limits_.major >= 9) [[likely]]
    return {};
  if (const auto map = first_map_in(l.values))
    return error(reaction::unsupported, "kernel",
                 cat(l.request, ": argument ", *map, " is a tensor map, but this GPU has capability ", limits_.major,
                     ".", limits_.minor, "; the tensor memory accelerator needs 9.0 or newer"));
  return {};
}

// Checks that all blocks fit on the GPU at the same time; otherwise those that run would wait for the others forever.
result<void> gpu_programs::check_cooperative(const gpu_kernel& k, const launch_order& l,
                                             const CUlaunchConfig& how) const {
  if (!limits_.cooperative)
    return error(reaction::unsupported, "kernel",
                 std::string(l.request) + ": cooperative is true, but this GPU cannot run all blocks at the same time");
  int each = 0;
  std::uint64_t most = 0;
  if (l.cluster == dimensions(1)) {
    const auto threads = static_cast<int>(how.blockDimX * how.blockDimY * how.blockDimZ);
    if (const CUresult r =
            ::cuOccupancyMaxActiveBlocksPerMultiprocessor(&each, k.function, threads, how.sharedMemBytes);
        r != CUDA_SUCCESS)
      return launch_failed(r, l, k);
    most = static_cast<std::uint64_t>(each) * limits_.multiprocessors;
  } else {
    if (const CUresult r = ::cuOccupancyMaxActiveClusters(&each, k.function, &how); r != CUDA_SUCCESS)
      return launch_failed(r, l, k);
    most = static_cast<std::uint64_t>(each) * static_cast<std::uint64_t>(blocks_of(l.cluster).value());
  }
  const extent blocks = blocks_of(l.grid);
  if (!blocks.overflowed() && static_cast<std::uint64_t>(blocks.value()) <= most) return {};
  return error(
      reaction::caller_bug, "kernel",
      cat(l.request, ": grid has ", blocks.overflowed() ? std::string("too many") : std::to_string(blocks.value()),
          " blocks; expected at most ", most,
          ", because cooperative is true and this GPU runs no more of these blocks at the same time (kernel ", k.name,
          ")"));
}

result<void> gpu_programs::check_launch_of(const gpu_kernel& k, const launch_order& l) const {
  TROUPE_TRY(check_cluster(l.cluster, l.request));
  const auto threads = static_cast<std::uint64_t>(blocks_of(l.block).value());
  return check_limits(k.name, {k.max_threads, k.static_shared_bytes, limits_.shared_bytes}, threads,
                      static_cast<std::uint64_t>(l.shared_bytes.value()), l.request);
}

result<void> gpu_programs::run(const program_root& root, const launch_order& l, call& c) {
  const auto found = TROUPE_TRY(find_kernel(root, l.kernel, l.request));
  const gpu_kernel& k = *found.kernel;
  TROUPE_TRY(check_maps(l));
  argument_frame frame;
  TROUPE_TRY(frame.fill(l.values, k.name, k.parameters, l.request, &make_map));
  TROUPE_TRY(check_launch_of(k, l));
  launch_config how(l.grid, l.block, static_cast<std::size_t>(l.shared_bytes.value()), stream_of(c));
  if (l.cluster != dimensions(1)) how.cluster(l.cluster);
  if (l.cooperative) {
    TROUPE_TRY(check_cooperative(k, l, how.get()));
    how.cooperative();
  }
  if (l.dependent && limits_.major >= 9) how.dependent();
  if (l.shared_carveout >= 0) how.carveout(static_cast<unsigned>(l.shared_carveout));
  const CUresult r = ::cuLaunchKernelEx(&how.get(), k.function, frame.addresses(), nullptr);
  if (r != CUDA_SUCCESS) [[unlikely]]
    return launch_failed(r, l, k);
  return {};
}

gpu_programs::lane_runs* gpu_programs::begin_sequence(std::uint32_t number, std::size_t count) {
  std::unique_ptr<lane_runs>& lane = lanes_[number];
  if (!lane) lane = std::make_unique<lane_runs>();
  constexpr std::uint32_t patience = 16;  // one more sequence is skipped after each 16 in vain, and at most 16
  if (lane->skipped < std::min(lane->in_vain / patience, patience)) return ++lane->skipped, nullptr;
  lane->skipped = 0;
  lane->shapes.clear(), lane->kernels.clear();
  lane->shapes.reserve(count), lane->kernels.reserve(count);
  return lane.get();
}

bool gpu_programs::add_launch(lane_runs& lane, const program_root& root, const launch_order& l) {
  const auto found = find_kernel(root, l.kernel, l.request);
  if (!found) return false;
  const gpu_kernel& k = *found->kernel;
  if (k.parameters.size() > launch_graphs::most_parameters || !check_maps(l) || !check_launch_of(k, l)) return false;
  lane.shapes.push_back({.program = root.id,
                         .function = k.function,
                         .grid = {count(l.grid.x), count(l.grid.y), count(l.grid.z)},
                         .block = {count(l.block.x), count(l.block.y), count(l.block.z)},
                         .shared_bytes = count(l.shared_bytes)});
  lane.kernels.push_back(&k);
  return true;
}

launch_graphs::graph* gpu_programs::find_graph(lane_runs& lane) {
  launch_graphs::graph* const found = lane.graphs.find(lane.shapes);
  lane.in_vain = found != nullptr ? 0 : lane.in_vain + 1;
  return found;
}

bool gpu_programs::set_arguments(launch_graphs::graph& to, std::size_t i, const lane_runs& lane,
                                 const launch_order& l) {
  argument_frame frame;
  return frame.fill(l.values, lane.kernels[i]->name, lane.kernels[i]->parameters, l.request, &make_map) &&
         to.set(i, frame.addresses()) == CUDA_SUCCESS;
}

result<occupancy> gpu_programs::occupancy_of(const program_root& root, const occupancy_question& q) {
  auto program = TROUPE_TRY(find(root, q.request));
  const auto found = TROUPE_TRY(program->kernel(q.kernel, q.request));
  TROUPE_TRY(check_cluster(q.cluster, q.request));
  const gpu_kernel& k = *found;
  const auto threads = static_cast<int>(blocks_of(q.block).value());
  const auto shared = static_cast<std::size_t>(q.shared_bytes.value());
  const auto failed = [&](const char* what, CUresult r) {
    return cuda::failed(std::string(q.request) + ": " + what + " (kernel " + k.name + ")", r);
  };
  occupancy out{.processors = limits_.multiprocessors};
  int blocks = 0, best_grid = 0, best_block = 0;
  if (static_cast<std::uint32_t>(threads) <= k.max_threads && shared + k.static_shared_bytes <= limits_.shared_bytes)
    if (const CUresult r = ::cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, k.function, threads, shared);
        r != CUDA_SUCCESS)
      return failed("cuOccupancyMaxActiveBlocksPerMultiprocessor", r);
  if (const CUresult r = ::cuOccupancyMaxPotentialBlockSize(&best_grid, &best_block, k.function, nullptr, shared, 0);
      r != CUDA_SUCCESS)
    return failed("cuOccupancyMaxPotentialBlockSize", r);
  out.blocks = static_cast<std::uint32_t>(blocks);
  out.best_threads = static_cast<std::uint32_t>(best_block);
  out.best_blocks = static_cast<std::uint32_t>(best_grid);
  if (limits_.major < 9 || blocks == 0) return out;
  launch_config how(q.cluster, q.block, shared, nullptr);
  int clusters = 0, largest = 0;
  if (const CUresult r = ::cuOccupancyMaxPotentialClusterSize(&largest, k.function, &how.get()); r != CUDA_SUCCESS)
    return failed("cuOccupancyMaxPotentialClusterSize", r);
  out.most_cluster_blocks = static_cast<std::uint32_t>(largest);
  if (q.cluster == dimensions(1)) return out;
  how.cluster(q.cluster);
  if (const CUresult r = ::cuOccupancyMaxActiveClusters(&clusters, k.function, &how.get()); r != CUDA_SUCCESS)
    return failed("cuOccupancyMaxActiveClusters", r);
  out.clusters = static_cast<std::uint32_t>(clusters);
  return out;
}

result<void> gpu_programs::copy(void* to, const void* from, std::uint64_t bytes, std::string_view request, call& c) {
  return cuda::done(::cuMemcpyAsync(pointer(to), pointer(from), bytes, stream_of(c)), request, "cuMemcpyAsync");
}

// When the call returns, a copy from memory that is not pinned may still be in progress, so wait for it.
result<void> gpu_programs::put(std::byte* to, std::string_view what, std::string_view request, call& c) {
  TROUPE_TRY(copy(to, what.data(), what.size(), request, c));
  return cuda::done(::cuStreamSynchronize(stream_of(c)), "cuStreamSynchronize");
}

}  // namespace troupe::kernel
