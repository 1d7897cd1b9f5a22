// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <troupe/fft/placement.hpp>
#include <utility>

namespace troupe::fft {
namespace {

// Returns true if the steps nest: each is larger than the range of positions that all smaller steps together reach.
bool steps_nest(const placement& p) {
  std::array<std::pair<extent, extent>, shape::most + 1> steps{{{p.distance, p.batch}, {0, 1}, {0, 1}, {0, 1}}};
  for (std::size_t i = 0; i < p.n.rank(); ++i) steps[i + 1] = {p.stride[i], p.n[i]};
  std::sort(steps.begin(), steps.end());
  extent reach = 1;
  for (const auto& [step, count] : steps) {
    if (count <= 1) continue;
    if (step < reach) return false;
    reach = reach + (count - 1) * step;
  }
  return true;
}

}  // namespace

placement placement_of(const layout& l, const shape& n, extent batch) {
  const shape& embed = l.embed == shape::tight() ? n : l.embed;
  placement out{.n = n, .batch = batch, .distance = l.distance, .reach = 1, .dense = false, .separated = false};
  extent step = l.stride;
  for (std::size_t i = n.rank(); i-- > 0;) {
    out.stride[i] = step;
    out.reach = out.reach + (n[i] - 1) * step;
    step = step * embed[i];
  }
  if (out.distance == tight) out.distance = step;
  out.reach = out.reach + (batch - 1) * out.distance;
  const bool in_order = l.embed == shape::tight() && l.stride == 1 && (batch <= 1 || out.distance == step);
  out.separated = (in_order && !out.reach.overflowed()) || steps_nest(out);
  out.dense = out.separated && out.reach == n.count() * batch;
  return out;
}

bool in_place(const placement& a, const placement& b, int ratio) {
  const std::size_t last = a.n.rank() - 1;
  if (a.batch > 1 && a.distance != b.distance * ratio) return false;
  for (std::size_t i = 0; i < last; ++i)
    if (a.n[i] > 1 && a.stride[i] != b.stride[i] * ratio) return false;
  if (ratio == 1) return a.stride[last] == b.stride[last];
  return a.stride[last] == 1 && b.stride[last] == 1;
}

}  // namespace troupe::fft
