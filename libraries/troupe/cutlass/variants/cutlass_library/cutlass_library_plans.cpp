// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string_view>
#include <troupe/base/text/cat.hpp>
#include <troupe/cutlass/variants/cutlass_library/cutlass_library_arguments.hpp>
#include <troupe/cutlass/vendor/refusals.hpp>

namespace troupe::cutlass {
namespace {

using epilogue::node, epilogue::op;

// Reads the sum alpha * acc + beta * c + bias from a normalized epilogue: see cutlass_library_epilogue.
class sum_of_parts {
 public:
  explicit sum_of_parts(const kernel_signature& f) : f_(f) {}
  std::optional<cutlass_library_epilogue> read() {
    if (f_.nodes.empty()) return std::nullopt;
    const node& root = f_.nodes.back();
    out_.gelu = root.what == op::gelu_tanh;
    if (!add(out_.gelu ? f_.nodes[root.arguments[0]] : root, 1) || !has_product_) return std::nullopt;
    return out_;
  }

 private:
  bool add(const node& n, float sign) {
    const auto argument = [&](std::size_t i) -> const node& { return f_.nodes[n.arguments[i]]; };
    if (n.what == op::add) return add(argument(0), sign) && add(argument(1), sign);
    if (n.what == op::subtract) return add(argument(0), sign) && add(argument(1), -sign);
    if (n.what == op::negate) return add(argument(0), -sign);
    if (n.what == op::load_row) return sign > 0 && take(out_.bias, n);
    if (n.what != op::multiply) return false;
    const node &x = argument(0), &y = argument(1);
    if (y.what != op::number) return false;
    const std::uint8_t source = f_.numbers[y.operand];
    if (x.what == op::accumulator && !has_product_)
      return out_.alpha = source, out_.alpha_sign = sign, has_product_ = true;
    if (x.what != op::load || !take(out_.c, x)) return false;
    out_.beta = source, out_.beta_sign = sign;
    return true;
  }
  static bool take(std::int8_t& operand, const node& n) {
    if (operand >= 0) return false;
    operand = static_cast<std::int8_t>(n.operand);
    return true;
  }

  const kernel_signature& f_;
  cutlass_library_epilogue out_;
  bool has_product_ = false;
};

// Returns the CUTLASS library's name of a result type; "" if no kernel has it.
std::string_view name_of_result(dtype t) noexcept {
  return t == dtype::f32 ? "f32" : t == dtype::f16 ? "f16" : t == dtype::bf16 ? "bf16" : "";
}
std::string_view name_of_factor(dtype factor, const signature_head& f) noexcept {
  if (factor == dtype::f8e4m3) return "e4m3";
  if (factor == dtype::f32) return f.precision == static_cast<std::uint8_t>(precision::tf32) ? "tf32" : "";
  return name_of_result(factor);
}
bool is(const char* name, std::string_view other) noexcept { return other == name; }

// The reason why a kernel cannot compute a problem, or ""; `passed` is the number of conditions that hold before it.
struct refusal {
  int passed = 0;
  std::string why;
};
// Checks the conditions of one kernel, in order.
class refusals {
 public:
  explicit refusals(const vendor::kernel_variant& c) : name_(c.name) {}
  /// Counts a condition that holds, or keeps the reason of the first that does not. Returns true if all conditions have
  /// held so far.
  template <class Text>
  bool require(bool fits, Text&& expected) {
    if (!out_.why.empty()) return false;
    if (fits)
      ++out_.passed;
    else
      out_.why = cat(name_, " ", expected());
    return fits;
  }
  void refuse(const error& e) {
    if (out_.why.empty()) out_.why = e.text();
  }
  const refusal& result() const noexcept { return out_; }

 private:
  const char* name_;
  refusal out_;
};

void require_gpu(refusals& r, const vendor::kernel_variant& c, const cuda::gpu_properties& gpu) {
  r.require(vendor::runs_on(c, gpu.capability), [&] {
    return cat("has machine code for ", c.machine_code, ", and not for ", gpu.capability / 10, ".",
               gpu.capability % 10);
  });
  r.require(c.shared_bytes <= gpu.shared_bytes,
            [&] { return cat("needs ", c.shared_bytes, " bytes of shared memory; a block has ", gpu.shared_bytes); });
}
bool require_epilogue(refusals& r, const vendor::kernel_variant& c, const std::optional<cutlass_library_epilogue>& e) {
  return r.require(e && (e->bias >= 0) == (c.bias != 0) && e->gelu == std::string_view(c.epilogue).starts_with("gelu"),
                   [&] {
                     return cat("computes ", c.epilogue, c.bias != 0 ? " with gelu_tanh and a row as bias" : "",
                                ", and no other epilogue");
                   });
}

// Returns true if a factor has a kernel's layout.
bool has_layout(const factor& f, const char* layout, bool lines_are_rows) noexcept {
  return (is(layout, "row") == lines_are_rows ? f.term : f.line) == 1;
}

// Returns true if the scales are in the order that the kernel reads.
bool has_scale_order(const matmul::block_scales& s, std::int64_t lines, const vendor::kernel_variant& c,
                     const vendor::launch& l, bool of_a) {
  const auto offset_of = of_a ? c.a_scale_offset : c.b_scale_offset;
  for (int i = 0; i < lines; ++i)
    for (int j = 0; j < (l.k + c.scale_block - 1) / c.scale_block; ++j)
      if (offset_of(&l, i, j) != i * s.line_stride + j * s.k_stride) return false;
  return true;
}
void require_scales(refusals& r, const vendor::kernel_variant& c, const problem& p, const kernel_signature& f,
                    const vendor::launch& l) {
  const auto fits = [&](const factor_signature& x) {
    return c.scale == nullptr ? x.scale_type == dtype{}
                              : x.scale_type == (is(c.scale, "ue8m0") ? dtype::f8e8m0 : dtype::f8e4m3) &&
                                    x.scale_block_lines == 1 && static_cast<int>(x.scale_block_k) == c.scale_block;
  };
  r.require(fits(f.head.a) && fits(f.head.b), [&] {
    return c.scale == nullptr
               ? std::string("takes no scales")
               : cat("takes scales ", c.scale, " of ", c.scale_block, " elements along k, for both factors");
  });
  if (c.scale == nullptr) return;
  r.require(
      r.result().why.empty() && has_scale_order(p.a_scales, p.m, c, l, true) &&
          has_scale_order(p.b_scales, p.n, c, l, false),
      [] {
        return "takes scales in atoms of 128 lines and 4 blocks: the scale of line i and block j is element 16 * (i % "
               "32) "
               "+ 4 * (i / 32 % 4) + j % 4; a matrix of scales can have that order for at most 32 lines and 4 blocks";
      });
}

// Returns true if the kernels can read the epilogue's operands: c has d's type and contiguous rows, and bias is
// contiguous, aligned, and shared by all products.
bool has_operands(const problem& p, const kernel_signature& f, const cutlass_library_epilogue& e) {
  if (e.c >= 0) {
    const placed_matrix m = operand_of(p, f, e.c);
    if (m.type != p.d.type || m.column != 1) return false;
  }
  if (e.bias < 0) return true;
  const placed_matrix m = operand_of(p, f, e.bias);
  return m.type == p.d.type && m.column == 1 && m.address % 16 == 0 && (m.batch == 0 || p.batch == 1);
}

constexpr std::int64_t most_in_grid = 65535;

// Returns the reason why a kernel cannot compute a product, which is swapped if the plan is.
refusal refusal_of(const vendor::kernel_variant& c, const problem& p, const kernel_signature& f,
                   const cuda::gpu_properties& gpu, const std::optional<cutlass_library_epilogue>& e) {
  refusals r(c);
  const bool grouped = p.groups.sizes != 0;
  const int kind = grouped ? vendor::grouped_product : c.scale != nullptr ? vendor::scaled_product : vendor::product;
  r.require(c.kind == kind, [&] { return grouped ? "computes no groups of rows" : "computes no single products"; });
  require_gpu(r, c, gpu);
  const signature_head& h = f.head;
  r.require(is(c.a, name_of_factor(p.a.type, h)) && is(c.b, name_of_factor(p.b.type, h)) &&
                is(c.d, name_of_result(p.d.type)) && p.sums == dtype::f32,
            [&] { return cat("multiplies ", c.a, " by ", c.b, " and stores ", c.d); });
  r.require(
      c.scale != nullptr || !is(c.a, "e4m3") || h.accumulation == static_cast<std::uint8_t>(matmul::accumulation::fast),
      [] { return "keeps sums in the tensor cores: allow accumulation::fast"; });
  if (!require_epilogue(r, c, e)) return r.result();
  r.require(has_layout(p.a, c.a_layout, true) && has_layout(p.b, c.b_layout, false) && p.d.column == 1, [&] {
    return cat("takes a stored by ", c.a_layout, "s and b by ", c.b_layout,
               "s, and stores d by rows, or the transpose of all three");
  });
  r.require(has_operands(p, f, *e), [&] {
    return cat("adds c and bias of type ", c.d, " stored by rows, the bias at a multiple of 16 bytes");
  });
  r.require(c.capability >= 90 || p.batch <= most_in_grid,
            [&] { return cat("computes at most ", most_in_grid, " products"); });
  if (!r.result().why.empty()) return r.result();
  vendor::launch l = launch_of(c, p, f, *e);
  require_scales(r, c, p, f, l);
  if (!r.result().why.empty()) return r.result();
  if (grouped) {  // checked as a single product: the lists of groups are made when the request runs
    if (p.groups.packed) l.a_batch = l.c_batch = 0, l.d_batch = l.m * l.d_line;
    vendor::kernel_variant single = c;
    single.kind = vendor::product, single.can_compute = [](const vendor::launch*) -> int { return vendor::accepted; };
    if (const auto fine = vendor::check(single, l); !fine) r.refuse(fine.error());
  } else if (const auto fine = vendor::check(c, l); !fine) {
    r.refuse(fine.error());
  }
  return r.result();
}

plan plan_of(const vendor::kernel_variant& c, bool swapped, const plan& wanted) {
  const std::string_view how = c.schedule;
  plan p;
  p.family = family::vendor;
  p.schedule = how.starts_with("ping-pong") ? schedule::ping_pong : schedule::cooperative;
  p.swapped = swapped ? decision::yes : decision::no;
  p.divided = how.find("stream-K") != how.npos ? decision::yes : decision::no;
  p.stages = static_cast<std::uint8_t>(c.stages);
  p.cluster_m = static_cast<std::uint8_t>(c.cluster_m), p.cluster_n = static_cast<std::uint8_t>(c.cluster_n);
  p.tile_m = static_cast<std::uint16_t>(c.tile_m), p.tile_n = static_cast<std::uint16_t>(c.tile_n),
  p.tile_k = static_cast<std::uint16_t>(c.tile_k);
  // Only these kernels have several orders of tiles.
  const bool may_choose = c.capability >= 90 && c.kind != vendor::grouped_product;
  const bool power = wanted.band != 0 && wanted.band <= 8 && (wanted.band & (wanted.band - 1)) == 0;
  if (may_choose) p.band = power ? wanted.band : std::uint16_t{1};
  return p;
}

// Returns the fraction of the tensor cores' peak that a tile reaches, as measured on an H100 and an H200: see
// docs/cutlass-vendor.md. Kernels for older GPUs use older instructions there, and multiply 8-bit floats as f16.
double efficiency_of(const vendor::kernel_variant& k, const cuda::gpu_properties& gpu) noexcept {
  if (k.capability >= 90) return k.tile_m * k.tile_n >= 32768 ? 0.85 : 0.6;
  if (gpu.capability < 90) return 0.85;
  return vendor::bits_of(k.a) == 8 ? 0.17 : 0.45;
}

// Sets the estimate: the time of the rounds of tiles, or of memory if that is longer.
void estimate(candidate& c, const vendor::kernel_variant& k, const extents& e, const cuda::gpu_properties& gpu) {
  const double bits = vendor::bits_of(k.a), flops_per_cycle = 65536 / bits / (gpu.capability >= 90 ? 1 : 2);
  const auto parts = [](std::int64_t x, int of) { return std::ceil(static_cast<double>(x) / of); };
  const double tiles = parts(e.m, k.tile_m) * parts(e.n, k.tile_n) * static_cast<double>(e.batch);
  const double rounds = c.plan.divided == decision::yes ? std::max(1.0, tiles / gpu.multiprocessors)
                                                        : std::ceil(tiles / gpu.multiprocessors);
  const double steps = parts(e.k, k.tile_k);
  constexpr double clock_share = 0.787, launch_us = 4, steps_to_fill = 3;
  const double cycles = rounds * (steps + steps_to_fill) * 2.0 * k.tile_m * k.tile_n * k.tile_k /
                        (flops_per_cycle * efficiency_of(k, gpu));
  const auto bytes_of_each = [&](std::int64_t x, std::int64_t y, const char* type) {
    return static_cast<double>(x * y * e.batch) * vendor::bits_of(type) / 8;
  };
  const double bytes = bytes_of_each(e.m, e.k, k.a) + bytes_of_each(e.n, e.k, k.b) + bytes_of_each(e.m, e.n, k.d);
  c.microseconds =
      launch_us + std::max(cycles / (gpu.gigahertz * clock_share * 1e3), bytes / (gpu.memory_bytes_per_ns * 0.8e3));
  c.efficiency = tiles / gpu.multiprocessors / std::ceil(tiles / gpu.multiprocessors);
}

// Collects plans, and the reason why the kernel that fits best has none.
class collector {
 public:
  collector(const cuda::gpu_properties& gpu, const plan& wanted) : gpu_(gpu), wanted_(wanted) {}
  void add(const vendor::kernel_variant& c, const refusal& r, const plan& p, const extents& e) {
    if (!r.why.empty()) {
      if (r.passed > passed_) passed_ = r.passed, out_.why_not = r.why;
      return;
    }
    candidate x{.plan = p, .variant = &c};
    estimate(x, c, e, gpu_);
    // Dividing tiles only helps if multiprocessors would be idle.
    const bool idle = x.efficiency < 0.9;
    if (p.divided != decision::yes || idle || wanted_.divided == decision::yes) out_.all.push_back(x);
  }
  cutlass_library_plans take() {
    if (!out_.all.empty()) out_.why_not.clear();
    return std::move(out_);
  }

 private:
  const cuda::gpu_properties& gpu_;
  const plan& wanted_;
  cutlass_library_plans out_;
  int passed_ = -1;
};

// -- convolutions

bool is_packed(const placed_tensor& t, const std::int64_t (&extents)[windows::most_spatial], std::int64_t channels,
               std::int64_t items) noexcept {
  std::int64_t stride = channels;
  bool fine = t.channel == 1;
  for (std::size_t i = windows::most_spatial; i-- > 0; stride *= extents[i])
    fine = fine && (extents[i] == 1 || t.spatial[i] == stride);
  return fine && (items == 1 || t.item == stride);
}

// Returns true if the padding along an axis is the same on both sides. With such padding, the window has w.out[i]
// positions.
bool is_symmetric(const windows::geometry& w, std::size_t i) noexcept {
  return (w.in[i] + 2 * w.padding_before[i] - ((w.window[i] - 1) * w.dilation[i] + 1)) / w.stride[i] + 1 == w.out[i];
}

refusal refusal_of(const vendor::kernel_variant& c, const convolution_problem& p, const problem& q,
                   const kernel_signature& f, const cuda::gpu_properties& gpu,
                   const std::optional<cutlass_library_epilogue>& e) {
  refusals r(c);
  const int kind = p.result == computed_tensor::y    ? vendor::conv_forward
                   : p.result == computed_tensor::dx ? vendor::conv_data_gradient
                                                     : vendor::conv_weight_gradient;
  r.require(c.kind == kind, [&] { return cat("computes no ", to_string(p.result)); });
  require_gpu(r, c, gpu);
  const windows::geometry& w = p;
  r.require(is(c.a, name_of_factor(p.x.type, f.head)) && p.filters.type == p.x.type && p.y.type == p.x.type,
            [&] { return cat("convolves ", c.a, " and stores ", c.d); });
  if (!require_epilogue(r, c, e)) return r.result();
  r.require(p.groups == 1 && !p.paired, [] { return "has no groups of channels"; });
  r.require(w.in[0] == 1 && w.out[0] == 1 && w.window[0] == 1, [] { return "has at most two spatial axes"; });
  r.require(is_symmetric(w, 1) && is_symmetric(w, 2),
            [] { return "takes equal padding before and after an image: leave padding_after out"; });
  r.require(is_packed(p.x, w.in, p.channels_of_group, p.images) &&
                is_packed(p.y, w.out, p.filters_of_group, p.images) &&
                is_packed(p.filters, w.window, p.channels_of_group, p.filters_of_group),
            [] { return "takes images and filters stored as item x height x width x channel without gaps"; });
  constexpr std::int64_t most = 0x7fffffff;
  r.require(p.images * w.image_size() * p.channels_of_group <= most &&
                p.images * w.positions() * p.filters_of_group <= most &&
                p.filters_of_group * w.window_size() * p.channels_of_group <= most,
            [&] { return cat("takes at most ", most, " elements in a tensor"); });
  if (!r.result().why.empty()) return r.result();
  r.require(has_operands(q, f, *e) && (e->c < 0 ||
                                       [&] {
                                         const placed_matrix m = operand_of(q, f, e->c);
                                         return (q.m == 1 || m.row == q.n) && (q.batch == 1 || m.batch == q.m * q.n);
                                       }()),
            [] { return "adds a c with the layout of the result"; });
  if (!r.result().why.empty()) return r.result();
  if (const auto fine = vendor::check(c, launch_of(p, f, *e)); !fine) r.refuse(fine.error());
  return r.result();
}

extents extents_of(const convolution_problem& p) noexcept {
  const windows::geometry& w = p;
  const std::int64_t in = p.images * w.image_size(), out = p.images * w.positions(), taps = w.window_size();
  switch (p.result) {
    case computed_tensor::y:
      return {out, p.filters_of_group, taps * p.channels_of_group, 1};
    case computed_tensor::dx:
      return {in, p.channels_of_group,
              std::max<std::int64_t>(1, taps * p.filters_of_group / (w.stride[1] * w.stride[2])), 1};
    default:
      return {p.filters_of_group, taps * p.channels_of_group, out, 1};
  }
}

}  // namespace

std::optional<cutlass_library_epilogue> cutlass_library_epilogue_of(const kernel_signature& f) {
  return sum_of_parts(f).read();
}

problem as_product(const convolution_problem& p) {
  problem q;
  const bool filters = p.result == computed_tensor::dfilters;
  q.n = filters                          ? p.window_size() * p.channels_of_group
        : p.result == computed_tensor::y ? p.filters_of_group
                                         : p.channels_of_group;
  q.m = filters ? p.filters_of_group : p.result == computed_tensor::y ? p.positions() : p.image_size();
  q.batch = filters ? 1 : p.images, q.k = 1;
  q.d = {p.computed().address, p.computed().type, q.n, 1, q.m * q.n};
  q.a = q.b = {p.x.address, p.x.type, 1, 1, 0};
  q.sums = p.sums, q.tree = p.tree, q.paired = p.paired;
  q.options = p.options;
  return q;
}

cutlass_library_plans cutlass_library_plans_of(const problem& p, const kernel_signature& f,
                                               const cuda::gpu_properties& gpu, const plan& wanted,
                                               const vendor::kernel_variants& from) {
  const auto e = cutlass_library_epilogue_of(f);
  collector out(gpu, wanted);
  for (const vendor::kernel_variant* c : from.all()) {
    if (c->kind >= vendor::conv_forward) continue;
    for (const bool swapped : {false, true}) {
      // A bias is a row of D, and groups are rows of D; in the transpose they would be columns.
      if (swapped && (p.groups.sizes != 0 || p.paired || (e && e->bias >= 0))) continue;
      const problem q = swapped ? p.swapped() : p;
      refusal r = p.paired ? refusal{0, cat(c->name, " has no pairs")} : refusal_of(*c, q, f, gpu, e);
      out.add(*c, r, plan_of(*c, swapped, wanted), {q.m, q.n, q.k, p.groups.packed ? 1 : q.batch});
    }
  }
  return out.take();
}

cutlass_library_plans cutlass_library_plans_of(const convolution_problem& p, const cuda::gpu_properties& gpu,
                                               const plan& wanted, const vendor::kernel_variants& from) {
  const problem q = as_product(p);
  const kernel_signature f = signature_of(q);
  const auto e = cutlass_library_epilogue_of(f);
  collector out(gpu, wanted);
  for (const vendor::kernel_variant* c : from.all())
    if (c->kind >= vendor::conv_forward)
      out.add(*c, refusal_of(*c, p, q, f, gpu, e), plan_of(*c, false, wanted), extents_of(p));
  return out.take();
}

}  // namespace troupe::cutlass
