// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/cutlass/cells/ampere_plans.hpp>
#include <troupe/cutlass/cells/cell_text.hpp>
#include <troupe/cutlass/cells/functor.hpp>
#include <troupe/cutlass/cells/hopper_plans.hpp>
#include <troupe/cutlass/templates/arguments.hpp>

namespace troupe::cutlass {
namespace {

std::size_t number_bytes(const whole_form& f) noexcept {
  return f.head.sums == dtype::f32 ? sizeof(float) : sizeof(double);
}

cell_text ampere_text(const whole_form& f, const plan& p) {
  const ampere_cell a = ampere_cell_of(f, p);
  cell_text t{.source = text_of(a, tail_of(f, p.swapped == decision::yes))};
  t.threads = static_cast<unsigned>(threads_of(a));
  return t;
}

}  // namespace

std::string tail_of(const whole_form& f, bool transposed) {
  return functor_text(f.nodes, f.memory, f.numbers.size(), f.head.sums == dtype::f32 ? dtype::f32 : dtype::f64,
                      transposed);
}

std::size_t argument_bytes_of(const whole_form& f) noexcept {
  const std::size_t memory = std::max<std::size_t>(1, f.head.memories),
                    numbers = std::max<std::size_t>(1, f.head.numbers);
  const std::size_t all = sizeof(kernels::fixed_part) + memory * sizeof(kernels::place) + numbers * number_bytes(f);
  return (all + alignof(kernels::fixed_part) - 1) / alignof(kernels::fixed_part) * alignof(kernels::fixed_part);
}

std::size_t window_bytes() noexcept {
  constexpr std::size_t unit = alignof(kernels::fixed_part);
  return (sizeof(kernels::window) + unit - 1) / unit * unit;
}

cell_text text_of_cell(const hopper_cell& c, const std::string& tail) {
  cell_text t{.source = text_of(c, tail)};
  t.threads = static_cast<unsigned>(threads_of(c)), t.cluster = static_cast<unsigned>(c.cluster_m * c.cluster_n),
  t.overlaps = true;
  return t;
}

cell_text text_of_cell(const whole_form& f, const plan& p) {
  const whole_form seen = form_of_kernel(f, p);
  cell_text out;
  if (p.family == family::ampere) {
    out = ampere_text(seen, p);
  } else {
    const hopper_cell h = hopper_cell_of(seen, p);
    out = text_of_cell(h, tail_of(seen, p.swapped == decision::yes && !h.crossed));
  }
  out.name = "cutlass." + to_string(p);
  out.argument_bytes = argument_bytes_of(seen), out.fixed_bytes = sizeof(kernels::fixed_part);
  return out;
}

}  // namespace troupe::cutlass
