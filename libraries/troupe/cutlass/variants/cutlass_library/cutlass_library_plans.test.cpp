// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Checks which kernels of the CUTLASS library have plans for a problem, and their arguments, with a table of two
// kernels.
#include <gtest/gtest.h>

#include <troupe/base/text/cat.hpp>
#include <troupe/cutlass/variants/cutlass_library/cutlass_library_arguments.hpp>
#include <troupe/cutlass/variants/problem_kinds.hpp>
#include <troupe/cutlass/variants/testing/h100.hpp>
#include <troupe/epilogue/epilogue.hpp>
#include <troupe/epilogue/rebound_tree.hpp>

namespace troupe::cutlass {
namespace {

using epilogue::acc, epilogue::expression, epilogue::op;
using testing::h100;

vendor::kernel_variant product_variant(const char* name, const char* type) {
  vendor::kernel_variant c{};
  c.name = name, c.kind = vendor::product;
  c.a = c.b = c.c = c.d = type, c.a_layout = c.d_layout = "row", c.b_layout = "column";
  c.a_alignment = c.b_alignment = c.d_alignment = 8;
  c.tile_m = 128, c.tile_n = 256, c.tile_k = 64, c.stages = 4, c.cluster_m = 2, c.cluster_n = 1;
  c.schedule = "cooperative", c.epilogue = "alpha * acc + beta * c", c.machine_code = "sm_90a", c.capability = 90;
  c.can_compute = [](const vendor::launch*) -> int { return vendor::accepted; };
  return c;
}

// Calls `f` with the variants of a plug-in whose kernels are `all`.
template <class F>
auto with(const std::vector<const vendor::kernel_variant*>& all, F&& f) {
  const vendor::table t{.version = vendor::interface_version,
                        .variant_bytes = sizeof(vendor::kernel_variant),
                        .launch_bytes = sizeof(vendor::launch),
                        .count = static_cast<int>(all.size()),
                        .variants = all.data(),
                        .cutlass_version = "",
                        .compiler = "",
                        .headers = "",
                        .kernels_header = ""};
  return f(vendor::kernel_variants::make(&t).value());
}

class cutlass_library_candidates : public ::testing::Test {
 protected:
  cutlass_library_candidates() {
    p.m = 96, p.n = 64, p.k = 128;
    p.a = {1 << 20, dtype::bf16, 128, 1, 0}, p.b = {1 << 21, dtype::bf16, 128, 1, 0},
    p.d = {1 << 22, dtype::bf16, 64, 1, 0};
    p.sums = dtype::f32;
    set(acc);
  }
  void set(const expression& e) {
    encoded.resize(e.encoded_bytes());
    e.encode(encoded.data());
    p.tree = epilogue::tree(encoded.data(), encoded.size());
  }
  static expression matrix(op what, dtype t, std::int64_t rows, std::int64_t columns, std::uint64_t at = 1 << 23) {
    return expression::reading(
        what,
        {.range = {{}, at, 1 << 20}, .shape = {rows, columns, columns, 1}, .type = t, .batch = 1, .batch_stride = 0});
  }
  std::optional<cutlass_library_epilogue> recognized() const { return cutlass_library_epilogue_of(signature_of(p)); }
  cutlass_library_plans plans(const plan& wanted = {}) const {
    return with({&one, &other}, [&](const vendor::kernel_variants& all) {
      return cutlass_library_plans_of(p, signature_of(p), h100, wanted, all);
    });
  }
  std::string key() const {
    std::string out;
    write_key(out, p);
    return out;
  }

  vendor::kernel_variant one = product_variant("one", "bf16"), other = product_variant("other", "f16");
  problem p;
  std::vector<std::byte> encoded;
};

TEST_F(cutlass_library_candidates, a_kernel_of_matching_types_gives_a_plan) {
  const cutlass_library_plans found = plans();
  ASSERT_EQ(found.all.size(), 1u);
  EXPECT_EQ(found.all[0].variant, &one);
  EXPECT_EQ(to_string(found.all[0]), "vendor 128x256x64, 4 stages, cluster 2x1, cooperative, any, band 1, one");
  EXPECT_GT(found.all[0].microseconds, 0);
  EXPECT_EQ(plans({.band = 4}).all[0].plan.band, 4);
}

TEST_F(cutlass_library_candidates, alpha_and_beta_are_read_with_their_signs) {
  const expression c = matrix(op::load, dtype::bf16, 96, 64);
  set(c - 0.5 * acc);
  ASSERT_TRUE(recognized());
  const vendor::launch l = launch_of(one, p, signature_of(p), *recognized());
  EXPECT_EQ(l.alpha, -0.5f);
  EXPECT_EQ(l.beta, 1.0f);
  EXPECT_EQ(l.c, reinterpret_cast<const void*>(1 << 23));
  EXPECT_EQ(l.c_line, 64);
  set(2 * acc - 3 * c);
  ASSERT_TRUE(recognized());
  EXPECT_EQ(launch_of(one, p, signature_of(p), *recognized()).beta, -3.0f);
  EXPECT_EQ(plans().all.size(), 1u) << plans().why_not;
}

TEST_F(cutlass_library_candidates, unsupported_epilogues_have_no_plans) {
  const expression c = matrix(op::load, dtype::bf16, 96, 64);
  for (const expression& e : {relu(acc), acc * acc, acc + c * c, acc + c + c, 2 * (acc + c), acc / 3, acc + 1,
                              c - matrix(op::load_row, dtype::bf16, 1, 64) + acc, epilogue::left * epilogue::right}) {
    set(e);
    EXPECT_FALSE(recognized() && !recognized()->gelu && recognized()->bias < 0);
    EXPECT_TRUE(plans().all.empty());
  }
}

TEST_F(cutlass_library_candidates, bias_and_gelu_need_the_kernel_that_has_them) {
  set(gelu_tanh(2 * acc + matrix(op::load_row, dtype::bf16, 1, 64)));
  EXPECT_TRUE(plans().all.empty());
  EXPECT_NE(plans().why_not.find("no other epilogue"), std::string::npos) << plans().why_not;
  one.bias = 1, one.epilogue = "gelu(alpha * acc + beta * c + bias)";
  EXPECT_EQ(plans().all.size(), 1u) << plans().why_not;
  set(gelu(2 * acc + matrix(op::load_row, dtype::bf16, 1, 64)));
  EXPECT_TRUE(plans().all.empty()) << "gelu is not gelu_tanh";
  set(gelu_tanh(2 * acc + matrix(op::load_row, dtype::bf16, 1, 64, (1 << 23) + 2)));
  EXPECT_NE(plans().why_not.find("the bias at a multiple of 16 bytes"), std::string::npos) << plans().why_not;
}

TEST_F(cutlass_library_candidates, factors_are_swapped_if_columns_are_contiguous) {
  std::swap(p.d.row, p.d.column);
  p.d.column = 96;
  const auto found = plans();
  ASSERT_EQ(found.all.size(), 1u) << found.why_not;
  EXPECT_EQ(found.all[0].plan.swapped, decision::yes);
  const problem q = p.swapped();
  const vendor::launch l = launch_of(one, q, signature_of(p), *recognized());
  EXPECT_EQ(l.m, 64);
  EXPECT_EQ(l.n, 96);
  EXPECT_EQ(l.a, reinterpret_cast<const void*>(1 << 21));
  EXPECT_EQ(l.d_line, 96);
}

TEST_F(cutlass_library_candidates, the_reason_says_what_the_nearest_kernel_lacks) {
  p.n = 60;
  EXPECT_NE(plans().why_not.find("one: the length of the lines of d is 60"), std::string::npos) << plans().why_not;
  p.n = 64, p.a.line = 130;
  EXPECT_NE(plans().why_not.find("one: a_line is 130; expected a multiple of 8 elements"), std::string::npos);
  p.a.line = 128, p.a.term = 2;
  EXPECT_NE(plans().why_not.find("one takes a stored by rows and b by columns"), std::string::npos) << plans().why_not;
  p.a.term = 1, p.d.type = dtype::f32;
  EXPECT_NE(plans().why_not.find("multiplies bf16 by bf16 and stores bf16"), std::string::npos) << plans().why_not;
  p.d.type = dtype::bf16, one.machine_code = other.machine_code = "sm_120a";
  EXPECT_EQ(plans().why_not, "one has machine code for sm_120a, and not for 9.0");
  EXPECT_TRUE(plans().all.empty());
}

TEST_F(cutlass_library_candidates, a_batch_of_interleaved_products_has_no_plans) {
  p.batch = 3, p.a.batch = 96 * 128, p.b.batch = 0, p.d.batch = 96 * 64;
  const std::string apart = key();
  EXPECT_EQ(plans().all.size(), 1u) << plans().why_not;
  p.d.batch = 64, p.d.row = 3 * 64;  // rows of all products are interleaved
  EXPECT_NE(key(), apart) << "both have the same signature, so the key of a plan must differ";
  EXPECT_TRUE(plans().all.empty());
  EXPECT_NE(plans().why_not.find("d_batch is 64"), std::string::npos) << plans().why_not;
}

TEST_F(cutlass_library_candidates, f8_factors_need_fast_accumulation) {
  one.a = one.b = "e4m3", one.a_alignment = one.b_alignment = 16;
  p.a.type = p.b.type = dtype::f8e4m3;
  EXPECT_NE(plans().why_not.find("allow accumulation::fast"), std::string::npos) << plans().why_not;
  p.options.accumulation = matmul::accumulation::fast;
  EXPECT_EQ(plans().all.size(), 1u) << plans().why_not;
}

TEST_F(cutlass_library_candidates, tiles_are_divided_if_multiprocessors_would_be_idle_or_on_request) {
  one.schedule = "cooperative, stream-K";
  EXPECT_EQ(plans().all.size(), 1u) << "one tile";
  EXPECT_EQ(plans().all[0].plan.divided, decision::yes);
  p.m = 132 * 128, p.n = p.d.row = 256;
  EXPECT_TRUE(plans().all.empty()) << "a tile for each multiprocessor";
  EXPECT_EQ(plans({.divided = decision::yes}).all.size(), 1u);
}

TEST_F(cutlass_library_candidates, library_plans_are_listed_last_but_measured_with_the_best_template_plans) {
  const cutlass_library_plans library_plans = plans();
  auto all = candidates_for(signature_of(p), {p.m, p.n, p.k, 1}, h100, {}, library_plans);
  ASSERT_TRUE(all);
  ASSERT_GT(all->size(), 4u);
  EXPECT_EQ(all->back().variant, &one);
  const auto itself = [](const candidate& c) -> const candidate& { return c; };
  EXPECT_EQ(order_for_measuring(*all, 1, itself), 1u);
  EXPECT_EQ((*all)[0].variant, nullptr);
  EXPECT_EQ(order_for_measuring(*all, 3, itself), 4u);
  EXPECT_EQ((*all)[3].variant, &one);
  EXPECT_EQ((*all)[2].variant, nullptr);
}

// -- convolutions

class cutlass_library_convolution_candidates : public ::testing::Test {
 protected:
  cutlass_library_convolution_candidates() {
    variant.kind = vendor::conv_forward, variant.capability = 80, variant.machine_code = "sm_80 sm_90";
    p.result = computed_tensor::y, p.images = 2, p.channels_of_group = 16, p.filters_of_group = 8, p.sums = dtype::f32;
    for (const std::size_t i : {1, 2}) p.set(i, 9, 5, 3, {1, 1, 2});
    const auto packed = [](std::uint64_t at, std::int64_t channels, std::int64_t side) {
      return placed_tensor{at, dtype::f16, side * side * channels, 1, {0, side * channels, channels}};
    };
    p.x = packed(1 << 20, 16, 9), p.filters = packed(1 << 21, 16, 3), p.y = packed(1 << 22, 8, 5);
    p.tree = epilogue::tree(tree.data(), tree.size());
  }
  cutlass_library_plans plans() const {
    return with({&variant},
                [&](const vendor::kernel_variants& all) { return cutlass_library_plans_of(p, h100, {}, all); });
  }
  void expect_refused(const char* words) const {
    EXPECT_TRUE(plans().all.empty());
    EXPECT_NE(plans().why_not.find(words), std::string::npos) << plans().why_not;
  }
  vendor::kernel_variant variant = product_variant("variant", "f16");
  convolution_problem p;
  const epilogue::node sum{.what = epilogue::op::accumulator};
  const std::vector<std::byte> tree = epilogue::encode_tree({&sum, 1}, {}, {});
};

TEST_F(cutlass_library_convolution_candidates, a_launch_has_the_parameters_of_the_convolution) {
  ASSERT_EQ(plans().all.size(), 1u) << plans().why_not;
  const kernel_signature f = signature_of(as_product(p));
  const vendor::launch l = launch_of(p, f, *cutlass_library_epilogue_of(f));
  EXPECT_EQ((std::array{l.images, l.height, l.width, l.channels, l.filters, l.filter_height, l.filter_width}),
            (std::array{2, 9, 9, 16, 8, 3, 3}));
  EXPECT_EQ(
      (std::array{l.pad_height, l.pad_width, l.stride_height, l.stride_width, l.dilation_height, l.dilation_width}),
      (std::array{1, 1, 2, 2, 1, 1}));
  EXPECT_EQ(l.a, reinterpret_cast<const void*>(1 << 20));
  EXPECT_EQ(l.b, reinterpret_cast<const void*>(1 << 21));
  EXPECT_EQ(l.d, reinterpret_cast<const void*>(1 << 22));
}

TEST_F(cutlass_library_convolution_candidates, unsupported_tensors_and_windows_are_refused) {
  p.x.channel = 2;
  expect_refused("without gaps");
  p.x.channel = 1, p.y.item += 8;
  expect_refused("without gaps");
  p.y.item -= 8, p.out[1] = 6;
  expect_refused("takes equal padding before and after an image");
  p.out[1] = 5, p.groups = 2;
  expect_refused("has no groups of channels");
  p.groups = 1, p.in[0] = p.out[0] = 3;
  expect_refused("at most two spatial axes");
  p.in[0] = p.out[0] = 1, p.filters.type = dtype::bf16;
  expect_refused("convolves f16 and stores f16");
  p.filters.type = dtype::f16, p.result = computed_tensor::dx;
  expect_refused("computes no dx");
}

}  // namespace
}  // namespace troupe::cutlass
