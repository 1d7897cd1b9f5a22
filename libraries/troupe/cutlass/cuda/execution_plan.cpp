// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <troupe/base/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cutlass/cuda/execution_plan.hpp>
#include <troupe/cutlass/cuda/window_descriptors.hpp>
#include <troupe/cutlass/variants/ampere_plans.hpp>
#include <troupe/cutlass/variants/hopper_plans.hpp>

namespace troupe::cutlass {
namespace {

constexpr std::size_t most_argument_bytes = 4096;

// Returns the number of terms that have one address.
int units_in(dtype t) noexcept { return static_cast<int>(matmul::terms_in(t)); }

// Returns the fields of a map that are the same for all products of a signature: boxes of 128 bytes, of lines or of
// terms, or less if a stage has less.
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
// Contiguous terms or lines are the inner axis.
matrix_map map_of(matrix_map m, const factor& f, std::int64_t lines, std::int64_t terms, std::int64_t batch) {
  const auto bytes = static_cast<std::int64_t>(bytes_of(f.type));
  const bool by_lines = f.term != 1;
  m.address = f.address;
  const std::int64_t units = terms / units_in(f.type);
  m.inner = static_cast<std::uint64_t>(by_lines ? lines : units);
  m.outer = static_cast<std::uint64_t>(by_lines ? units : lines);
  m.batch = static_cast<std::uint64_t>(f.batch == 0 ? 1 : batch);
  // A single line can have any stride.
  const std::int64_t stride = std::max<std::int64_t>((by_lines ? f.term : f.line) * bytes, 16);
  m.outer_stride = static_cast<std::uint64_t>(stride);
  m.batch_stride = static_cast<std::uint64_t>(f.batch == 0 ? stride : f.batch * bytes);
  return m;
}
factor as_factor(const placed_matrix& d) noexcept { return {d.address, d.type, d.row, 1, d.batch}; }

std::uint64_t bytes_of_sum(const problem& p) noexcept { return p.sums == dtype::f64 ? sizeof(double) : sizeof(float); }

// Blocks, tiles and memory of a plan of the template for Hopper.
void lay_out(const problem& p, const candidate& c, const kernel_variant& kernel, execution_plan& execution) {
  const plan& chosen = c.plan;
  const int pair = p.paired ? 2 : 1;
  const auto up = [](std::int64_t x, std::int64_t y) { return (x + y - 1) / y * y; };
  const auto parts = [](std::int64_t x, std::int64_t y) { return (x + y - 1) / y; };
  const std::int64_t rows = chosen.tile_m / (execution.crossed ? pair : 1),
                     columns = chosen.tile_n / (execution.crossed ? 1 : pair);
  const std::int64_t cluster = kernel.cluster;
  execution.tiles_m = static_cast<int>(up(parts(execution.crossed ? p.n : p.m, rows), chosen.cluster_m));
  execution.tiles_n = static_cast<int>(up(parts(execution.crossed ? p.m : p.n, columns), chosen.cluster_n));
  execution.band = chosen.band, execution.along_n = chosen.raster == raster::along_rows;
  // Each group may end with a tile that is not full.
  const std::int64_t rows_of_tiles =
      p.groups.packed ? execution.tiles_m + p.batch * chosen.cluster_m : execution.tiles_m * p.batch;
  const std::int64_t supers = rows_of_tiles * execution.tiles_n / cluster;
  execution.tiles = supers;
  std::int64_t clusters = std::max<std::int64_t>(1, kernel.blocks / cluster);
  if (chosen.divided == decision::yes) {
    const std::int64_t steps = std::max<std::int64_t>(1, parts(p.k, chosen.tile_k));
    const division d = divide(supers, clusters, steps, c.most_sharers);
    if (d.whole == 0) clusters = std::max<std::int64_t>(1, d.sharers);
    execution.sharers = static_cast<int>(d.sharers), execution.whole_tiles = static_cast<int>(d.whole),
    execution.parts = static_cast<int>(d.parts);
    constexpr std::int64_t most_groups = 4;  // groups of a block, each of which counts
    constexpr std::int64_t counters = 4;     // see divided_tiles.cuh
    execution.arrivals = static_cast<std::uint32_t>(d.rest * cluster * most_groups * counters);
    execution.sums_bytes =
        static_cast<std::uint64_t>(d.rest * cluster * d.parts) * chosen.tile_m * chosen.tile_n * bytes_of_sum(p);
  } else {
    clusters = std::min(clusters, supers);
    execution.whole_tiles = static_cast<int>(supers);
  }
  execution.blocks = static_cast<unsigned>(clusters * cluster);
}

// Bytes of partial results of reductions, in the layout of templates/results.cuh.
void reserve_reductions(const problem& p, const kernel_variant& kernel, execution_plan& execution) noexcept {
  for (const epilogue::node& n : execution.signature.nodes)
    execution.reductions += n.what == epilogue::op::reduce ? 1 : 0;
  if (execution.reductions == 0) return;
  const std::int64_t of_product = (p.m + kernel.part_rows - 1) / kernel.part_rows * (kernel.part_rows / 16),
                     column_parts = (p.n + kernel.part_columns - 1) / kernel.part_columns;
  execution.row_parts = p.groups.packed ? of_product + p.batch * (kernel.part_rows / 16) : of_product * p.batch;
  const std::int64_t each =
      std::max(execution.row_parts * std::max(p.n, column_parts), column_parts * p.m * (p.groups.packed ? 1 : p.batch));
  execution.reduction_bytes =
      execution.reductions * static_cast<std::uint64_t>(each) * (p.sums == dtype::f32 ? sizeof(float) : sizeof(double));
}

kernels::factor written(const factor& f) noexcept { return {f.address, f.line, f.term, f.batch}; }
kernels::block_scales written(const scales& s) noexcept {
  return {s.address, s.line, s.term, s.batch, static_cast<int>(s.lines), static_cast<int>(s.terms)};
}
kernels::place written(const placed_matrix& m) noexcept { return {m.address, m.row, m.column, m.batch}; }

template <class N>
void write_numbers(std::byte* to, const problem& p, const kernel_signature& f) noexcept {
  for (const std::uint8_t source : f.numbers) {
    const N x = source == kernel_signature::one ? N(1) : static_cast<N>(p.tree.numbers()[source]);
    std::memcpy(to, &x, sizeof x);
    to += sizeof x;
  }
}

// Returns the lines of the kernel's factors.
std::int64_t lines_1(const problem& p, const execution_plan& execution) noexcept {
  return execution.crossed ? p.n * (p.paired ? 2 : 1) : p.m;
}
std::int64_t lines_2(const problem& p, const execution_plan& execution) noexcept {
  return execution.crossed ? p.m : p.n * (p.paired ? 2 : 1);
}

// Describes the matrices for the tensor memory accelerator. Maps of a convolution's images and filters are made for
// each launch.
void describe_maps(const problem& p, const hopper_variant& h, execution_plan& to) {
  if (!h.staged) to.maps[2] = box_of(as_factor(p.d), 64, 128 / static_cast<int>(bytes_of(p.d.type)));
  if (h.window != convolution::none) {
    to.stage_bytes = (h.tile_m + h.tile_n) * 128;
    if (h.window == convolution::weight_gradient) to.maps[0] = box_of(p.a, h.tile_m, depth_of(h));
    return;
  }
  const bool pairs_1 = p.paired && h.crossed, pairs_2 = p.paired && !h.crossed;
  const int piece_1 = pairs_1 ? 32 : h.tile_m / h.cluster_n,
            piece_2 = h.tile_n / std::max(h.cluster_m, pairs_2 ? 2 : 1), depth = depth_of(h);
  // Lines beyond the last are not copied, unless blocks share the copies.
  const auto lines = [&](int of_piece, std::int64_t all) {
    const bool alone = h.cluster_m * h.cluster_n == 1 && !p.paired && p.groups.sizes == 0;
    return alone ? static_cast<int>(std::min<std::int64_t>(of_piece, (all + 7) / 8 * 8)) : of_piece;
  };
  to.maps[0] = box_of(p.a, lines(piece_1, lines_1(p, to)), depth);
  to.maps[1] = box_of(p.b, lines(piece_2, lines_2(p, to)), depth);
  // Terms of a stage have 128 bytes in a box, and other boxes follow.
  const auto copied = [&](const matrix_map& m, const factor& f, bool by_lines, int all, int of_piece) {
    const int line = static_cast<int>(bytes_of(f.type)) * depth / units_in(f.type);
    return by_lines ? all * line : all / of_piece * static_cast<int>(m.outer_box) * line;
  };
  to.stage_bytes = copied(to.maps[0], p.a, h.by_lines_1, h.tile_m, piece_1) +
                   copied(to.maps[1], p.b, h.by_lines_2, h.tile_n, piece_2);
}

problem as_computed_by_kernel(const problem& p, const execution_plan& execution) {
  return execution.crossed ? p.crossed() : execution.swapped ? p.swapped() : p;
}

result<void> describe_factors(const convolution_product& x, const hopper_variant& h, kernels::fixed_part& to) {
  const window_maps maps = maps_of(x, h);
  if (h.window == convolution::weight_gradient) return describe(maps.image, to.second_map);
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

// Returns 0 if all tiles fill rounds: then a plan that does not divide them is the same.
std::uint64_t fewest_scratch_bytes(const problem& p, const candidate& c) noexcept {
  if (c.variant != nullptr || c.plan.divided != decision::yes) return 0;
  return std::uint64_t{c.plan.tile_m} * c.plan.tile_n * bytes_of_sum(p);
}

result<std::shared_ptr<execution_plan>> execution_plan_of(const problem& p, const kernel_signature& f,
                                                          const candidate& c, variant_store& variants, compiling how) {
  if (c.variant == nullptr) return execution_plan_of(p, f, c, source_of_variant(f, c.plan), variants, how);
  auto out = std::make_shared<execution_plan>();
  out->vendors = TROUPE_TRY(vendor_execution_plan_of(p, f, c, variants.vendors()));
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
                 cat("the epilogue's operands need ", text.argument_bytes, " bytes of parameters; at most ",
                     most_argument_bytes, " can be passed: use fewer"));
  out->kernel = TROUPE_TRY(variants.get(text, how));
  lay_out(p, c, *out->kernel, *out);
  reserve_reductions(p, *out->kernel, *out);
  if (const std::int64_t most = std::max(out->tiles, out->row_parts); most > most_counted)
    return error(reaction::unsupported, "cutlass",
                 cat(requested.m, " x ", requested.n, " x ", requested.k, ", ", requested.batch,
                     " times: the kernel would count to ", most, ", in tiles or parts of results; expected at most ",
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
                     const kernels::window* window) {
  if (execution.vendors) return enqueue(requested, *execution.vendors, memory, wrong, stream);
  const problem p = as_computed_by_kernel(requested, execution);
  alignas(64) std::byte arguments[most_argument_bytes];
  kernels::fixed_part f;
  if (execution.maps[0].type != execution_plan::no_map)
    TROUPE_TRY(on.map(map_of(execution.maps[0], p.a, lines_1(p, execution), p.k, p.batch), f.first_map));
  if (execution.maps[1].type != execution_plan::no_map)
    TROUPE_TRY(on.map(map_of(execution.maps[1], p.b, lines_2(p, execution), p.k, p.batch), f.second_map));
  if (execution.hopper.window != convolution::none && window != nullptr)
    TROUPE_TRY(describe_factors({p, *window}, execution.hopper, f));
  if (execution.maps[2].type != execution_plan::no_map)
    TROUPE_TRY(on.map(map_of(execution.maps[2], as_factor(p.d), p.m, p.n, p.batch), f.result_map));
  f.first = written(p.a), f.second = written(p.b), f.result = written(p.d);
  f.first_scales = written(p.a_scales), f.second_scales = written(p.b_scales);
  f.m = static_cast<int>(p.m), f.n = static_cast<int>(p.n), f.k = static_cast<int>(p.k),
  f.batch = static_cast<int>(p.batch);
  f.tiles_m = execution.tiles_m, f.tiles_n = execution.tiles_n, f.band = execution.band,
  f.along_n = execution.along_n ? 1 : 0, f.whole_tiles = execution.whole_tiles, f.parts = execution.parts;
  f.partial_sums = reinterpret_cast<void*>(memory),
  f.reductions = reinterpret_cast<void*>(memory + execution.sums_bytes);
  f.arrivals = reinterpret_cast<unsigned*>(arrivals), f.sharers = execution.sharers,
  f.stage_bytes = execution.stage_bytes;
  const bool overlaps = with_before != overlap::none && execution.kernel->overlaps;
  f.beside = overlaps && with_before == overlap::whole ? 1 : 0;
  f.group_sizes = reinterpret_cast<const int*>(p.groups.sizes), f.wrong_group = reinterpret_cast<int*>(wrong),
  f.packed = p.groups.packed ? 1 : 0;
  std::byte* const all = arguments + (window != nullptr ? window_bytes() : 0);
  if (window != nullptr) std::memcpy(arguments, window, sizeof *window);
  std::memcpy(all, &f, sizeof f);
  std::byte* at = all + sizeof f;
  for (std::size_t i = 0; i < execution.signature.memory.size(); ++i) {
    const kernels::place m = written(p.memory(i, p.tree.nodes()[execution.signature.node_of_memory[i]]));
    std::memcpy(at, &m, sizeof m);
    at += sizeof m;
  }
  if (execution.signature.memory.empty()) at += sizeof(kernels::place);
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
  // It waits for the first one itself, so it may begin before that ends if `launch` says so.
  return cuda::done_on(
      stream, "cutlass", "cuLaunchKernelEx",
      ::cuLaunchKernelEx(&launch, reinterpret_cast<CUfunction>(execution.kernel->combine), combined, nullptr));
}

}  // namespace troupe::cutlass
