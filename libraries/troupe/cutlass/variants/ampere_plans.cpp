// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <troupe/base/text/cat.hpp>
#include <troupe/cutlass/variants/ampere_plans.hpp>

namespace troupe::cutlass {
namespace {

using matmul::is_float8;

// The cost model's constants: time of a launch; fraction of the highest clock that is reached; bytes per cycle from the
// L2 cache to each multiprocessor, if all read; fraction of the memory's bandwidth that is reached.
constexpr double launch_us = 3.0, clock_share = 0.85, l2_bytes_per_cycle_shared = 41, memory_share = 0.8;
constexpr double divided_factor = 1.12;  // slowdown of divided tiles, whose blocks share less data in the L2 cache

struct shape {
  int tile_m, tile_n, warps_m, warps_n;
  double efficiency;  // fraction of the tensor cores' peak within a tile
};
constexpr shape shapes[] = {{128, 256, 2, 4, 0.42}, {256, 128, 4, 2, 0.42}, {128, 128, 2, 4, 0.38},
                            {64, 128, 2, 4, 0.30},  {128, 64, 4, 2, 0.30},  {64, 64, 2, 2, 0.25},
                            {32, 128, 1, 4, 0.20},  {32, 64, 1, 2, 0.17}};
constexpr int most_stages = 4;

const shape* shape_of(int tile_m, int tile_n) noexcept {
  const auto* const found = std::find_if(std::begin(shapes), std::end(shapes),
                                         [&](const shape& s) { return s.tile_m == tile_m && s.tile_n == tile_n; });
  return found == std::end(shapes) ? nullptr : found;
}

// Returns the number of terms after which sums are scaled, which divides the terms of every block of scales.
int promotion_of(const kernel_signature& f, int depth) noexcept {
  std::uint32_t terms = 0;
  for (const factor_signature* x : {&f.head.a, &f.head.b}) {
    if (x->scale_type == dtype{}) continue;
    // If all terms share a scale, their number need not be a power of two.
    const std::uint32_t block =
        (x->scale_block_k & (x->scale_block_k - 1)) == 0 ? x->scale_block_k : static_cast<std::uint32_t>(depth);
    terms = terms == 0 ? block : std::min(terms, block);
  }
  if (f.head.adds_precisely()) terms = terms == 0 ? 128 : std::min<std::uint32_t>(terms, 128);
  return static_cast<int>(std::min<std::uint32_t>(terms, 1024));
}

// Returns true if elements that are copied through registers and the epilogue's reductions leave room for few sums with
// the register allocation for sm_100 and newer GPUs.
bool leaves_few_registers(const ampere_variant& c, const kernel_signature& f,
                          const cuda::gpu_properties& gpu) noexcept {
  const auto reduces = [](const epilogue::node& n) { return n.what == epilogue::op::reduce; };
  return gpu.capability >= 100 && words_in_registers(c) > 0 &&
         std::count_if(f.nodes.begin(), f.nodes.end(), reduces) > 1;
}

// Returns the maximum number of words of a thread's sums; with more, the assembler reports spilled registers.
int most_sums(const ampere_variant& c, const kernel_signature& f, const cuda::gpu_properties& gpu) noexcept {
  const bool scaled = c.first.scales != dtype{} || c.second.scales != dtype{};
  if (!c.exact && is_float8(c.first.type) && is_float8(c.second.type))
    return scaled && (c.tile_m > 32 || c.tile_n > 64) ? 0 : 32;
  if (c.first.type == dtype::f64 && c.divides) return 0;
  if (leaves_few_registers(c, f, gpu)) return 32;
  return c.exact || c.promotion_k > 0 ? 64 : 128;
}

// Returns the maximum number of words of a thread's sums, each before and after it is promoted, and of elements that it
// copies to shared memory through registers. Operands that are widened need registers, too: more of them with the
// register allocation for sm_100 and newer GPUs.
int most_words(const kernel_signature& f, const cuda::gpu_properties& gpu) noexcept {
  return !f.head.is_mixed() ? 160 : gpu.capability < 100 ? 152 : 144;
}

double flops_per_cycle(const ampere_variant& c) noexcept {
  if (c.exact) return 256;
  const std::size_t bytes = std::max(bytes_of(c.first.type), bytes_of(c.second.type));
  return bytes == 8 ? 256 : bytes == 4 ? 2048 : bytes == 2 ? 4096 : 8192;
}

void add_oriented(const kernel_signature& f, const extents& e, const cuda::gpu_properties& gpu, const plan& wanted,
                  bool swapped, std::vector<candidate>& to) {
  for (const shape& s : shapes)
    for (const bool divided : {false, true}) {
      if (divided && (f.head.batched != 0 || f.head.grouped != 0)) continue;
      candidate c{.plan = ampere_plan(s.tile_m, s.tile_n, swapped, divided, e, wanted)};
      plan& p = c.plan;
      const auto fits = [&](int stages) {
        p.stages = static_cast<std::uint8_t>(stages);
        const ampere_variant variant = ampere_variant_of(f, p);
        p.tile_k = static_cast<std::uint16_t>(depth_of(variant));
        const int sums = s.tile_m * s.tile_n / threads_of(variant) * (f.head.sums == dtype::f64 ? 2 : 1);
        const int words = sums * (variant.promotion_k > 0 ? 2 : 1) + words_in_registers(variant);
        return sums <= most_sums(variant, f, gpu) && words <= most_words(f, gpu) && error_of(variant).empty() &&
               shared_bytes_of(variant) <= gpu.shared_bytes;
      };
      if (!set_stages(wanted, most_stages, fits)) continue;
      estimate(c, ampere_variant_of(f, p), f, e, gpu, s.efficiency);
      if (divided && wanted.divided != decision::yes && c.efficiency > 0.5) continue;
      to.push_back(c);
    }
}

}  // namespace

plan ampere_plan(int tile_m, int tile_n, bool swapped, bool divided, const extents& e, const plan& wanted) {
  plan p = plan_of_tiles(tile_m, tile_n, swapped, divided, e, wanted);
  p.family = family::ampere, p.schedule = schedule::cooperative;
  p.cluster_m = p.cluster_n = 1;
  if (p.band == 0) p.band = 8;
  return p;
}

bool is_arithmetic(const signature_head& f) noexcept {
  return !has_tensor_cores(f.a.type, f.b.type) ||
         (f.a.type == dtype::f32 && f.precision == static_cast<std::uint8_t>(precision::exact));
}

void estimate(candidate& c, const ampere_variant& variant, const kernel_signature& f, const extents& e,
              const cuda::gpu_properties& gpu, double efficiency_of_tile, double reuse) {
  const plan& p = c.plan;
  const auto number = [](std::int64_t n) { return static_cast<double>(n); };
  const auto up = [](double x, double y) { return std::ceil(x / y); };
  const double pair = f.head.paired != 0 ? 2 : 1, all = gpu.multiprocessors;
  const double tiles = up(number(e.m), p.tile_m) * up(number(e.n), p.tile_n / pair) * number(e.batch);
  const double resident = std::max(1.0, std::floor(static_cast<double>(gpu.shared_bytes) / shared_bytes_of(variant)));
  const double blocks = all * std::min(resident, variant.exact ? 2.0 : 4.0);
  const double rounds = std::ceil(tiles / blocks), steps = up(number(e.k), p.tile_k);
  const bool divided = p.divided == decision::yes;
  // The blocks of a multiprocessor share its tensor cores.
  const double blocks_each = std::min(tiles, blocks) / std::min(tiles, all);
  double efficiency = variant.exact ? 0.8 : efficiency_of_tile * std::min(1.0, 0.7 + 0.15 * blocks_each);
  for (const factor_signature* x : {&f.head.a, &f.head.b})
    efficiency *= x->alignment >= 16 ? 1 : x->alignment >= 4 ? 0.8 : 0.35;
  const double tile_cycles = 2.0 * p.tile_m * p.tile_n * p.tile_k / flops_per_cycle(variant) / efficiency * steps;
  double cycles = tile_cycles * blocks_each *
                      (divided ? std::max({tiles / blocks, 1.0 / c.most_sharers, 4 / std::max(1.0, steps)}) : rounds) +
                  1500 * rounds;
  const double stage_bytes = p.tile_k * (p.tile_m * number(static_cast<std::int64_t>(bytes_of(f.head.a.type))) +
                                         p.tile_n * number(static_cast<std::int64_t>(bytes_of(f.head.b.type))));
  cycles = std::max(cycles, tiles * steps * stage_bytes / (l2_bytes_per_cycle_shared * all));
  if (divided) cycles = divided_factor * cycles + 8.0 * p.tile_m * p.tile_n / (0.7 * l2_bytes_per_cycle_shared) + 3000;
  const double memory_us = number(e.batch) *
                           (number(e.m * e.k) / reuse * number(static_cast<std::int64_t>(bytes_of(f.head.a.type))) +
                            number(e.n * e.k) * pair * number(static_cast<std::int64_t>(bytes_of(f.head.b.type))) +
                            number(e.m * e.n) * number(static_cast<std::int64_t>(bytes_of(f.head.d)))) /
                           (gpu.memory_bytes_per_ns * memory_share * 1e3);
  c.microseconds =
      launch_us + std::cbrt(std::pow(cycles / (gpu.gigahertz * clock_share * 1e3), 3) + std::pow(memory_us, 3));
  // Widening takes longer than multiplying.
  constexpr double widening = 1.8;
  if (f.head.is_mixed()) c.microseconds *= widening;
  c.efficiency = tiles / blocks / rounds;
}

ampere_variant ampere_variant_of(const kernel_signature& f, const plan& p) {
  ampere_variant c;
  const auto factor = [](const factor_signature& x) {
    return ampere_factor{x.type, x.contiguous, x.alignment, x.scale_type};
  };
  c.first = factor(f.head.a), c.second = factor(f.head.b);
  if (f.head.paired != 0 && c.second.contiguous == contiguous_axis::lines)
    c.second.alignment = std::min<int>(c.second.alignment, f.head.pair_alignment);
  // A group may begin at any row, so its lines are not aligned.
  if (f.head.grouped != 0 && c.first.contiguous == contiguous_axis::lines)
    c.first.alignment = static_cast<int>(bytes_of(c.first.type));
  c.result = f.head.d, c.result_access = f.head.d_access;
  c.tile_m = p.tile_m, c.tile_n = p.tile_n, c.stages = p.stages;
  if (const shape* const s = shape_of(p.tile_m, p.tile_n)) c.warps_m = s->warps_m, c.warps_n = s->warps_n;
  c.exact = is_arithmetic(f.head);
  c.grouped = f.head.grouped != 0, c.divides = p.divided == decision::yes, c.paired = f.head.paired != 0;
  // With longer stages the loop would be unrolled until registers spill.
  if (c.exact) c.depth = 8;
  if (!c.exact && is_float8(c.first.type) && is_float8(c.second.type)) c.depth = 64;
  c.promotion_k = c.exact ? 0 : promotion_of(f, depth_of(c));
  if (!error_of(c).empty() && c.promotion_k != 0) {
    // Blocks of scales that are smaller than a step of the tensor cores need the exact variant.
    ampere_variant exact = c;
    exact.exact = true, exact.promotion_k = 0, exact.depth = 8;
    if (error_of(exact).empty()) return exact;
  }
  return c;
}

std::string add_ampere_plans(const kernel_signature& f, const extents& e, const cuda::gpu_properties& gpu,
                             const plan& wanted, std::vector<candidate>& to) {
  if (gpu.capability < 80)
    return cat("the template for sm_80 needs a GPU of capability 8.0 or more, not ", gpu.capability / 10, ".",
               gpu.capability % 10);
  const std::size_t before = to.size();
  for (const bool swapped : {false, true}) {
    // Pairs are in one row of the kernel, and groups are rows of the kernel.
    if (swapped && (f.head.paired != 0 || f.head.grouped != 0)) continue;
    if (wanted.swapped == decision::any && !f.head.writes_contiguously(swapped)) continue;
    if (swapped)
      add_oriented(f.swapped(), {e.n, e.m, e.k, e.batch}, gpu, wanted, true, to);
    else
      add_oriented(f, e, gpu, wanted, false, to);
  }
  return to.size() == before ? "no tile of the template for sm_80 fits these types and the shared memory" : "";
}

}  // namespace troupe::cutlass
