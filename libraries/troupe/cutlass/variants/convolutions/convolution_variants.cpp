// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <troupe/base/text/cat.hpp>
#include <troupe/cutlass/templates/arguments.hpp>
#include <troupe/cutlass/variants/ampere_plans.hpp>
#include <troupe/cutlass/variants/convolutions/convolution_variants.hpp>
#include <troupe/cutlass/variants/epilogue_source.hpp>
#include <troupe/cutlass/variants/hopper_plans.hpp>

namespace troupe::cutlass {
namespace {

struct shape {
  int tile_m, tile_n;
  double efficiency;  // fraction of the tensor cores' peak within a tile
};
constexpr shape shapes[] = {{128, 128, 0.33}, {128, 64, 0.20}, {64, 128, 0.21}, {64, 64, 0.15}};
// Arrangements of a block's warps. Warps with more than 64 x 32 results have no registers left for gathered elements.
struct warps {
  int m, n;
};
constexpr warps all_warps[] = {{2, 4}, {4, 2}, {2, 2}};
constexpr int most_stages = 4;
// Maximum number of sums in all parts of a divided tile. The tile's blocks write these sums to memory and read them.
constexpr int most_added = 10 * 128 * 128;

// Returns the fraction of a tile's efficiency that remains when its image is gathered.
double gathering_efficiency(const convolution_signature& f) noexcept {
  const bool gathers_k = f.convolution == convolution_kind::weight_gradient;
  const factor_signature& image = gathers_k ? f.product.head.b : f.product.head.a;
  const double aligned = gathers_k ? 0.55 : 1;
  return image.alignment < 4 ? aligned * 0.15 : aligned;  // unaligned elements are read one by one
}

// Returns the number of elements that a thread reads one by one for a stage. Each occupies a register until it arrives.
int elements_read_one_by_one(const ampere_variant& c) noexcept {
  const int lines = (passes_registers(c, 1) ? c.tile_m : 0) + (passes_registers(c, 2) ? c.tile_n : 0);
  return lines * depth_of(c) / threads_of(c);
}

// Sets the warps, and the terms of a stage if `depth` is 0. Returns true if the template has such a kernel.
bool complete(ampere_variant& c, int depth, bool is_mixed) {
  const int most_elements = is_mixed ? 16 : 32;  // read one by one; with more, registers would spill
  const bool slow = c.first.alignment < 4 || c.second.alignment < 4;
  for (const warps& w : all_warps)
    for (const int divisor : slow && !c.exact ? std::array{2, 1, 4} : std::array{1, 2, 4}) {
      c.warps_m = w.m, c.warps_n = w.n, c.depth = 0;
      // Shorter stages have fewer elements in registers.
      c.depth = depth != 0 ? depth : depth_of(c) / divisor;
      const int terms = c.promotion_k;
      if (terms != 0 && terms % c.depth != 0) continue;
      if (error_of(c).empty() && (c.exact || elements_read_one_by_one(c) <= most_elements)) return true;
      if (depth != 0) break;
    }
  return false;
}

// Returns true if sums of 8-bit floats are promoted on a GPU whose tensor cores lack these types, so that both factors
// are widened. Registers then hold at most 32 sums, each before and after it is promoted.
bool widens_and_promotes(const convolution_signature& f, const cuda::gpu_properties& gpu) noexcept {
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
  c.convolution = f.convolution, c.rank = f.rank, c.strided_result = f.strided_result;
  if (!complete(c, p.tile_k, head.is_mixed())) c.stages = 0;  // so that error_of refuses it
  return c;
}

std::string add_convolution_plans(const convolution_signature& f, const extents& e, double gathered_taps,
                                  const cuda::gpu_properties& gpu, const plan& wanted, std::vector<candidate>& to) {
  if (gpu.capability < 80)
    return cat("convolutions need a GPU of capability 8.0 or more, not ", gpu.capability / 10, ".",
               gpu.capability % 10);
  const std::size_t before = to.size();
  const bool widens = widens_and_promotes(f, gpu);
  // In gradients of images, the coordinates of both factors leave too few registers for 64 sums of doubles.
  const bool doubles = f.product.head.a.type == dtype::f64 && f.convolution == convolution_kind::data_gradient;
  // With longer stages more elements would be widened at a time, as in ordinary products.
  const int terms = widens && f.convolution == convolution_kind::forward ? 64 : 0;
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
      estimate(c, variant, f.product, e, gpu, s.efficiency * gathering_efficiency(f), gathered_taps);
      if (divided && wanted.divided != decision::yes && c.efficiency > 0.5) continue;
      to.push_back(c);
    }
  return to.size() == before ? "no tile of convolutions fits these types and the shared memory" : "";
}

variant_source source_of_variant(const convolution_signature& f, const plan& p) {
  if (f.convolution == convolution_kind::none) return source_of_variant(f.product, p);
  const kernel_signature& w = f.product;
  variant_source t;
  if (p.family == family::hopper) {
    t = source_of_variant(hopper_variant_of(f, p), epilogue_source_of(w, false));
  } else {
    const ampere_variant c = convolution_variant_of(f, p);
    t.source = text_of(c, epilogue_source_of(w, false));
    t.threads = static_cast<unsigned>(threads_of(c));
  }
  t.name = cat("cutlass.convolution ", to_string(p));
  t.fixed_bytes = sizeof(kernels::fixed_arguments), t.argument_bytes = convolution_bytes() + argument_bytes_of(w);
  return t;
}

}  // namespace troupe::cutlass
