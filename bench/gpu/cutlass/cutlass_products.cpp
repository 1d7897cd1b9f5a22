// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Products of cutlass, compared with cuBLASLt called directly, on the same random data: D = A * B^T, all stored row by
// row. Copies of the operands are used in turn, so that none is in the level-2 cache.
#include <bench/gpu/cutlass/cutlass_pair.hpp>
#include <bench/gpu/model_layers.hpp>
#include <bench/measures.hpp>
#include <bench/ratio_list.hpp>
#include <cstdio>
#include <iterator>

namespace troupe::bench {
namespace {

// Each size of a measure with several must reach this ratio.
constexpr double least_of_each = 0.97;

std::string ratio_text(const pair_of_medians& rates) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", rates.ours / rates.raw);
  return text;
}

// Compares a product with its fastest plan, and before that with the first in the cost model's order.
void add_square(ratio_list& fastest, ratio_list& first, const settings& s, const device& gpu, raw_matmul_problem p) {
  const product_pair both(s, gpu, in_copies(p));
  const compared_products expected = compare(s, both, 0, 7), best = compare(s, both, measured_plans(s), 7);
  const std::string name = cat(p.m);
  first.add(name, expected.rates, "", expected.wrong);
  fastest.add(name, best.rates,
              cat("; ", to_string(best.info.plan), "\n    by the cost model alone ", ratio_text(expected.rates), "; ",
                  to_string(expected.info.plan)),
              best.wrong);
}

figures run_squares(const settings& s, raw_matmul_type type, bool fast, std::span<const int> sizes) {
  const device_under_test gpu(s, for_cutlass());
  constexpr int small[] = {48};  // on the host engine, which tests use
  ratio_list fastest, first;
  for (const int n : s.engine == "host" ? std::span<const int>(small) : sizes)
    add_square(fastest, first, s, *gpu, {.type = type, .m = n, .n = n, .k = n, .fast = fast});
  figures f = fastest.mean(sizes.size() > 1 ? least_of_each : 0);
  const figures alone = first.mean();
  f.note += cat("; by the cost model alone ", ratio_text({alone.ours, alone.raw}), ", ", alone.note, fastest.lines());
  if (f.objection.empty()) f.objection = alone.objection;
  return f;
}

template <raw_matmul_type Type>
figures run_sizes(const settings& s) {
  constexpr int sizes[] = {2048, 4096, 8192, 16384};
  return run_squares(s, Type, false, sizes);
}
template <raw_matmul_type Type, bool Fast = false>
figures run_8192(const settings& s) {
  constexpr int size[] = {8192};
  return run_squares(s, Type, Fast, size);
}

template <bool Measured>
figures run_models(const settings& s) {
  const device_under_test gpu(s, for_cutlass());
  const std::span<const product_extents> layers = layers_for(s);
  ratio_list all;
  int count = 0, changed = 0;
  for (std::size_t i = 0; i < layers.size(); i += s.quick && layers.size() > 3 ? 3 : 1) {
    const product_extents& e = layers[i];
    const product_pair both(s, *gpu, in_copies({.type = raw_matmul_type::bf16, .m = e.m, .n = e.n, .k = e.k}));
    const compared_products found = compare(s, both, Measured ? measured_plans(s) : 0, 5);
    ++count, changed += found.info.microseconds < found.info.first_microseconds;
    all.add(cat(e.m, " x ", e.n, " x ", e.k), found.rates, "; " + to_string(found.info.plan), found.wrong);
  }
  figures f = all.mean();
  if (Measured) f.note += cat("; another plan than the cost model's first for ", changed, " of ", count);
  f.note += all.lines();
  return f;
}

}  // namespace

figures run_cutlass_bf16(const settings& s) { return run_sizes<raw_matmul_type::bf16>(s); }
figures run_cutlass_f16(const settings& s) { return run_sizes<raw_matmul_type::f16>(s); }
figures run_cutlass_fp8_fast(const settings& s) { return run_8192<raw_matmul_type::fp8, true>(s); }
figures run_cutlass_fp8_promoted(const settings& s) { return run_8192<raw_matmul_type::fp8>(s); }
figures run_cutlass_s8(const settings& s) { return run_8192<raw_matmul_type::s8>(s); }
figures run_cutlass_tf32(const settings& s) { return run_8192<raw_matmul_type::tf32>(s); }
figures run_cutlass_models(const settings& s) { return run_models<true>(s); }
figures run_cutlass_models_model(const settings& s) { return run_models<false>(s); }

}  // namespace troupe::bench
