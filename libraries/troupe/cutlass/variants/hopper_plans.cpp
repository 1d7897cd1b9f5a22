// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <troupe/base/text/cat.hpp>
#include <troupe/cutlass/variants/hopper_plans.hpp>
#include <utility>

namespace troupe::cutlass {
namespace {

// The cost model was fitted to some 1,400 measurements of products of bf16 on an H100: see docs/measurements.md.
constexpr double launch_us = 2.4;                   // time of a kernel with one tile that has one stage
constexpr double cluster_us = 1.5;                  // time added by clusters
constexpr double cluster_across = 1.026;            // slowdown of clusters across the direction of the raster
constexpr double cluster_along = 1.13;              // slowdown of clusters along the direction of the raster
constexpr double clock_share = 0.787;               // fraction of the highest clock that is reached under load
constexpr double l2_bytes_per_cycle_alone = 76.8;   // to one multiprocessor from the L2 cache, if no other reads
constexpr double l2_bytes_per_cycle_shared = 41.1;  // to each multiprocessor from the L2 cache, if all read
constexpr double memory_share = 0.835;              // fraction of the memory's peak bandwidth that is reached
constexpr double latency_us = 1.2;                  // latency of a read from memory
constexpr double write_cycles = 1687;               // cycles to write a tile of 128 x 256
constexpr double add_cycles = 900;                  // cycles to wait for the sums that are requested at once
constexpr double share_cycles = 3000;               // cycles to wait for the slices of other blocks
constexpr double divided_factor = 1.03;             // slowdown of divided tiles, which share less in the L2 cache
constexpr double not_aligned = 1.2;                 // further slowdown if parts of tiles begin at different terms
constexpr double not_aligned_cluster = 1.12;        // the same slowdown if clusters share the tiles
// Cycles of adding 128 sums of 8-bit floats to floats, if products of the other group do not hide it. On products of
// 8192 x 8192 x 8192, 1181 TFLOPS were measured with it and 1553 without.
constexpr double promote_cycles = 1.4;
constexpr int fewest_most_sharers = 8;  // the first limit of sharers of a tile to try; later limits are twice the last

struct shape {
  int tile_m, tile_n;
  schedule how;
  double efficiency;  // fraction of the tensor cores' peak within a tile
};
constexpr shape shapes[] = {
    {128, 256, schedule::cooperative, 0.91}, {128, 240, schedule::cooperative, 0.905},
    {128, 224, schedule::cooperative, 0.90}, {128, 192, schedule::cooperative, 0.91},
    {128, 160, schedule::cooperative, 0.86}, {128, 128, schedule::cooperative, 0.915},
    {128, 96, schedule::cooperative, 0.75},  {128, 64, schedule::cooperative, 0.67},
    {128, 32, schedule::cooperative, 0.5},   {128, 16, schedule::cooperative, 0.4},
    {128, 128, schedule::ping_pong, 0.91},   {64, 256, schedule::ping_pong, 0.75},
    {64, 224, schedule::ping_pong, 0.72},    {64, 192, schedule::ping_pong, 0.69},
    {64, 160, schedule::ping_pong, 0.72},    {64, 128, schedule::ping_pong, 0.8},
    {64, 96, schedule::ping_pong, 0.75},     {64, 64, schedule::ping_pong, 0.74},
    {64, 32, schedule::ping_pong, 0.6},      {64, 16, schedule::ping_pong, 0.5},
};
// Tiles of mixed factors, whose rows are lines of the narrow factor.
constexpr shape mixed_shapes[] = {
    {128, 256, schedule::cooperative, 0.85}, {128, 224, schedule::cooperative, 0.84},
    {128, 192, schedule::cooperative, 0.84}, {128, 160, schedule::cooperative, 0.80},
    {128, 128, schedule::cooperative, 0.80}, {128, 96, schedule::cooperative, 0.70},
    {128, 64, schedule::cooperative, 0.60},  {128, 32, schedule::cooperative, 0.5},
    {128, 16, schedule::cooperative, 0.4},   {256, 64, schedule::cooperative, 0.60},
    {256, 32, schedule::cooperative, 0.5},   {256, 16, schedule::cooperative, 0.4},
    {64, 64, schedule::cooperative, 0.6},    {64, 32, schedule::cooperative, 0.5},
    {64, 16, schedule::cooperative, 0.4},    {64, 256, schedule::ping_pong, 0.75},
    {64, 192, schedule::ping_pong, 0.70},    {64, 128, schedule::ping_pong, 0.70},
    {64, 64, schedule::ping_pong, 0.6},
};
// Cycles of widening 64 terms of 128 lines, with two groups of warps and with four; and slowdowns if scales multiply
// the widened elements, or the sums.
constexpr double widen_cycles = 550, widen_cycles_of_four = 420, scaled_numbers = 1.1, scaled_sums = 1.25;
constexpr double scaled_efficiency = 0.75, short_efficiency = 0.95;  // efficiency of scaled sums, and of short stages
constexpr int most_stages = 16;
constexpr const char* no_tile = "no tile of the template for Hopper fits the shared memory";

using matmul::is_float8;

// Returns the number of instructions whose terms share a scale, for mixed factors: at most 128 terms.
int mixed_promotion_of(const kernel_signature& f) noexcept {
  std::uint32_t terms = 0;
  for (const factor_signature* x : {&f.head.a, &f.head.b}) {
    if (x->scale_type == dtype{}) continue;
    // If all terms share a scale, their number need not be a power of two.
    const std::uint32_t block = (x->scale_block_k & (x->scale_block_k - 1)) == 0 ? x->scale_block_k : 128;
    terms = std::min({terms == 0 ? 128 : terms, block, std::uint32_t{128}});
  }
  return static_cast<int>(terms / 16);
}

std::string why_not(const kernel_signature& f, const cuda::gpu_properties& gpu) {
  const factor_signature &a = f.head.a, &b = f.head.b;
  if (gpu.capability != 90)
    return cat("the template for Hopper needs a GPU of capability 9.0, not ", gpu.capability / 10, ".",
               gpu.capability % 10);
  const bool halves = a.type == b.type && (a.type == dtype::f16 || a.type == dtype::bf16);
  const bool tf32 =
      a.type == dtype::f32 && b.type == dtype::f32 && f.head.precision == static_cast<std::uint8_t>(precision::tf32);
  const bool bytes = (is_float8(a.type) && is_float8(b.type)) || (a.type == dtype::i8 && b.type == dtype::i8);
  const bool mixed = f.head.is_mixed();
  if (mixed && f.head.grouped != 0) return "the template for Hopper does not widen factors of groups";
  // With smaller blocks the kernel would be long, and its scales would exceed the registers.
  const factor_signature& wide = signature_head::is_half(a) ? a : b;
  if (mixed && wide.scale_type != dtype{} && mixed_promotion_of(f) < 4)
    return "the template for Hopper takes scales of the wide factor only if blocks have at least 64 elements along k";
  if (!halves && !tf32 && !bytes && !mixed)
    return cat("the template for Hopper does not multiply ", to_string(a.type), " and ", to_string(b.type));
  for (const factor_signature* x : {&a, &b}) {
    if (x->alignment < 16) return "the template for Hopper needs lines that begin at multiples of 16 bytes";
    const bool is_half = signature_head::is_half(*x);
    if (x->contiguous == contiguous_axis::none || (x->contiguous != contiguous_axis::k && !is_half))
      return "the template for Hopper needs rows of a and columns of b to be contiguous, except for f16 and bf16";
    if (x->scale_type != dtype{} && !mixed && (!is_float8(x->type) || x->scale_block_k % 128 != 0))
      return "the template for Hopper takes scales only of 8-bit floats, one for a multiple of 128 elements along k";
  }
  return {};
}

// Returns true if sums are staged in shared memory; false if results are, in their own type: see hopper_boxes.cuh.
bool needs_staging(const kernel_signature& f, int tile_n) noexcept {
  const std::size_t bytes = bytes_of(f.head.d);
  if (bytes > 2 || f.head.d_access < 16 || f.head.grouped != 0 || f.head.is_mixed()) return true;
  const int box_columns = 128 / static_cast<int>(bytes);
  if (tile_n / (f.head.paired != 0 ? 2 : 1) % box_columns != 0) return true;
  // Stores of the epilogue have no box, matrices without alignment are read faster in long rows, and reductions in f64
  // and matrices beside the sums of 8-bit floats would exceed the registers.
  const bool narrow = bytes_of(f.head.b.type) == 1, in_f64 = f.head.sums != dtype::f32;
  return std::any_of(f.nodes.begin(), f.nodes.end(), [&](const epilogue::node& n) {
    return n.what == epilogue::op::store || (n.what == epilogue::op::reduce && in_f64) ||
           (n.what == epilogue::op::load && (narrow || f.memory[n.operand].access < 16));
  });
}

// Returns true if scales multiply the widened elements instead of sums: if that is exact, or if rounding is allowed.
// Returns false for f16, because products with scales could overflow.
bool scales_elements(const kernel_signature& f) noexcept {
  const factor_signature &narrow = f.head.a, &wide = f.head.b;
  if (narrow.scale_type == dtype{} || wide.scale_type != dtype{}) return false;
  if (narrow.type == dtype::f4e2m1x2 && narrow.scale_type == dtype::f8e4m3) return true;
  const bool fast = f.head.accumulation == static_cast<std::uint8_t>(accumulation::fast);
  return wide.type == dtype::bf16 && (fast || narrow.scale_type == dtype::f8e8m0);
}

int promotion_of(const kernel_signature& f) noexcept {
  if (f.head.is_mixed()) return mixed_promotion_of(f);
  const bool scaled = f.head.a.scale_type != dtype{} || f.head.b.scale_type != dtype{};
  return scaled || f.head.adds_precisely() ? 4 : 0;
}

double bytes_of_term(const factor_signature& f) noexcept {
  return f.type == dtype::f4e2m1x2 ? 0.5 : static_cast<double>(bytes_of(f.type));
}
// Returns the cycles of widening the first factor in a stage.
double widening_cycles(const hopper_variant& c) noexcept {
  // Groups with a tile each do not share the widening, and four groups read shorter pieces, which costs more.
  const double each = (c.groups == 2 ? widen_cycles : widen_cycles_of_four) *
                      (c.ping_pong                     ? 1.6
                       : c.groups > 2 && c.tile_n > 32 ? 1.2
                                                       : 1) *
                      (c.promoted > 0         ? scaled_sums
                       : c.scaled_numbers > 0 ? scaled_numbers
                                              : 1);
  return each * c.slices * c.tile_m / 128;
}
double efficiency_of(const hopper_variant& c) noexcept {
  return (c.promoted > 0 ? scaled_efficiency : 1) *
         (c.slices == (c.first == dtype::f4e2m1x2 ? 4 : 2) ? 1 : short_efficiency);
}
double flops_per_cycle(dtype t) noexcept { return t == dtype::f32 ? 2048 : bytes_of(t) == 2 ? 4096 : 8192; }

// Returns the cycles of adding the parts of a tile, without writing and reading them: see divided_tiles.cuh.
double adding_cycles(const plan& p, double parts) {
  const double vectors = p.tile_m * p.tile_n * (p.schedule == schedule::ping_pong ? 2.0 : 1.0) / (256 * 4),
               slices = std::min({parts, vectors, std::ceil(parts * vectors / 32)});
  if (slices <= 1) return parts * add_cycles;
  return std::ceil(vectors / slices) * std::ceil(parts / 16) * add_cycles + share_cycles;
}

// Sets the cost model's estimate: the time of rounds of tiles, or of the L2 cache or memory if that is longer. Each
// element of a gathered image is used `reuse` times.
void estimate(candidate& c, const convolution_signature& g, const extents& e, const cuda::gpu_properties& gpu,
              double efficiency, double reuse) {
  const kernel_signature& f = g.product;
  const plan& p = c.plan;
  const auto number = [](std::int64_t n) { return static_cast<double>(n); };
  const auto up = [](double x, double y) { return std::ceil(x / y); };
  const bool mixed = f.head.is_mixed(), crossed = is_crossed(f.head, p);
  const double pair = f.head.paired != 0 ? 2 : 1, row_pair = crossed ? pair : 1, column_pair = crossed ? 1 : pair;
  const double cluster = p.cluster_m * p.cluster_n, all = gpu.multiprocessors;
  const double clusters = std::floor(all / cluster), steps = std::max(1.0, up(number(e.k), p.tile_k));
  const double cluster_tiles = up(up(number(e.m), p.tile_m / row_pair), p.cluster_m) *
                               up(up(number(e.n), p.tile_n / column_pair), p.cluster_n) * number(e.batch);
  const double line_1 = p.tile_k * bytes_of_term(f.head.a), line_2 = p.tile_k * bytes_of_term(f.head.b);
  const double stage_bytes = line_1 * p.tile_m / p.cluster_n + line_2 * p.tile_n / p.cluster_m;
  if (mixed) efficiency *= efficiency_of(hopper_variant_of(f, p));
  const double multiplying = 2.0 * p.tile_m * p.tile_n * p.tile_k / flops_per_cycle(f.head.b.type) / efficiency;
  const double widening = mixed ? widening_cycles(hopper_variant_of(f, p)) : 0;
  const double promoting = !mixed && promotion_of(f) > 0 ? promote_cycles * p.tile_m * p.tile_n / 128 : 0;
  const double stage = std::max({multiplying + promoting, stage_bytes / l2_bytes_per_cycle_alone, widening}),
               write = p.tile_m * p.tile_n / 32768.0 * write_cycles;
  const double rounds = std::ceil(cluster_tiles / clusters);
  const bool divided = p.divided == decision::yes;
  const division d = divided ? divide(static_cast<std::int64_t>(cluster_tiles), static_cast<std::int64_t>(clusters),
                                      static_cast<std::int64_t>(steps), c.most_sharers)
                             : division{};
  const double misalignment = d.aligned     ? 1
                              : cluster > 1 ? not_aligned_cluster
                                            : not_aligned,
               last_round = d.divided == 0 ? 0 : misalignment * number(d.divided) / number(d.sharers);
  double cycles = stage * steps * (divided ? divided_factor * (number(d.undivided) / clusters + last_round) : rounds) +
                  write * (p.schedule == schedule::ping_pong ? 1 : rounds);
  cycles = std::max(cycles, cluster_tiles * cluster * steps * stage_bytes / (l2_bytes_per_cycle_shared * all));
  // Each block writes its sums of a tile to memory and reads some again.
  const double tile_bytes = 4.0 * p.tile_m * p.tile_n;
  if (d.parts > 1)
    cycles += 3 * tile_bytes / (0.7 * l2_bytes_per_cycle_shared) + 2000 + adding_cycles(p, number(d.parts));
  const bool second_is_image = g.convolution == convolution_kind::weight_gradient;
  const double reuse_1 = second_is_image ? 1 : reuse, reuse_2 = second_is_image ? reuse : 1;
  const double memory_bytes = (number(e.m * e.k) / reuse_1 * row_pair * bytes_of_term(f.head.a) +
                               number(e.n * e.k) / reuse_2 * column_pair * bytes_of_term(f.head.b) +
                               number(e.m * e.n) * number(static_cast<std::int64_t>(bytes_of(f.head.d)))) *
                              number(e.batch);
  // Few blocks or small stages do not use the memory's whole bandwidth.
  const double useful = line_1 * std::min(p.tile_m + 0.0, row_pair * number(e.m)) +
                        line_2 * std::min(p.tile_n + 0.0, column_pair * number(e.n));
  const double busy = std::min(clusters, divided && d.undivided == 0 ? number(d.sharers) : cluster_tiles) * cluster;
  const double memory_us = std::max(memory_bytes / (gpu.memory_bytes_per_ns * memory_share * 1e3),
                                    memory_bytes / (busy * (p.stages - 1) * useful) * latency_us);
  // Computing and reading overlap, but not entirely.
  c.microseconds =
      launch_us + std::cbrt(std::pow(cycles / (gpu.gigahertz * clock_share * 1e3), 3) + std::pow(memory_us, 3));
  if (cluster > 1) {
    const bool across = (p.cluster_m > 1) == (p.raster == raster::along_rows);
    c.microseconds = (c.microseconds + cluster_us) * (across ? cluster_across : cluster_along);
  }
  c.efficiency = cluster_tiles / clusters / rounds;
}

}  // namespace

hopper_variant hopper_variant_of(const convolution_signature& f, const plan& p) {
  hopper_variant c = hopper_variant_of(f.product, p);
  c.convolution = f.convolution, c.rank = f.rank, c.strided_result = f.strided_result;
  c.staged = c.staged || f.strided_result;
  return c;
}

hopper_variant hopper_variant_of(const kernel_signature& f, const plan& p) {
  hopper_variant c;
  c.first = f.head.a.type, c.second = f.head.b.type, c.result = f.head.d;
  c.tile_m = p.tile_m, c.tile_n = p.tile_n, c.stages = p.stages, c.cluster_m = p.cluster_m, c.cluster_n = p.cluster_n;
  c.ping_pong = p.schedule == schedule::ping_pong;
  c.by_lines_1 = f.head.a.contiguous == contiguous_axis::lines,
  c.by_lines_2 = f.head.b.contiguous == contiguous_axis::lines;
  c.grouped = f.head.grouped != 0, c.divides = p.divided == decision::yes, c.crossed = is_crossed(f.head, p),
  c.slices = c.is_mixed() ? p.tile_k / 64 : 1;
  c.staged = needs_staging(f, p.tile_n);
  c.promoted = promotion_of(f);
  if (c.is_mixed()) {
    c.promoted = std::min(c.promoted, c.slices * 4);
    if (scales_elements(f)) std::swap(c.promoted, c.scaled_numbers);
    // Four groups hide the latency of reads, if their registers suffice.
    c.splits_k = !c.ping_pong && p.tile_m == 64;
    if (!c.ping_pong) c.groups = p.tile_m == 128 || ((c.promoted > 0 || c.splits_k) && p.tile_n > 32) ? 2 : 4;
  }
  c.first_scales = f.head.a.scale_type, c.second_scales = f.head.b.scale_type;
  c.scale_for_each_column =
      f.head.b.scale_type != dtype{} &&
      (f.head.paired != 0 || f.head.b.scale_block_lines % static_cast<unsigned>(width_of(c)) != 0);
  c.result_access = f.head.d_access;
  c.loads =
      std::any_of(f.nodes.begin(), f.nodes.end(), [](const epilogue::node& n) { return n.what == epilogue::op::load; });
  return c;
}

namespace {

// Adds the plans of one orientation: swapped or not.
class hopper_plans {
 public:
  hopper_plans(convolution_signature f, std::vector<extents> launches, double reuse, const cuda::gpu_properties& gpu,
               const plan& wanted, bool swapped, std::vector<candidate>& to)
      : f_(std::move(f)),
        launches_(std::move(launches)),
        e_(largest(launches_)),
        reuse_(reuse),
        gpu_(gpu),
        wanted_(wanted),
        swapped_(swapped),
        to_(to) {}

  void add() {
    if (head().is_mixed()) {
      // A line of the first factor has at most 128 bytes in a stage.
      const int most = head().a.type == dtype::f4e2m1x2 ? 4 : 2;
      for (const shape& s : mixed_shapes)
        for (int slices = most / 2; slices <= most; slices *= 2)
          if (slices == most || s.tile_n > 16 || s.tile_m == 128 || s.how == schedule::ping_pong) add(s, 64 * slices);
    } else {
      for (const shape& s : shapes) add(s, static_cast<int>(128 / bytes_of(head().a.type)));
    }
  }

 private:
  const signature_head& head() const noexcept { return f_.product.head; }
  static const extents& largest(const std::vector<extents>& launches) {
    return *std::max_element(launches.begin(), launches.end(),
                             [](const extents& x, const extents& y) { return x.m * x.k < y.m * y.k; });
  }
  void add(const shape& s, int terms) {
    for (const auto& [m, n] : {std::pair{1, 1}, std::pair{2, 1}, std::pair{1, 2}})
      for (const bool divided : {false, true})
        if (!divided || (head().batched == 0 && head().grouped == 0)) add(s, terms, m, n, divided);
  }
  void add(const shape& s, int terms, int cluster_m, int cluster_n, bool divided) {
    candidate c{.plan = plan_of_tiles(s.tile_m, s.tile_n, swapped_, divided, e_, wanted_)};
    plan& p = c.plan;
    p.family = family::hopper, p.schedule = s.how;
    p.cluster_m = static_cast<std::uint8_t>(cluster_m), p.cluster_n = static_cast<std::uint8_t>(cluster_n);
    p.tile_k = static_cast<std::uint16_t>(terms);
    const int across = p.raster == raster::along_columns ? cluster_m : cluster_n;
    if (p.band == 0) p.band = static_cast<std::uint16_t>(16 / across);
    const auto fits = [&](int stages) {
      p.stages = static_cast<std::uint8_t>(stages);
      return can_be(hopper_variant_of(f_, p), head().paired != 0, gpu_.shared_bytes);
    };
    if (!set_stages(wanted_, most_stages, fits)) return;
    find_sharers(c, s.efficiency);
    // Dividing tiles only helps if multiprocessors would be idle.
    if (divided && wanted_.divided != decision::yes && c.efficiency > 0.9) return;
    to_.push_back(c);
  }

  // Sets the number of sharers of a tile for which the estimate is least, and that estimate.
  void find_sharers(candidate& c, double efficiency) const {
    c.most_sharers = fewest_most_sharers;
    estimate_launches(c, efficiency);
    if (c.plan.divided != decision::yes) return;
    for (candidate more = c; more.most_sharers < gpu_.multiprocessors;) {
      more.most_sharers *= 2;
      estimate_launches(more, efficiency);
      if (more.microseconds < c.microseconds) c = more;
    }
  }

  // Sets the time of all launches. Launches overlap, so the time of a launch is counted once.
  void estimate_launches(candidate& c, double efficiency) const {
    double sum = launch_us;
    for (const extents& e : launches_) {
      estimate(c, f_, e, gpu_, efficiency, reuse_);
      sum += c.microseconds - launch_us;
    }
    if (launches_.size() > 1) estimate(c, f_, e_, gpu_, efficiency, reuse_);  // sets the efficiency of its rounds
    c.microseconds = sum;
  }

  const convolution_signature f_;
  const std::vector<extents> launches_;
  const extents e_;
  const double reuse_;
  const cuda::gpu_properties& gpu_;
  const plan& wanted_;
  const bool swapped_;
  std::vector<candidate>& to_;
};

}  // namespace

std::string add_hopper_plans(const kernel_signature& f, const extents& e, const cuda::gpu_properties& gpu,
                             const plan& wanted, std::vector<candidate>& to) {
  if (std::string reason = why_not(f, gpu); !reason.empty()) return reason;
  // If a side of the result has at most this extent, it becomes the columns of an instruction, not its 64 lines.
  constexpr std::int64_t few = 64;
  const std::size_t before = to.size();
  if (f.head.is_mixed()) {
    // Lines of the narrow factor are rows of the kernel.
    const bool swapped = signature_head::is_half(f.head.a);
    if (swapped)
      hopper_plans({f.crossed()}, {{e.n, e.m, e.k, e.batch}}, 1, gpu, wanted, true, to).add();
    else
      hopper_plans({f}, {e}, 1, gpu, wanted, false, to).add();
    return to.size() == before ? no_tile : "";
  }
  for (const bool swapped : {false, true}) {
    // Pairs are in one row of the kernel, and groups are rows of the kernel.
    if (swapped && (f.head.paired != 0 || f.head.grouped != 0)) continue;
    // Contiguous elements of D are written together, so they are in a row of the kernel.
    if (wanted.swapped == decision::any && !f.head.writes_contiguously(swapped) && !(swapped ? e.m <= few : e.n <= few))
      continue;
    if (swapped)
      hopper_plans({f.swapped()}, {{e.n, e.m, e.k, e.batch}}, 1, gpu, wanted, true, to).add();
    else
      hopper_plans({f}, {e}, 1, gpu, wanted, false, to).add();
  }
  return to.size() == before ? no_tile : "";
}

std::string add_hopper_plans(const convolution_signature& f, std::vector<extents> launches, double reuse,
                             const cuda::gpu_properties& gpu, const plan& wanted, std::vector<candidate>& to) {
  if (std::string reason = why_not(f.product, gpu); !reason.empty()) return reason;
  if (f.product.head.paired != 0) return "the template for Hopper gathers no images for pairs";
  if (f.product.head.is_mixed()) return "the template for Hopper gathers no images for mixed factors";
  const std::size_t before = to.size();
  hopper_plans(f, std::move(launches), reuse, gpu, wanted, false, to).add();
  return to.size() == before ? no_tile : "";
}

}  // namespace troupe::cutlass
