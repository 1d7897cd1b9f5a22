// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/cutlass/templates/arguments.hpp>
#include <troupe/cutlass/variants/ampere_plans.hpp>
#include <troupe/cutlass/variants/epilogue_source.hpp>
#include <troupe/cutlass/variants/hopper_plans.hpp>
#include <troupe/cutlass/variants/variant_source.hpp>

namespace troupe::cutlass {
namespace {

std::size_t number_bytes(const kernel_signature& f) noexcept {
  return f.head.sums == dtype::f32 ? sizeof(float) : sizeof(double);
}

variant_source ampere_source(const kernel_signature& f, const plan& p) {
  const ampere_variant a = ampere_variant_of(f, p);
  variant_source t{.source = text_of(a, epilogue_source_of(f, p.swapped == decision::yes))};
  t.threads = static_cast<unsigned>(threads_of(a));
  return t;
}

}  // namespace

std::string epilogue_source_of(const kernel_signature& f, bool transposed) {
  return epilogue_source(f.nodes, f.memory, f.numbers.size(), f.head.sums == dtype::f32 ? dtype::f32 : dtype::f64,
                         transposed);
}

std::size_t argument_bytes_of(const kernel_signature& f) noexcept {
  const std::size_t memory = std::max<std::size_t>(1, f.head.memories),
                    numbers = std::max<std::size_t>(1, f.head.numbers);
  const std::size_t all =
      sizeof(kernels::fixed_arguments) + memory * sizeof(kernels::matrix) + numbers * number_bytes(f);
  return (all + alignof(kernels::fixed_arguments) - 1) / alignof(kernels::fixed_arguments) *
         alignof(kernels::fixed_arguments);
}

std::size_t convolution_bytes() noexcept {
  constexpr std::size_t unit = alignof(kernels::fixed_arguments);
  return (sizeof(kernels::convolution_arguments) + unit - 1) / unit * unit;
}

variant_source source_of_variant(const hopper_variant& c, const std::string& epilogue_text) {
  variant_source t{.source = text_of(c, epilogue_text)};
  t.threads = static_cast<unsigned>(threads_of(c)), t.cluster = static_cast<unsigned>(c.cluster_m * c.cluster_n),
  t.overlaps = true;
  return t;
}

variant_source source_of_variant(const kernel_signature& f, const plan& p) {
  const kernel_signature signature = signature_of_kernel(f, p);
  variant_source out;
  if (p.family == family::ampere) {
    out = ampere_source(signature, p);
  } else {
    const hopper_variant h = hopper_variant_of(signature, p);
    out = source_of_variant(h, epilogue_source_of(signature, p.swapped == decision::yes && !h.crossed));
  }
  out.name = "cutlass." + to_string(p);
  out.argument_bytes = argument_bytes_of(signature), out.fixed_bytes = sizeof(kernels::fixed_arguments);
  return out;
}

}  // namespace troupe::cutlass
