// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cutlass/variants/convolutions/convolution_candidates.hpp>
#include <troupe/cutlass/variants/convolutions/convolution_rows.hpp>
#include <troupe/cutlass/variants/convolutions/window_maps.hpp>
#include <troupe/cutlass/variants/hopper_plans.hpp>

namespace troupe::cutlass {
namespace {

constexpr double launch_us = 2.5;
// Measured time divided by the cost model's prediction, for products whose lines are contiguous in both factors.
constexpr double gradient_by_ampere = 1.8;

// Returns the extents of one product that stands for all: with the rows of all products, and their mean k.
extents extents_of(const convolution_work& w) {
  extents e{0, w.products[0].product.n, 0, w.products[0].product.batch};
  std::int64_t terms = 0;
  for (const convolution_product& x : w.products) e.m += x.product.m, terms += x.product.m * x.product.k;
  e.k = (terms + e.m - 1) / e.m;
  return e;
}

double microseconds_beside_products(const convolution_work& w, const cuda::gpu_properties& gpu) noexcept {
  double us = 0;
  for (const auto* copies : {&w.before, &w.between, &w.after})
    for (const tensor_copy& c : *copies) us += c.microseconds(gpu);
  if (w.separate_epilogue) {
    const auto sums = static_cast<double>(w.separate_epilogue->m * w.separate_epilogue->n * w.separate_epilogue->batch);
    us += 2 * launch_us +
          2 * sums * static_cast<double>(bytes_of(w.separate_epilogue->sums)) / (gpu.memory_bytes_per_ns * 0.7e3);
  }
  return us;
}

result<std::vector<candidate>> plans_of(const convolution_work& w, const cuda::gpu_properties& gpu, const plan& wanted,
                                        std::string& why_not) {
  const extents e = extents_of(w);
  if (w.signature.convolution == convolution_kind::none) {
    auto found = TROUPE_TRY(all_candidates(w.signature.product, e, gpu, wanted, why_not));
    const signature_head& f = w.signature.product.head;
    if (f.a.contiguous == contiguous_axis::lines && f.b.contiguous == contiguous_axis::lines)
      for (candidate& c : found)
        if (c.plan.family == family::ampere) c.microseconds *= gradient_by_ampere;
    return found;
  }
  std::vector<candidate> all;
  why_not = why_not_gathered(w);
  if (why_not.empty()) {
    std::vector<extents> launches;
    for (const convolution_product& x : w.products) {
      const problem q = product_as_copied(x, w.signature, {.family = family::hopper});
      launches.push_back({q.m, q.n, q.k, q.batch});
    }
    why_not = add_hopper_plans(w.signature, std::move(launches), w.reuse, gpu, wanted, all);
  }
  const bool k_is_positions = w.signature.convolution == convolution_kind::weight_gradient;
  if (const std::string other = add_convolution_plans(w.signature, e, k_is_positions ? 1 : w.reuse, gpu, wanted, all);
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

}  // namespace

result<std::vector<convolution_candidate>> convolution_candidates_for(const convolution_problem& p,
                                                                      const cuda::gpu_properties& gpu,
                                                                      const plan& wanted,
                                                                      const cutlass_library_plans& library_plans) {
  std::vector<convolution_candidate> candidates;
  std::vector<candidate> all;
  std::string why_not;
  for (const convolution_choice& c : choices_for(p)) {
    const convolution_work w = TROUPE_TRY(work_of(p, c, 0));
    const double beside = microseconds_beside_products(w, gpu);
    for (const candidate& x : TROUPE_TRY(plans_of(w, gpu, wanted, why_not))) {
      all.push_back(x);
      if (has_wanted(x.plan, wanted)) candidates.push_back({c, x, x.microseconds + beside, w.bytes});
    }
  }
  for (const candidate& x : library_plans.all) {
    all.push_back(x);
    if (has_wanted(x.plan, wanted)) candidates.push_back({{}, x, x.microseconds, 0});
  }
  if (candidates.empty()) return no_plan(all, wanted, why_not, library_plans.why_not);
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const convolution_candidate& x, const convolution_candidate& y) {
                     return is_better(x.plan, y.plan, x.microseconds, y.microseconds);
                   });
  return candidates;
}

std::string to_string(const convolution_candidate& w) {
  std::string copies;
  const auto add = [&](bool is, std::string_view what) {
    if (is) copies += cat(copies.empty() ? ", copies " : " and ", what);
  };
  add(w.choice.image, "the image"), add(w.choice.other, "the other factor"), add(w.choice.result, "the result");
  add(w.choice.rows, "rows of windows as channels");
  return to_string(w.plan) + copies;
}

}  // namespace troupe::cutlass
