// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <troupe/base/cat.hpp>
#include <troupe/cutlass/templates/arguments.hpp>
#include <troupe/cutlass/variants/ampere_plans.hpp>
#include <troupe/cutlass/variants/convolution_variants.hpp>
#include <troupe/cutlass/variants/epilogue_source.hpp>
#include <troupe/cutlass/variants/hopper_plans.hpp>

namespace troupe::cutlass {
namespace {

struct shape {
  int tile_m, tile_n;
  double efficiency;  // fraction that the tensor cores reach within a tile
};
constexpr shape shapes[] = {{128, 128, 0.33}, {128, 64, 0.20}, {64, 128, 0.21}, {64, 64, 0.15}};
// Warps of more than 64 x 32 results have no registers left for numbers that are gathered.
struct warps {
  int m, n;
};
constexpr warps all_warps[] = {{2, 4}, {4, 2}, {2, 2}};
constexpr int most_stages = 4;
// The most results in all parts of a divided tile, which its blocks write and read again.
constexpr int most_added = 10 * 128 * 128;

// Returns the fraction of a tile's efficiency that is left.
double share_of(const convolution_signature& f) noexcept {
  const bool gathers_k = f.window == convolution::weight_gradient;
  const factor_signature& image = gathers_k ? f.product.head.b : f.product.head.a;
  const double found_again = gathers_k ? 0.55 : 1;
  return image.alignment < 4 ? found_again * 0.15 : found_again;  // number by number
}

// Returns how many numbers a thread reads one by one for a stage. Each has a register until it arrives.
int numbers_at_a_time(const ampere_variant& c) noexcept {
  const int lines = (passes_registers(c, 1) ? c.tile_m : 0) + (passes_registers(c, 2) ? c.tile_n : 0);
  return lines * depth_of(c) / threads_of(c);
}

// Sets warps, and the terms of a stage if `depth` is 0. Returns true if there is such a kernel.
bool complete(ampere_variant& c, int depth) {
  constexpr int most_numbers = 32;  // with more, registers would be spilled
  const bool slow = c.first.alignment < 4 || c.second.alignment < 4;
  for (const warps& w : all_warps)
    for (const int share : slow && !c.exact ? std::array{2, 1, 4} : std::array{1, 2, 4}) {
      c.warps_m = w.m, c.warps_n = w.n, c.depth = 0;
      // Reduces the numbers that pass through registers at a time.
      c.depth = depth != 0 ? depth : depth_of(c) / share;
      const int terms = c.promotion_k;
      if (terms != 0 && terms % c.depth != 0) continue;
      if (error_of(c).empty() && (c.exact || numbers_at_a_time(c) <= most_numbers)) return true;
      if (depth != 0) break;
    }
  return false;
}

// Returns true if sums of 8-bit floats are promoted where the tensor cores do not have these floats, so that both
// factors are widened. Registers hold 32 such sums twice, before and after they are promoted, and no more.
bool widens_and_promotes(const convolution_signature& f, const gpu_properties& gpu) noexcept {
  return f.product.head.adds_precisely() && gpu.capability != 89 && gpu.capability < 120;
}

}  // namespace

ampere_variant convolution_variant_of(const convolution_signature& f, const plan& p) {
  const signature_head& head = f.product.head;
  ampere_variant c;
  const auto factor = [](const factor_signature& x) {
    return ampere_factor{.type = x.type, .contiguous = x.contiguous, .alignment = x.alignment};
  };
  c.first = factor(head.a), c.second = factor(head.b);
  if (head.paired != 0 && c.second.contiguous == contiguous_axis::lines)
    c.second.alignment = std::min<int>(c.second.alignment, head.pair_alignment);
  c.result = head.d, c.result_access = head.d_access;
  c.tile_m = p.tile_m, c.tile_n = p.tile_n, c.stages = p.stages;
  c.exact = is_arithmetic(head);
  c.promotion_k = head.adds_precisely() && !c.exact ? 128 : 0;
  c.divides = p.divided == decision::yes, c.paired = head.paired != 0;
  c.window = f.window, c.rank = f.rank, c.strided_result = f.strided_result;
  if (!complete(c, p.tile_k)) c.stages = 0;  // refused by error_of
  return c;
}

std::string add_convolution_plans(const convolution_signature& f, const extents& e, double gathered_taps,
                                  const gpu_properties& gpu, const plan& wanted, std::vector<candidate>& to) {
  if (gpu.capability < 80)
    return cat("convolutions need a GPU of capability 8.0 or more, not ", gpu.capability / 10, ".",
               gpu.capability % 10);
  const std::size_t before = to.size();
  const bool widens = widens_and_promotes(f, gpu);
  // 64 doubles take half of the registers, of which the coordinates of both factors need too many in gradients of
  // images.
  const bool doubles = f.product.head.a.type == dtype::f64 && f.window == convolution::data_gradient;
  // With longer stages more would be widened at a time, as in products.
  const int terms = widens && f.window == convolution::forward ? 64 : 0;
  for (const shape& s : shapes)
    for (const bool divided : {false, true}) {
      candidate c{.plan = ampere_plan(s.tile_m, s.tile_n, false, divided, e, wanted)};
      plan& p = c.plan;
      ampere_variant variant;
      const auto fits = [&](int stages) {
        p.stages = static_cast<std::uint8_t>(stages), p.tile_k = static_cast<std::uint16_t>(terms);
        variant = convolution_variant_of(f, p);
        p.tile_k = static_cast<std::uint16_t>(depth_of(variant));
        return error_of(variant).empty() && shared_bytes_of(variant) <= gpu.shared_bytes &&
               (!(widens || doubles) || s.tile_m * s.tile_n <= 32 * threads_of(variant));
      };
      if (!set_stages(wanted, most_stages, fits)) continue;
      c.most_sharers = most_added / (s.tile_m * s.tile_n);
      estimate(c, variant, f.product, e, gpu, s.efficiency * share_of(f), gathered_taps);
      if (divided && wanted.divided != decision::yes && c.efficiency > 0.5) continue;
      to.push_back(c);
    }
  return to.size() == before ? "no tile of convolutions fits these types and the shared memory" : "";
}

variant_source source_of_variant(const convolution_signature& f, const plan& p) {
  if (f.window == convolution::none) return source_of_variant(f.product, p);
  const kernel_signature& w = f.product;
  variant_source t;
  if (p.family == family::hopper) {
    t = source_of_variant(hopper_variant_of(f, p), tail_of(w, false));
  } else {
    const ampere_variant c = convolution_variant_of(f, p);
    t.source = text_of(c, tail_of(w, false));
    t.threads = static_cast<unsigned>(threads_of(c));
  }
  t.name = cat("cutlass.convolution ", to_string(p));
  t.fixed_bytes = sizeof(kernels::fixed_part), t.argument_bytes = window_bytes() + argument_bytes_of(w);
  return t;
}

}  // namespace troupe::cutlass
