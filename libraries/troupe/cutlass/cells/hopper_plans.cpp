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
constexpr double launch_us = 2.4;       // of a kernel with one tile that has one stage
constexpr double cluster_us = 1.5;      // more, with clusters
constexpr double right_way = 1.026;     // clusters across the way that tiles are walked cost so much,
constexpr double wrong_way = 1.13;      // and along it
constexpr double clock_share = 0.787;   // of the highest clock, under load
constexpr double bytes_of_one = 76.8;   // that a multiprocessor gets from the second cache in a cycle
constexpr double bytes_of_all = 41.1;   // the same, if all do
constexpr double memory_share = 0.835;  // of the memory's bandwidth
constexpr double latency_us = 1.2;      // from asking for memory until it is there
constexpr double write_cycles = 1687;   // of a tile of 128 x 256
constexpr double add_cycles = 900;      // until as many sums of another part are there as are asked for at once
constexpr int fewest_most_sharers = 8;  // more are considered where that is not enough

struct shape {
  int tile_m, tile_n;
  schedule how;
  double efficiency;  // of the tensor cores, within a tile
};
constexpr shape shapes[] = {
    {128, 256, schedule::cooperative, 0.91}, {128, 240, schedule::cooperative, 0.905},
    {128, 224, schedule::cooperative, 0.90}, {128, 192, schedule::cooperative, 0.91},
    {128, 160, schedule::cooperative, 0.88}, {128, 128, schedule::cooperative, 0.94},
    {128, 96, schedule::cooperative, 0.75},  {128, 64, schedule::cooperative, 0.67},
    {128, 32, schedule::cooperative, 0.5},   {128, 16, schedule::cooperative, 0.4},
    {128, 128, schedule::ping_pong, 0.93},   {64, 256, schedule::ping_pong, 0.75},
    {64, 224, schedule::ping_pong, 0.72},    {64, 192, schedule::ping_pong, 0.69},
    {64, 160, schedule::ping_pong, 0.72},    {64, 128, schedule::ping_pong, 0.8},
    {64, 96, schedule::ping_pong, 0.75},     {64, 64, schedule::ping_pong, 0.74},
    {64, 32, schedule::ping_pong, 0.6},      {64, 16, schedule::ping_pong, 0.5},
};
constexpr int most_stages = 16;
constexpr const char* no_tile = "no tile of the template for Hopper fits the shared memory";

using matmul::is_float8;

std::string why_not(const whole_form& f, const chip& on) {
  const factor_form &a = f.head.a, &b = f.head.b;
  if (on.capability != 90)
    return cat("the template for Hopper needs a GPU of capability 9.0, not ", on.capability / 10, ".",
               on.capability % 10);
  const bool halves = a.type == b.type && (a.type == dtype::f16 || a.type == dtype::bf16);
  const bool tf32 =
      a.type == dtype::f32 && b.type == dtype::f32 && f.head.precision == static_cast<std::uint8_t>(precision::tf32);
  const bool eights = (is_float8(a.type) && is_float8(b.type)) || (a.type == dtype::i8 && b.type == dtype::i8);
  if (!halves && !tf32 && !eights)
    return cat("the template for Hopper does not multiply ", to_string(a.type), " and ", to_string(b.type));
  for (const factor_form* x : {&a, &b}) {
    if (x->alignment < 16) return "the template for Hopper needs lines that begin at multiples of 16 bytes";
    if (x->neighbours != neighbours::terms && !halves)
      return "the template for Hopper needs terms that are neighbours, for elements other than f16 and bf16";
    if (x->scale_type != dtype{} && (f.head.paired || !is_float8(x->type) || x->scale_terms % 128 != 0))
      return "the template for Hopper takes scales of blocks of a multiple of 128 terms, of 8-bit floats, and no pairs";
  }
  return {};
}

bool needs_staging(const whole_form& f) noexcept {
  if (bytes_of(f.head.d) != 2 || f.head.d_way < 16) return true;
  return std::any_of(f.nodes.begin(), f.nodes.end(), [](const epilogue::node& n) {
    return n.what == epilogue::op::load || n.what == epilogue::op::store || n.what == epilogue::op::reduce;
  });
}

int promotion_of(const whole_form& f) noexcept {
  const bool scaled = f.head.a.scale_type != dtype{} || f.head.b.scale_type != dtype{};
  return scaled || f.head.adds_precisely() ? 4 : 0;
}

double flops_per_cycle(dtype t) noexcept { return t == dtype::f32 ? 2048 : bytes_of(t) == 2 ? 4096 : 8192; }

// With more than two parts, some add the sums of several others: see results::collect, and left_sums::add for how many
// registers it has.
double more_adding(const plan& p, double parts) {
  const double chunks = p.tile_m * p.tile_n * (p.schedule == schedule::ping_pong ? 2.0 : 1.0) / (256 * 4),
               at_once = chunks >= 32  ? 2
                         : chunks > 16 ? 12
                                       : 16;
  const double adds = parts <= 6 ? parts - 1 : 2 * (std::sqrt(parts) - 1);
  return std::max(0.0, adds - 1) * add_cycles * (chunks > at_once ? std::ceil(chunks / at_once) : chunks / at_once) +
         (parts > 6 ? 2000 : 0);
}

// The cost model: tiles in rounds, unless the second cache or the memory is slower. Each number of an image is used
// `reuse` times.
void estimate(candidate& c, const convolution_form& g, const extents& e, const chip& on, double efficiency,
              double reuse) {
  const whole_form& f = g.product;
  const plan& p = c.plan;
  const auto number = [](std::int64_t n) { return static_cast<double>(n); };
  const auto up = [](double x, double y) { return std::ceil(x / y); };
  const double pair = f.head.paired != 0 ? 2 : 1, cluster = p.cluster_m * p.cluster_n, all = on.multiprocessors;
  const double clusters = std::floor(all / cluster), steps = std::max(1.0, up(number(e.k), p.tile_k));
  const double supers =
      up(up(number(e.m), p.tile_m), p.cluster_m) * up(up(number(e.n), p.tile_n / pair), p.cluster_n) * number(e.batch);
  const double stage_bytes =
      128.0 * (static_cast<double>(p.tile_m) / p.cluster_n + static_cast<double>(p.tile_n) / p.cluster_m);
  const double of_products = 2.0 * p.tile_m * p.tile_n * p.tile_k / flops_per_cycle(f.head.a.type) / efficiency;
  const double stage = std::max(of_products, stage_bytes / bytes_of_one),
               write = p.tile_m * p.tile_n / 32768.0 * write_cycles;
  const double rounds = std::ceil(supers / clusters);
  const bool divided = p.divided == decision::yes;
  double cycles = stage * steps * (divided ? std::max({supers / clusters, 4 / steps, 1.0 / c.most_sharers}) : rounds) +
                  write * (p.schedule == schedule::ping_pong ? 1 : rounds);
  cycles = std::max(cycles, supers * cluster * steps * stage_bytes / (bytes_of_all * all));
  // The sums of a tile, written and read by each.
  const double tile_bytes = 4.0 * p.tile_m * p.tile_n;
  if (divided) cycles += 2 * tile_bytes / (0.7 * bytes_of_all) + 2000;
  if (divided) cycles += more_adding(p, std::min<double>(c.most_sharers, clusters / std::min(supers, clusters)));
  const bool second_is_image = g.window == convolution::weight_gradient;
  const double again_1 = second_is_image ? 1 : reuse, again_2 = second_is_image ? reuse : 1;
  const double memory_bytes =
      (number(e.m * e.k) / again_1 * number(static_cast<std::int64_t>(bytes_of(f.head.a.type))) +
       number(e.n * e.k) / again_2 * pair * number(static_cast<std::int64_t>(bytes_of(f.head.b.type))) +
       number(e.m * e.n) * number(static_cast<std::int64_t>(bytes_of(f.head.d)))) *
      number(e.batch);
  // Few blocks, or small stages, do not keep the memory busy.
  const double useful = 128.0 * (std::min(p.tile_m + 0.0, number(e.m)) + std::min(p.tile_n + 0.0, pair * number(e.n)));
  const double busy =
      std::min(all, supers * cluster * (divided ? std::max(1.0, std::min<double>(steps / 4, c.most_sharers)) : 1));
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
  c.grouped = f.head.grouped != 0, c.divides = p.divided == decision::yes,
  c.staged = needs_staging(f) || p.tile_n % (f.head.paired ? 128 : 64) != 0 || f.head.grouped != 0;
  c.promoted = promotion_of(f);
  c.first_scales = f.head.a.scale_type, c.second_scales = f.head.b.scale_type;
  c.scale_for_each_column =
      f.head.b.scale_type != dtype{} && f.head.b.scale_lines % static_cast<unsigned>(width_of(c)) != 0;
  c.result_way = f.head.d_way;
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
    for (const shape& s : shapes)
      for (const auto& [m, n] : {std::pair{1, 1}, std::pair{2, 1}, std::pair{1, 2}})
        for (const bool divided : {false, true})
          if (!divided || (head().batched == 0 && head().grouped == 0 && m * n == 1)) add(s, m, n, divided);
  }

 private:
  const form& head() const noexcept { return f_.product.head; }
  static const extents& largest(const std::vector<extents>& launches) {
    return *std::max_element(launches.begin(), launches.end(),
                             [](const extents& x, const extents& y) { return x.m * x.k < y.m * y.k; });
  }
  void add(const shape& s, int cluster_m, int cluster_n, bool divided) {
    candidate c{.plan = plan_of_tiles(s.tile_m, s.tile_n, swapped_, divided, e_, wanted_)};
    plan& p = c.plan;
    p.family = family::hopper, p.schedule = s.how;
    p.cluster_m = static_cast<std::uint8_t>(cluster_m), p.cluster_n = static_cast<std::uint8_t>(cluster_n);
    p.tile_k = static_cast<std::uint16_t>(128 / bytes_of(head().a.type));
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
  const std::size_t before = to.size();
  hopper_plans(f, std::move(launches), reuse, on, wanted, false, to).add();
  return to.size() == before ? no_tile : "";
}

}  // namespace troupe::cutlass
