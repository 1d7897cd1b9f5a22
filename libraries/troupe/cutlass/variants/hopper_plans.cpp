// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <troupe/base/cat.hpp>
#include <troupe/cutlass/cells/hopper_plans.hpp>
#include <utility>

namespace troupe::cutlass {
namespace {

// The cost model was fitted to some 1,400 measurements of products of bf16 on an H100: see docs/measurements.md.
constexpr double launch_us = 2.4;             // of a kernel with one tile that has one stage
constexpr double cluster_us = 1.5;            // more, with clusters
constexpr double right_way = 1.026;           // clusters across the way that tiles are walked cost so much,
constexpr double wrong_way = 1.13;            // and along it
constexpr double clock_share = 0.787;         // of the highest clock, under load
constexpr double bytes_of_one = 76.8;         // that a multiprocessor gets from the second cache in a cycle
constexpr double bytes_of_all = 41.1;         // the same, if all do
constexpr double memory_share = 0.835;        // of the memory's bandwidth
constexpr double latency_us = 1.2;            // from asking for memory until it is there
constexpr double write_cycles = 1687;         // of a tile of 128 x 256
constexpr double add_cycles = 900;            // until as many sums of another part are there as are asked for at once
constexpr double share_cycles = 3000;         // until blocks know what the others have done
constexpr double divided_way = 1.03;          // where tiles are divided, blocks share less in the second cache,
constexpr double not_aligned = 1.2;           // and still less where their parts begin at different terms,
constexpr double not_aligned_cluster = 1.12;  // unless clusters share them
// What it costs to add 128 sums of 8-bit floats to floats, as far as products of the other group do not hide it: 1181
// and 1553 TFLOPS were measured of 8192 x 8192 x 8192 with and without.
constexpr double promote_cycles = 1.4;
constexpr int fewest_most_sharers = 8;  // more are considered where that is not enough

struct shape {
  int tile_m, tile_n;
  schedule how;
  double efficiency;  // of the tensor cores, within a tile
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
// Mixed factors: lines of the narrow one are rows.
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
// What it costs to widen 64 terms of 128 lines, with two groups of warps and with four; and what scales cost: where
// numbers are multiplied, and where sums are.
constexpr double widen_cycles = 550, widen_cycles_of_four = 420, scaled_numbers = 1.1, scaled_sums = 1.25;
constexpr double scaled_efficiency = 0.75, short_efficiency = 0.95;  // of scaled sums, and of short stages
constexpr int most_stages = 16;
constexpr const char* no_tile = "no tile of the template for Hopper fits the shared memory";

using matmul::is_float8;

// Of mixed factors: the instructions that share a scale, and at most those of 128 terms.
int mixed_promotion_of(const whole_form& f) noexcept {
  std::uint32_t terms = 0;
  for (const factor_form* x : {&f.head.a, &f.head.b}) {
    if (x->scale_type == dtype{}) continue;
    // A block that is no power of two has all terms.
    const std::uint32_t of_block = (x->scale_terms & (x->scale_terms - 1)) == 0 ? x->scale_terms : 128;
    terms = std::min({terms == 0 ? 128 : terms, of_block, std::uint32_t{128}});
  }
  return static_cast<int>(terms / 16);
}

std::string why_not(const whole_form& f, const chip& on) {
  const factor_form &a = f.head.a, &b = f.head.b;
  if (on.capability != 90)
    return cat("the template for Hopper needs a GPU of capability 9.0, not ", on.capability / 10, ".",
               on.capability % 10);
  const bool halves = a.type == b.type && (a.type == dtype::f16 || a.type == dtype::bf16);
  const bool tf32 =
      a.type == dtype::f32 && b.type == dtype::f32 && f.head.precision == static_cast<std::uint8_t>(precision::tf32);
  const bool eights = (is_float8(a.type) && is_float8(b.type)) || (a.type == dtype::i8 && b.type == dtype::i8);
  const bool mixed = f.head.is_mixed();
  if (mixed && f.head.grouped != 0) return "the template for Hopper does not widen factors of groups";
  // Such a kernel would be long, and its scales would take more registers than there are.
  const factor_form& wide = form::is_half(a) ? a : b;
  if (mixed && wide.scale_type != dtype{} && mixed_promotion_of(f) < 4)
    return "the template for Hopper takes scales of the wide factor only if blocks have at least 64 terms";
  if (!halves && !tf32 && !eights && !mixed)
    return cat("the template for Hopper does not multiply ", to_string(a.type), " and ", to_string(b.type));
  for (const factor_form* x : {&a, &b}) {
    if (x->alignment < 16) return "the template for Hopper needs lines that begin at multiples of 16 bytes";
    const bool is_half = form::is_half(*x);
    if (x->neighbours == neighbours::none || (x->neighbours != neighbours::terms && !is_half))
      return "the template for Hopper needs terms that are neighbours, for elements other than f16 and bf16";
    if (x->scale_type != dtype{} && !mixed && (!is_float8(x->type) || x->scale_terms % 128 != 0))
      return "the template for Hopper takes scales of blocks of a multiple of 128 terms, of 8-bit floats";
  }
  return {};
}

// Whether results cannot pass through shared memory as they are, see hopper_boxes.cuh.
bool needs_staging(const whole_form& f, int tile_n) noexcept {
  const std::size_t bytes = bytes_of(f.head.d);
  if (bytes > 2 || f.head.d_way < 16 || f.head.grouped != 0 || f.head.is_mixed()) return true;
  const int box_columns = 128 / static_cast<int>(bytes);
  if (tile_n / (f.head.paired != 0 ? 2 : 1) % box_columns != 0) return true;
  // Other results have no box. Matrices that are read in short pieces are read best in long rows. The rest would not
  // have registers enough: reductions in f64, and matrices beside the sums of 8-bit floats.
  const bool narrow = bytes_of(f.head.b.type) == 1, in_f64 = f.head.sums != dtype::f32;
  return std::any_of(f.nodes.begin(), f.nodes.end(), [&](const epilogue::node& n) {
    return n.what == epilogue::op::store || (n.what == epilogue::op::reduce && in_f64) ||
           (n.what == epilogue::op::load && (narrow || f.memory[n.operand].way < 16));
  });
}

// Whether scales multiply the widened numbers instead of sums: where nothing is rounded, or where that may be. Halves
// could overflow.
bool scales_numbers(const whole_form& f) noexcept {
  const factor_form &narrow = f.head.a, &wide = f.head.b;
  if (narrow.scale_type == dtype{} || wide.scale_type != dtype{}) return false;
  if (narrow.type == dtype::f4e2m1x2 && narrow.scale_type == dtype::f8e4m3) return true;
  const bool fast = f.head.accumulation == static_cast<std::uint8_t>(accumulation::fast);
  return wide.type == dtype::bf16 && (fast || narrow.scale_type == dtype::f8e8m0);
}

int promotion_of(const whole_form& f) noexcept {
  if (f.head.is_mixed()) return mixed_promotion_of(f);
  const bool scaled = f.head.a.scale_type != dtype{} || f.head.b.scale_type != dtype{};
  return scaled || f.head.adds_precisely() ? 4 : 0;
}

double bytes_of_term(const factor_form& f) noexcept {
  return f.type == dtype::f4e2m1x2 ? 0.5 : static_cast<double>(bytes_of(f.type));
}
double widening_of(const hopper_cell& c) noexcept {
  // Groups with a tile each often have none; and short pieces of what is read cost more.
  const double each = (c.groups == 2 ? widen_cycles : widen_cycles_of_four) *
                      (c.ping_pong                     ? 1.6
                       : c.groups > 2 && c.tile_n > 32 ? 1.2
                                                       : 1) *
                      (c.promoted > 0         ? scaled_sums
                       : c.scaled_numbers > 0 ? scaled_numbers
                                              : 1);
  return each * c.slices * c.tile_m / 128;
}
double efficiency_of(const hopper_cell& c) noexcept {
  return (c.promoted > 0 ? scaled_efficiency : 1) *
         (c.slices == (c.first == dtype::f4e2m1x2 ? 4 : 2) ? 1 : short_efficiency);
}
double flops_per_cycle(dtype t) noexcept { return t == dtype::f32 ? 2048 : bytes_of(t) == 2 ? 4096 : 8192; }

// What it takes to add the parts of a tile beside writing and reading them: see divided_tiles.cuh.
double adding_of(const plan& p, double parts) {
  const double of_thread = p.tile_m * p.tile_n * (p.schedule == schedule::ping_pong ? 2.0 : 1.0) / (256 * 4),
               slices = std::min({parts, of_thread, std::ceil(parts * of_thread / 32)});
  if (slices <= 1) return parts * add_cycles;
  return std::ceil(of_thread / slices) * std::ceil(parts / 16) * add_cycles + share_cycles;
}

// The cost model: tiles in rounds, unless the second cache or the memory is slower. Each number of an image is used
// `reuse` times.
void estimate(candidate& c, const convolution_form& g, const extents& e, const chip& on, double efficiency,
              double reuse) {
  const whole_form& f = g.product;
  const plan& p = c.plan;
  const auto number = [](std::int64_t n) { return static_cast<double>(n); };
  const auto up = [](double x, double y) { return std::ceil(x / y); };
  const bool mixed = f.head.is_mixed(), crossed = is_crossed(f.head, p);
  const double pair = f.head.paired != 0 ? 2 : 1, of_rows = crossed ? pair : 1, of_columns = crossed ? 1 : pair;
  const double cluster = p.cluster_m * p.cluster_n, all = on.multiprocessors;
  const double clusters = std::floor(all / cluster), steps = std::max(1.0, up(number(e.k), p.tile_k));
  const double supers = up(up(number(e.m), p.tile_m / of_rows), p.cluster_m) *
                        up(up(number(e.n), p.tile_n / of_columns), p.cluster_n) * number(e.batch);
  const double line_1 = p.tile_k * bytes_of_term(f.head.a), line_2 = p.tile_k * bytes_of_term(f.head.b);
  const double stage_bytes = line_1 * p.tile_m / p.cluster_n + line_2 * p.tile_n / p.cluster_m;
  if (mixed) efficiency *= efficiency_of(hopper_cell_of(f, p));
  const double of_products = 2.0 * p.tile_m * p.tile_n * p.tile_k / flops_per_cycle(f.head.b.type) / efficiency;
  const double widening = mixed ? widening_of(hopper_cell_of(f, p)) : 0;
  const double promoting = !mixed && promotion_of(f) > 0 ? promote_cycles * p.tile_m * p.tile_n / 128 : 0;
  const double stage = std::max({of_products + promoting, stage_bytes / bytes_of_one, widening}),
               write = p.tile_m * p.tile_n / 32768.0 * write_cycles;
  const double rounds = std::ceil(supers / clusters);
  const bool divided = p.divided == decision::yes;
  const division d = divided ? divide(static_cast<std::int64_t>(supers), static_cast<std::int64_t>(clusters),
                                      static_cast<std::int64_t>(steps), c.most_sharers)
                             : division{};
  const double way = d.aligned     ? 1
                     : cluster > 1 ? not_aligned_cluster
                                   : not_aligned,
               of_rest = d.rest == 0 ? 0 : way * number(d.rest) / number(d.sharers);
  double cycles = stage * steps * (divided ? divided_way * (number(d.whole) / clusters + of_rest) : rounds) +
                  write * (p.schedule == schedule::ping_pong ? 1 : rounds);
  cycles = std::max(cycles, supers * cluster * steps * stage_bytes / (bytes_of_all * all));
  // The sums of a tile, written and read by each.
  const double tile_bytes = 4.0 * p.tile_m * p.tile_n;
  if (d.parts > 1) cycles += 3 * tile_bytes / (0.7 * bytes_of_all) + 2000 + adding_of(p, number(d.parts));
  const bool second_is_image = g.window == convolution::weight_gradient;
  const double again_1 = second_is_image ? 1 : reuse, again_2 = second_is_image ? reuse : 1;
  const double memory_bytes = (number(e.m * e.k) / again_1 * of_rows * bytes_of_term(f.head.a) +
                               number(e.n * e.k) / again_2 * of_columns * bytes_of_term(f.head.b) +
                               number(e.m * e.n) * number(static_cast<std::int64_t>(bytes_of(f.head.d)))) *
                              number(e.batch);
  // Few blocks, or small stages, do not keep the memory busy.
  const double useful = line_1 * std::min(p.tile_m + 0.0, of_rows * number(e.m)) +
                        line_2 * std::min(p.tile_n + 0.0, of_columns * number(e.n));
  const double busy = std::min(clusters, divided && d.whole == 0 ? number(d.sharers) : supers) * cluster;
  const double memory_us = std::max(memory_bytes / (on.memory_bytes_per_ns * memory_share * 1e3),
                                    memory_bytes / (busy * (p.stages - 1) * useful) * latency_us);
  // Both at the same time, but not wholly.
  c.microseconds =
      launch_us + std::cbrt(std::pow(cycles / (on.gigahertz * clock_share * 1e3), 3) + std::pow(memory_us, 3));
  if (cluster > 1) {
    const bool across = (p.cluster_m > 1) == (p.raster == raster::along_rows);
    c.microseconds = (c.microseconds + cluster_us) * (across ? right_way : wrong_way);
  }
  c.efficiency = supers / clusters / rounds;
}

}  // namespace

hopper_cell hopper_cell_of(const convolution_form& f, const plan& p) {
  hopper_cell c = hopper_cell_of(f.product, p);
  c.window = f.window, c.rank = f.rank, c.strided_result = f.strided_result;
  c.staged = c.staged || f.strided_result;
  return c;
}

hopper_cell hopper_cell_of(const whole_form& f, const plan& p) {
  hopper_cell c;
  c.first = f.head.a.type, c.second = f.head.b.type, c.result = f.head.d;
  c.tile_m = p.tile_m, c.tile_n = p.tile_n, c.stages = p.stages, c.cluster_m = p.cluster_m, c.cluster_n = p.cluster_n;
  c.ping_pong = p.schedule == schedule::ping_pong;
  c.by_lines_1 = f.head.a.neighbours == neighbours::lines, c.by_lines_2 = f.head.b.neighbours == neighbours::lines;
  c.grouped = f.head.grouped != 0, c.divides = p.divided == decision::yes, c.crossed = is_crossed(f.head, p),
  c.slices = c.is_mixed() ? p.tile_k / 64 : 1;
  c.staged = needs_staging(f, p.tile_n);
  c.promoted = promotion_of(f);
  if (c.is_mixed()) {
    c.promoted = std::min(c.promoted, c.slices * 4);
    if (scales_numbers(f)) std::swap(c.promoted, c.scaled_numbers);
    // More warps hide that each waits for what it reads, as far as there are registers.
    c.shares_terms = !c.ping_pong && p.tile_m == 64;
    if (!c.ping_pong) c.groups = p.tile_m == 128 || ((c.promoted > 0 || c.shares_terms) && p.tile_n > 32) ? 2 : 4;
  }
  c.first_scales = f.head.a.scale_type, c.second_scales = f.head.b.scale_type;
  c.scale_for_each_column = f.head.b.scale_type != dtype{} &&
                            (f.head.paired != 0 || f.head.b.scale_lines % static_cast<unsigned>(width_of(c)) != 0);
  c.result_way = f.head.d_way;
  c.loads =
      std::any_of(f.nodes.begin(), f.nodes.end(), [](const epilogue::node& n) { return n.what == epilogue::op::load; });
  return c;
}

namespace {

// The plans of one orientation.
class hopper_plans {
 public:
  hopper_plans(convolution_form f, std::vector<extents> launches, double reuse, const chip& on, const plan& wanted,
               bool swapped, std::vector<candidate>& to)
      : f_(std::move(f)),
        launches_(std::move(launches)),
        e_(largest(launches_)),
        reuse_(reuse),
        chip_(on),
        wanted_(wanted),
        swapped_(swapped),
        to_(to) {}

  void add() {
    if (head().is_mixed()) {
      // Lines of the first factor in a stage have at most 128 bytes.
      const int most = head().a.type == dtype::f4e2m1x2 ? 4 : 2;
      for (const shape& s : mixed_shapes)
        for (int slices = most / 2; slices <= most; slices *= 2)
          if (slices == most || s.tile_n > 16 || s.tile_m == 128 || s.how == schedule::ping_pong) add(s, 64 * slices);
    } else {
      for (const shape& s : shapes) add(s, static_cast<int>(128 / bytes_of(head().a.type)));
    }
  }

 private:
  const form& head() const noexcept { return f_.product.head; }
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
      return can_be(hopper_cell_of(f_, p), head().paired != 0, chip_.shared_bytes);
    };
    if (!set_stages(wanted_, most_stages, fits)) return;
    find_sharers(c, s.efficiency);
    // With full rounds of tiles there is nothing to divide.
    if (divided && wanted_.divided != decision::yes && c.efficiency > 0.9) return;
    to_.push_back(c);
  }

  // Sets how many blocks share a tile, and what is expected then.
  void find_sharers(candidate& c, double efficiency) const {
    c.most_sharers = fewest_most_sharers;
    estimate_launches(c, efficiency);
    if (c.plan.divided != decision::yes) return;
    for (candidate more = c; more.most_sharers < chip_.multiprocessors;) {
      more.most_sharers *= 2;
      estimate_launches(more, efficiency);
      if (more.microseconds < c.microseconds) c = more;
    }
  }

  // The next launch begins while the one before ends.
  void estimate_launches(candidate& c, double efficiency) const {
    double sum = launch_us;
    for (const extents& e : launches_) {
      estimate(c, f_, e, chip_, efficiency, reuse_);
      sum += c.microseconds - launch_us;
    }
    if (launches_.size() > 1) estimate(c, f_, e_, chip_, efficiency, reuse_);  // for the efficiency of its rounds
    c.microseconds = sum;
  }

  const convolution_form f_;
  const std::vector<extents> launches_;
  const extents e_;
  const double reuse_;
  const chip& chip_;
  const plan& wanted_;
  const bool swapped_;
  std::vector<candidate>& to_;
};

}  // namespace

std::string add_hopper_plans(const whole_form& f, const extents& e, const chip& on, const plan& wanted,
                             std::vector<candidate>& to) {
  if (std::string reason = why_not(f, on); !reason.empty()) return reason;
  constexpr std::int64_t few = 64;  // rows or columns, which are rather those of an instruction than its lines
  const std::size_t before = to.size();
  if (f.head.is_mixed()) {
    // Lines of the narrow factor are rows of the kernel.
    const bool swapped = form::is_half(f.head.a);
    if (swapped)
      hopper_plans({f.crossed()}, {{e.n, e.m, e.k, e.batch}}, 1, on, wanted, true, to).add();
    else
      hopper_plans({f}, {e}, 1, on, wanted, false, to).add();
    return to.size() == before ? no_tile : "";
  }
  for (const bool swapped : {false, true}) {
    // Pairs lie in a row of the kernel, and groups are rows.
    if (swapped && (f.head.paired != 0 || f.head.grouped != 0)) continue;
    // Neighbours of a row are written together, so D's rows or columns are rows of the kernel.
    if (wanted.swapped == decision::any && !f.head.lies_along(swapped) && !(swapped ? e.m <= few : e.n <= few))
      continue;
    if (swapped)
      hopper_plans({f.swapped()}, {{e.n, e.m, e.k, e.batch}}, 1, on, wanted, true, to).add();
    else
      hopper_plans({f}, {e}, 1, on, wanted, false, to).add();
  }
  return to.size() == before ? no_tile : "";
}

std::string add_hopper_plans(const convolution_form& f, std::vector<extents> launches, double reuse, const chip& on,
                             const plan& wanted, std::vector<candidate>& to) {
  if (std::string reason = why_not(f.product, on); !reason.empty()) return reason;
  if (f.product.head.paired != 0) return "the template for Hopper gathers no images for pairs";
  if (f.product.head.is_mixed()) return "the template for Hopper gathers no images for mixed factors";
  const std::size_t before = to.size();
  hopper_plans(f, std::move(launches), reuse, on, wanted, false, to).add();
  return to.size() == before ? no_tile : "";
}

}  // namespace troupe::cutlass
