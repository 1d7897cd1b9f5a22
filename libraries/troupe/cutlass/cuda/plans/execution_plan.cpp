// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cutlass/cuda/plans/execution_plan.hpp>
#include <troupe/cutlass/cuda/window_descriptors.hpp>
#include <troupe/cutlass/variants/ampere_plans.hpp>
#include <troupe/cutlass/variants/hopper_plans.hpp>

namespace troupe::cutlass {
namespace {

constexpr std::size_t most_argument_bytes = 4096;

// Returns the number of terms in an element.
int units_in(dtype t) noexcept { return static_cast<int>(matmul::k_per_element(t)); }

// Returns the fields of a map that all products with a signature share. The inner axis of a box has 128 bytes of lines
// or terms, or less if a stage has less.
matrix_map box_of(const factor& f, int lines_of_piece, int depth) {
  matrix_map m;
  const int bytes = std::min(128, static_cast<int>(bytes_of(f.type)) * depth / units_in(f.type));
  m.inner_box = static_cast<std::uint32_t>(bytes) / static_cast<std::uint32_t>(bytes_of(f.type));
  m.outer_box = static_cast<std::uint32_t>(f.term != 1 ? depth : lines_of_piece);
  m.type = map_type(f.type);
  m.swizzle = bytes == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
              : bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                            : CU_TENSOR_MAP_SWIZZLE_32B;
  return m;
}
// Completes a map. The contiguous axis of the factor, terms or lines, is the inner axis.
matrix_map map_of(matrix_map m, const factor& f, std::int64_t lines, std::int64_t terms, std::int64_t batch) {
  const auto bytes = static_cast<std::int64_t>(bytes_of(f.type));
  const bool by_lines = f.term != 1;
  m.address = f.address;
  const std::int64_t units = terms / units_in(f.type);
  m.inner = static_cast<std::uint64_t>(by_lines ? lines : units);
  m.outer = static_cast<std::uint64_t>(by_lines ? units : lines);
  m.batch = static_cast<std::uint64_t>(f.batch == 0 ? 1 : batch);
  // The stride of a single line may be any number; the accelerator requires at least 16 bytes.
  const std::int64_t stride = std::max<std::int64_t>((by_lines ? f.term : f.line) * bytes, 16);
  m.outer_stride = static_cast<std::uint64_t>(stride);
  m.batch_stride = static_cast<std::uint64_t>(f.batch == 0 ? stride : f.batch * bytes);
  return m;
}
factor as_factor(const placed_matrix& d) noexcept { return {d.address, d.type, d.row, 1, d.batch}; }

std::uint64_t bytes_of_sum(const problem& p) noexcept { return p.sums == dtype::f64 ? sizeof(double) : sizeof(float); }

// Sets the tiles, the blocks and the memory for sums.
void set_grid(const problem& p, const candidate& c, const kernel_variant& kernel, execution_plan& execution) {
  const plan& chosen = c.plan;
  const int halves = p.paired ? 2 : 1;
  const auto up = [](std::int64_t x, std::int64_t y) { return (x + y - 1) / y * y; };
  const auto parts = [](std::int64_t x, std::int64_t y) { return (x + y - 1) / y; };
  const std::int64_t rows = chosen.tile_m / (execution.crossed ? halves : 1),
                     columns = chosen.tile_n / (execution.crossed ? 1 : halves);
  const std::int64_t cluster = kernel.cluster;
  execution.tiles_m = static_cast<int>(up(parts(execution.crossed ? p.n : p.m, rows), chosen.cluster_m));
  execution.tiles_n = static_cast<int>(up(parts(execution.crossed ? p.m : p.n, columns), chosen.cluster_n));
  execution.band = chosen.band, execution.along_n = chosen.raster == raster::along_rows;
  // Each group may end with a partly empty tile.
  const std::int64_t rows_of_tiles =
      p.groups.packed ? execution.tiles_m + p.batch * chosen.cluster_m : execution.tiles_m * p.batch;
  const std::int64_t cluster_tiles = rows_of_tiles * execution.tiles_n / cluster;
  execution.tiles = cluster_tiles;
  std::int64_t clusters = std::max<std::int64_t>(1, kernel.blocks / cluster);
  if (chosen.divided == decision::yes) {
    const std::int64_t steps = std::max<std::int64_t>(1, parts(p.k, chosen.tile_k));
    const division d = divide(cluster_tiles, clusters, steps, c.most_sharers);
    if (d.undivided == 0) clusters = std::max<std::int64_t>(1, d.sharers);
    execution.sharers = static_cast<int>(d.sharers), execution.undivided_tiles = static_cast<int>(d.undivided),
    execution.parts = static_cast<int>(d.parts);
    constexpr std::int64_t most_groups = 4;  // warp groups of a block, each of which has counters
    constexpr std::int64_t counters = 4;     // see divided_tiles.cuh
    execution.arrivals = static_cast<std::uint32_t>(d.divided * cluster * most_groups * counters);
    execution.sums_bytes =
        static_cast<std::uint64_t>(d.divided * cluster * d.parts) * chosen.tile_m * chosen.tile_n * bytes_of_sum(p);
  } else {
    clusters = std::min(clusters, cluster_tiles);
    execution.undivided_tiles = static_cast<int>(cluster_tiles);
  }
  execution.blocks = static_cast<unsigned>(clusters * cluster);
}

// Sets the bytes of partial results of reductions, in the layout of templates/results.cuh.
void set_reductions(const problem& p, const kernel_variant& kernel, execution_plan& execution) noexcept {
  for (const epilogue::node& n : execution.signature.nodes)
    execution.reductions += n.what == epilogue::op::reduce ? 1 : 0;
  if (execution.reductions == 0) return;
  const std::int64_t product_parts = (p.m + kernel.part_rows - 1) / kernel.part_rows * (kernel.part_rows / 16),
                     column_parts = (p.n + kernel.part_columns - 1) / kernel.part_columns;
  execution.row_parts = p.groups.packed ? product_parts + p.batch * (kernel.part_rows / 16) : product_parts * p.batch;
  const std::int64_t each =
      std::max(execution.row_parts * std::max(p.n, column_parts), column_parts * p.m * (p.groups.packed ? 1 : p.batch));
  execution.reduction_bytes =
      execution.reductions * static_cast<std::uint64_t>(each) * (p.sums == dtype::f32 ? sizeof(float) : sizeof(double));
}

kernels::factor argument_of(const factor& f) noexcept { return {f.address, f.line, f.term, f.batch}; }
kernels::block_scales argument_of(const matmul::block_scales& s) noexcept {
  return {s.address,
          s.line_stride,
          s.k_stride,
          s.batch_stride,
          static_cast<int>(s.block.lines),
          static_cast<int>(s.block.k)};
}
kernels::matrix argument_of(const placed_matrix& m) noexcept { return {m.address, m.row, m.column, m.batch}; }

template <class N>
void write_numbers(std::byte* to, const problem& p, const kernel_signature& f) noexcept {
  for (const std::uint8_t source : f.numbers) {
    const N x = source == kernel_signature::one ? N(1) : static_cast<N>(p.tree.numbers()[source]);
    std::memcpy(to, &x, sizeof x);
    to += sizeof x;
  }
}

// Returns the number of lines of the kernel's first factor, and of its second.
std::int64_t lines_1(const problem& p, const execution_plan& execution) noexcept {
  return execution.crossed ? p.n * (p.paired ? 2 : 1) : p.m;
}
std::int64_t lines_2(const problem& p, const execution_plan& execution) noexcept {
  return execution.crossed ? p.m : p.n * (p.paired ? 2 : 1);
}

// Sets the maps for the tensor memory accelerator. The maps of a convolution's images and filters are made for each
// launch instead.
void describe_maps(const problem& p, const hopper_variant& h, execution_plan& to) {
  if (!h.staged) to.maps[2] = box_of(as_factor(p.d), 64, 128 / static_cast<int>(bytes_of(p.d.type)));
  if (h.convolution != convolution_kind::none) {
    to.stage_bytes = (h.tile_m + h.tile_n) * 128;
    if (h.convolution == convolution_kind::weight_gradient) to.maps[0] = box_of(p.a, h.tile_m, depth_of(h));
    return;
  }
  const bool pairs_1 = p.paired && h.crossed, pairs_2 = p.paired && !h.crossed;
  const int piece_1 = pairs_1 ? 32 : h.tile_m / h.cluster_n,
            piece_2 = h.tile_n / std::max(h.cluster_m, pairs_2 ? 2 : 1), depth = depth_of(h);
  // Lines beyond the last are not copied, unless blocks share the copies.
  const auto lines = [&](int piece, std::int64_t all) {
    const bool alone = h.cluster_m * h.cluster_n == 1 && !p.paired && p.groups.sizes == 0;
    return alone ? static_cast<int>(std::min<std::int64_t>(piece, (all + 7) / 8 * 8)) : piece;
  };
  to.maps[0] = box_of(p.a, lines(piece_1, lines_1(p, to)), depth);
  to.maps[1] = box_of(p.b, lines(piece_2, lines_2(p, to)), depth);
  // Returns the bytes that are copied for `all` lines of a factor in a stage, `piece` lines at a time.
  const auto copied = [&](const matrix_map& m, const factor& f, bool by_lines, int all, int piece) {
    const int line = static_cast<int>(bytes_of(f.type)) * depth / units_in(f.type);
    return by_lines ? all * line : all / piece * static_cast<int>(m.outer_box) * line;
  };
  to.stage_bytes = copied(to.maps[0], p.a, h.by_lines_1, h.tile_m, piece_1) +
                   copied(to.maps[1], p.b, h.by_lines_2, h.tile_n, piece_2);
}

problem as_computed_by_kernel(const problem& p, const execution_plan& execution) {
  return execution.crossed ? p.crossed() : execution.swapped ? p.swapped() : p;
}

result<void> describe_factors(const convolution_product& x, const hopper_variant& h, kernels::fixed_arguments& to) {
  const window_maps maps = maps_of(x, h);
  if (h.convolution == convolution_kind::weight_gradient) return describe(maps.image, to.second_map);
  TROUPE_TRY(describe(maps.image, to.first_map));
  return describe(maps.filters, to.second_map);
}

}  // namespace

plan_info info_of(const candidate& c, kernel_source from, std::uint64_t workspace) noexcept {
  plan_info out;
  out.plan = c.plan, out.expected_microseconds = static_cast<float>(c.microseconds);
  out.kernel = from, out.workspace = workspace;
  return out;
}

std::string in_microseconds(double us) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f us", us);
  return text;
}

// A divided plan needs at least the sums of one tile.
std::uint64_t fewest_scratch_bytes(const problem& p, const candidate& c) noexcept {
  if (c.variant != nullptr || c.plan.divided != decision::yes) return 0;
  return std::uint64_t{c.plan.tile_m} * c.plan.tile_n * bytes_of_sum(p);
}

result<std::shared_ptr<execution_plan>> execution_plan_of(const problem& p, const kernel_signature& f,
                                                          const candidate& c, variant_store& variants, compiling how) {
  if (c.variant == nullptr) return execution_plan_of(p, f, c, source_of_variant(f, c.plan), variants, how);
  auto out = std::make_shared<execution_plan>();
  out->library = TROUPE_TRY(cutlass_library_execution_plan_of(p, f, c, variants.library()));
  out->info = info_of(c, kernel_source::vendor, out->scratch_bytes());
  return out;
}

result<std::shared_ptr<execution_plan>> execution_plan_of(const problem& requested, const kernel_signature& f,
                                                          const candidate& c, const variant_source& text,
                                                          variant_store& variants, compiling how,
                                                          const convolution_signature* gathered) {
  auto out = std::make_shared<execution_plan>();
  out->swapped = c.plan.swapped == decision::yes;
  out->crossed = is_crossed(f.head, c.plan);
  out->signature = signature_of_kernel(f, c.plan);
  const problem p = as_computed_by_kernel(requested, *out);
  if (text.argument_bytes > most_argument_bytes)
    return error(reaction::unsupported, "cutlass",
                 cat("the epilogue's operands need ", text.argument_bytes,
                     " bytes of kernel parameters; expected at most ", most_argument_bytes, ": use fewer operands"));
  out->kernel = TROUPE_TRY(variants.get(text, how));
  set_grid(p, c, *out->kernel, *out);
  set_reductions(p, *out->kernel, *out);
  if (const std::int64_t most = std::max(out->tiles, out->row_parts); most > most_counted)
    return error(reaction::unsupported, "cutlass",
                 cat("m is ", requested.m, ", n is ", requested.n, ", k is ", requested.k, ", batch is ",
                     requested.batch, ": the kernel would count ", most, " tiles or partial results; expected at most ",
                     most_counted, ": split the request"));
  for (matrix_map& m : out->maps) m.type = execution_plan::no_map;
  if (c.plan.family == family::hopper) {
    out->hopper =
        gathered != nullptr ? hopper_variant_of(*gathered, c.plan) : hopper_variant_of(out->signature, c.plan);
    describe_maps(p, out->hopper, *out);
  }
  out->info = info_of(c, out->kernel->source, out->scratch_bytes());
  out->info.compile_seconds = out->kernel->compile_seconds;
  return out;
}

result<void> enqueue(const problem& requested, const execution_plan& execution, lane& on, std::uint64_t memory,
                     std::uint64_t arrivals, std::uint64_t wrong, overlap with_before, CUstream stream,
                     const kernels::convolution_arguments* convolution) {
  if (execution.library) return enqueue(requested, *execution.library, memory, wrong, stream);
  const problem p = as_computed_by_kernel(requested, execution);
  alignas(64) std::byte arguments[most_argument_bytes];
  kernels::fixed_arguments f;
  if (execution.maps[0].type != execution_plan::no_map)
    TROUPE_TRY(on.map(map_of(execution.maps[0], p.a, lines_1(p, execution), p.k, p.batch), f.first_map));
  if (execution.maps[1].type != execution_plan::no_map)
    TROUPE_TRY(on.map(map_of(execution.maps[1], p.b, lines_2(p, execution), p.k, p.batch), f.second_map));
  if (execution.hopper.convolution != convolution_kind::none && convolution != nullptr)
    TROUPE_TRY(describe_factors({p, *convolution}, execution.hopper, f));
  if (execution.maps[2].type != execution_plan::no_map)
    TROUPE_TRY(on.map(map_of(execution.maps[2], as_factor(p.d), p.m, p.n, p.batch), f.result_map));
  f.first = argument_of(p.a), f.second = argument_of(p.b), f.result = argument_of(p.d);
  f.first_scales = argument_of(p.a_scales), f.second_scales = argument_of(p.b_scales);
  f.m = static_cast<int>(p.m), f.n = static_cast<int>(p.n), f.k = static_cast<int>(p.k),
  f.batch = static_cast<int>(p.batch);
  f.tiles_m = execution.tiles_m, f.tiles_n = execution.tiles_n, f.band = execution.band,
  f.along_n = execution.along_n ? 1 : 0, f.undivided_tiles = execution.undivided_tiles, f.parts = execution.parts;
  f.partial_sums = reinterpret_cast<void*>(memory),
  f.reductions = reinterpret_cast<void*>(memory + execution.sums_bytes);
  f.arrivals = reinterpret_cast<unsigned*>(arrivals), f.sharers = execution.sharers,
  f.stage_bytes = execution.stage_bytes;
  const bool overlaps = with_before != overlap::none && execution.kernel->overlaps;
  f.independent = overlaps && with_before == overlap::independent ? 1 : 0;
  f.group_sizes = reinterpret_cast<const int*>(p.groups.sizes), f.wrong_group = reinterpret_cast<int*>(wrong),
  f.packed = p.groups.packed ? 1 : 0;
  std::byte* const all = arguments + (convolution != nullptr ? convolution_bytes() : 0);
  if (convolution != nullptr) std::memcpy(arguments, convolution, sizeof *convolution);
  std::memcpy(all, &f, sizeof f);
  std::byte* at = all + sizeof f;
  for (std::size_t i = 0; i < execution.signature.memory.size(); ++i) {
    const kernels::matrix m = argument_of(p.memory(i, p.tree.nodes()[execution.signature.node_of_memory[i]]));
    std::memcpy(at, &m, sizeof m);
    at += sizeof m;
  }
  if (execution.signature.memory.empty()) at += sizeof(kernels::matrix);
  if (execution.signature.head.sums == dtype::f32)
    write_numbers<float>(at, p, execution.signature);
  else
    write_numbers<double>(at, p, execution.signature);
  void* parameters[] = {arguments};
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attribute.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig launch{};
  launch.gridDimX = execution.blocks, launch.gridDimY = launch.gridDimZ = 1;
  launch.blockDimX = execution.kernel->threads, launch.blockDimY = launch.blockDimZ = 1;
  launch.sharedMemBytes = execution.kernel->shared_bytes, launch.hStream = stream;
  launch.attrs = &attribute, launch.numAttrs = overlaps ? 1 : 0;
  TROUPE_TRY(cuda::done_on(
      stream, "cutlass", "cuLaunchKernelEx",
      ::cuLaunchKernelEx(&launch, reinterpret_cast<CUfunction>(execution.kernel->kernel), parameters, nullptr)));
  if (execution.reductions == 0) return {};
  void* combined[] = {all};
  constexpr unsigned threads = 256;
  const auto blocks =
      static_cast<unsigned>(std::clamp<std::int64_t>((std::max(p.m, p.n) * p.batch + threads - 1) / threads, 1, 1024));
  launch.gridDimX = blocks, launch.gridDimY = execution.reductions, launch.blockDimX = threads,
  launch.sharedMemBytes = 0;
  // The combining kernel itself waits for the first kernel, so it may begin early, too.
  return cuda::done_on(
      stream, "cutlass", "cuLaunchKernelEx",
      ::cuLaunchKernelEx(&launch, reinterpret_cast<CUfunction>(execution.kernel->combine), combined, nullptr));
}

}  // namespace troupe::cutlass
