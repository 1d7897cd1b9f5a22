// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cutlass/cells/convolution_choices.hpp>
#include <troupe/cutlass/cells/convolution_rows.hpp>
#include <troupe/cutlass/cells/hopper_plans.hpp>
#include <troupe/cutlass/cells/window_maps.hpp>

namespace troupe::cutlass {
namespace {

constexpr double launch_us = 2.5;
constexpr double gradient_by_ampere = 1.8;  // longer than expected, where terms are positions in both factors

// All products as one.
extents extents_of(const convolution_work& w) {
  extents e{0, w.products[0].product.n, 0, w.products[0].product.batch};
  std::int64_t terms = 0;
  for (const convolution_product& x : w.products) e.m += x.product.m, terms += x.product.m * x.product.k;
  e.k = (terms + e.m - 1) / e.m;
  return e;
}

double time_beside_products(const convolution_work& w, const chip& on) noexcept {
  double us = 0;
  for (const auto* copies : {&w.before, &w.between, &w.after})
    for (const tensor_copy& c : *copies) us += c.microseconds(on);
  if (w.pass) {
    const auto sums = static_cast<double>(w.pass->m * w.pass->n * w.pass->batch);
    us += 2 * launch_us + 2 * sums * static_cast<double>(bytes_of(w.pass->sums)) / (on.memory_bytes_per_ns * 0.7e3);
  }
  return us;
}

result<std::vector<candidate>> plans_of(const convolution_work& w, const chip& on, const plan& wanted,
                                        std::string& why_not) {
  const extents e = extents_of(w);
  if (w.form.window == convolution::none) {
    auto found = TROUPE_TRY(all_candidates(w.form.product, e, on, wanted, why_not));
    const form& f = w.form.product.head;
    if (f.a.neighbours == neighbours::lines && f.b.neighbours == neighbours::lines)
      for (candidate& c : found)
        if (c.plan.family == family::ampere) c.microseconds *= gradient_by_ampere;
    return found;
  }
  std::vector<candidate> all;
  why_not = why_not_gathered(w);
  if (why_not.empty()) {
    std::vector<extents> launches;
    for (const convolution_product& x : w.products) {
      const problem q = product_as_copied(x, w.form, {.family = family::hopper});
      launches.push_back({q.m, q.n, q.k, q.batch});
    }
    why_not = add_hopper_plans(w.form, std::move(launches), w.reuse, on, wanted, all);
  }
  const bool terms_are_positions = w.form.window == convolution::weight_gradient;
  if (const std::string other = add_convolution_plans(w.form, e, terms_are_positions ? 1 : w.reuse, on, wanted, all);
      !other.empty())
    why_not += (why_not.empty() ? "" : "; ") + other;
  for (candidate& c : all)
    if (c.plan.family == family::ampere) c.microseconds += launch_us * static_cast<double>(w.products.size() - 1);
  return all;
}

std::vector<convolution_choice> choices_for(const convolution_problem& p) {
  const convolution_choice least = needed_copies(p), most = useful_copies(p);
  std::vector<convolution_choice> out;
  for (const bool image : {false, true})
    for (const bool other : {false, true})
      for (const bool result : {false, true}) {
        if (image > most.image || other > most.other || result > most.result) continue;
        if (image < least.image || other < least.other || result < least.result) continue;
        out.push_back({image, other, result});
      }
  if (has_rows_as_channels(p)) out.push_back({.rows = true});
  return out;
}

template <class T>
void append(std::string& to, const T& x) {
  to.append(reinterpret_cast<const char*>(&x), sizeof x);
}
void append(std::string& to, const placed_tensor& t) {
  append(to, t.address % 16), append(to, t.type), append(to, t.item), append(to, t.channel), append(to, t.spatial);
}

}  // namespace

result<std::vector<convolution_way>> ways_for(const convolution_problem& p, const chip& on, const plan& wanted,
                                              const other_plans& others) {
  std::vector<convolution_way> ways;
  std::vector<candidate> all;
  std::string why_not;
  for (const convolution_choice& c : choices_for(p)) {
    const convolution_work w = TROUPE_TRY(work_of(p, c, 0));
    const double beside = time_beside_products(w, on);
    for (const candidate& x : TROUPE_TRY(plans_of(w, on, wanted, why_not))) {
      all.push_back(x);
      if (has_wanted(x.plan, wanted)) ways.push_back({c, x, x.microseconds + beside, w.bytes});
    }
  }
  for (const candidate& x : others.all) {
    all.push_back(x);
    if (has_wanted(x.plan, wanted)) ways.push_back({{}, x, x.microseconds, 0});
  }
  if (ways.empty()) return no_plan(all, wanted, why_not, others.why_not);
  std::stable_sort(ways.begin(), ways.end(), [](const convolution_way& x, const convolution_way& y) {
    return is_better(x.plan, y.plan, x.microseconds, y.microseconds);
  });
  return ways;
}

std::string to_string(const convolution_way& w) {
  std::string copies;
  const auto add = [&](bool is, std::string_view what) {
    if (is) copies += cat(copies.empty() ? ", copies " : " and ", what);
  };
  add(w.choice.image, "the image"), add(w.choice.other, "the other factor"), add(w.choice.result, "the result");
  add(w.choice.rows, "rows of windows as channels");
  return to_string(w.plan) + copies;
}

void write_key(std::string& to, const convolution_problem& p) {
  append(to, p.result);
  append(to, p.x), append(to, p.filters), append(to, p.y);
  append(to, p.window);
  append(to, p.images), append(to, p.groups), append(to, p.channels), append(to, p.outputs);
  append(to, p.precision), append(to, p.accumulation);
  const auto nodes = p.tree.nodes();
  to.append(reinterpret_cast<const char*>(nodes.data()), nodes.size_bytes());
  for (const epilogue::tree_memory& m : p.tree.memory()) {
    append(to, m.address % 16), append(to, m.type), append(to, m.shape.row_stride), append(to, m.shape.column_stride);
    append(to, m.batch_stride);
  }
}

}  // namespace troupe::cutlass
