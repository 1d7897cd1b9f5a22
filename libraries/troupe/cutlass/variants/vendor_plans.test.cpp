// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Which kernels of CUTLASS fit a problem, and what they are told of it; with a table that is made here.
#include <gtest/gtest.h>

#include <troupe/base/cat.hpp>
#include <troupe/cutlass/cells/testing/test_chip.hpp>
#include <troupe/cutlass/cells/vendor_launches.hpp>
#include <troupe/epilogue/epilogue.hpp>
#include <troupe/epilogue/moved_tree.hpp>

namespace troupe::cutlass {
namespace {

using epilogue::acc, epilogue::expression, epilogue::op;
using testing::h100;

vendor::cell product_cell(const char* name, const char* type) {
  vendor::cell c{};
  c.name = name, c.kind = vendor::product;
  c.a = c.b = c.c = c.d = type, c.a_layout = c.d_layout = "row", c.b_layout = "column";
  c.a_alignment = c.b_alignment = c.d_alignment = 8;
  c.tile_m = 128, c.tile_n = 256, c.tile_k = 64, c.stages = 4, c.cluster_m = 2, c.cluster_n = 1;
  c.schedule = "cooperative", c.epilogue = "alpha * acc + beta * c", c.machine_code = "sm_90a", c.chip = 90;
  c.can_take = [](const vendor::launch*) -> int { return vendor::taken; };
  return c;
}

// Calls `f` with the cells of a plug-in that has these.
template <class F>
auto with(const std::vector<const vendor::cell*>& all, F&& f) {
  const vendor::table t{.version = vendor::interface_version,
                        .cell_bytes = sizeof(vendor::cell),
                        .launch_bytes = sizeof(vendor::launch),
                        .count = static_cast<int>(all.size()),
                        .cells = all.data(),
                        .cutlass_version = "",
                        .compiler = "",
                        .headers = "",
                        .kernels_header = ""};
  return f(vendor::cells::make(&t).value());
}

class plans_of_vendor : public ::testing::Test {
 protected:
  plans_of_vendor() {
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
  std::optional<vendor_epilogue> seen() const { return vendor_epilogue_of(form_of(p)); }
  other_plans plans(const plan& wanted = {}) const {
    return with({&one, &other},
                [&](const vendor::cells& all) { return vendor_plans_of(p, form_of(p), h100, wanted, all); });
  }

  vendor::cell one = product_cell("one", "bf16"), other = product_cell("other", "f16");
  problem p;
  std::vector<std::byte> encoded;
};

TEST_F(plans_of_vendor, are_those_of_kernels_that_fit) {
  const other_plans found = plans();
  ASSERT_EQ(found.all.size(), 1u);
  EXPECT_EQ(found.all[0].cell, &one);
  EXPECT_EQ(to_string(found.all[0]), "vendor 128x256x64, 4 stages, cluster 2x1, cooperative, any, band 1, one");
  EXPECT_GT(found.all[0].microseconds, 0);
  EXPECT_EQ(plans({.band = 4}).all[0].plan.band, 4);
}

TEST_F(plans_of_vendor, read_alpha_and_beta_with_their_signs) {
  const expression c = matrix(op::load, dtype::bf16, 96, 64);
  set(c - 0.5 * acc);
  ASSERT_TRUE(seen());
  const vendor::launch l = launch_of(one, p, form_of(p), *seen());
  EXPECT_EQ(l.alpha, -0.5f);
  EXPECT_EQ(l.beta, 1.0f);
  EXPECT_EQ(l.c, reinterpret_cast<const void*>(1 << 23));
  EXPECT_EQ(l.c_line, 64);
  set(2 * acc - 3 * c);
  ASSERT_TRUE(seen());
  EXPECT_EQ(launch_of(one, p, form_of(p), *seen()).beta, -3.0f);
  EXPECT_EQ(plans().all.size(), 1u) << plans().why_not;
}

TEST_F(plans_of_vendor, are_none_for_other_epilogues) {
  const expression c = matrix(op::load, dtype::bf16, 96, 64);
  for (const expression& e : {relu(acc), acc * acc, acc + c * c, acc + c + c, 2 * (acc + c), acc / 3, acc + 1,
                              c - matrix(op::load_row, dtype::bf16, 1, 64) + acc, epilogue::left * epilogue::right}) {
    set(e);
    EXPECT_FALSE(seen() && !seen()->gelu && seen()->bias < 0);
    EXPECT_TRUE(plans().all.empty());
  }
}

TEST_F(plans_of_vendor, have_a_bias_and_gelu_only_in_the_kernel_that_has_them) {
  set(gelu_tanh(2 * acc + matrix(op::load_row, dtype::bf16, 1, 64)));
  EXPECT_TRUE(plans().all.empty());
  EXPECT_NE(plans().why_not.find("no other epilogue"), std::string::npos) << plans().why_not;
  one.bias = 1, one.epilogue = "gelu(alpha * acc + beta * c + bias)";
  EXPECT_EQ(plans().all.size(), 1u) << plans().why_not;
  set(gelu(2 * acc + matrix(op::load_row, dtype::bf16, 1, 64)));
  EXPECT_TRUE(plans().all.empty()) << "it is another gelu";
  set(gelu_tanh(2 * acc + matrix(op::load_row, dtype::bf16, 1, 64, (1 << 23) + 2)));
  EXPECT_NE(plans().why_not.find("the bias at a multiple of 16 bytes"), std::string::npos) << plans().why_not;
}

TEST_F(plans_of_vendor, swap_the_factors_where_columns_are_neighbours) {
  std::swap(p.d.row, p.d.column);
  p.d.column = 96;
  const auto found = plans();
  ASSERT_EQ(found.all.size(), 1u) << found.why_not;
  EXPECT_EQ(found.all[0].plan.swapped, decision::yes);
  const problem q = p.swapped();
  const vendor::launch l = launch_of(one, q, form_of(p), *seen());
  EXPECT_EQ(l.m, 64);
  EXPECT_EQ(l.n, 96);
  EXPECT_EQ(l.a, reinterpret_cast<const void*>(1 << 21));
  EXPECT_EQ(l.d_line, 96);
}

TEST_F(plans_of_vendor, are_refused_by_what_the_nearest_kernel_lacks) {
  p.n = 60;
  EXPECT_NE(plans().why_not.find("one: the length of a line of d is 60"), std::string::npos) << plans().why_not;
  p.n = 64, p.a.line = 130;
  EXPECT_NE(plans().why_not.find("one: a_line is 130; expected a multiple of 8 elements"), std::string::npos);
  p.a.line = 128, p.a.term = 2;
  EXPECT_NE(plans().why_not.find("one takes a by rows and b by columns"), std::string::npos) << plans().why_not;
  p.a.term = 1, p.d.type = dtype::f32;
  EXPECT_NE(plans().why_not.find("multiplies bf16 and bf16 and stores bf16"), std::string::npos) << plans().why_not;
  p.d.type = dtype::bf16, one.machine_code = "sm_120a";
  EXPECT_NE(plans().why_not.find("has machine code for sm_90a, and not"), 0u);
  EXPECT_TRUE(plans().all.empty());
}

TEST_F(plans_of_vendor, take_a_batch_that_lies_apart_and_tell_it_from_one_that_does_not) {
  p.batch = 3, p.a.batch = 96 * 128, p.b.batch = 0, p.d.batch = 96 * 64;
  EXPECT_TRUE(has_lines_apart(p));
  EXPECT_EQ(plans().all.size(), 1u) << plans().why_not;
  p.d.batch = 64, p.d.row = 3 * 64;  // rows of all products in turns
  EXPECT_FALSE(has_lines_apart(p)) << "the form is that of the other, so the key of a plan must tell them apart";
  EXPECT_TRUE(plans().all.empty());
  EXPECT_NE(plans().why_not.find("d_batch is 64"), std::string::npos) << plans().why_not;
}

TEST_F(plans_of_vendor, of_8_bit_floats_need_fast_sums) {
  one.a = one.b = "e4m3", one.a_alignment = one.b_alignment = 16;
  p.a.type = p.b.type = dtype::f8e4m3;
  EXPECT_NE(plans().why_not.find("allow accumulation::fast"), std::string::npos) << plans().why_not;
  p.accumulation = matmul::accumulation::fast;
  EXPECT_EQ(plans().all.size(), 1u) << plans().why_not;
}

TEST_F(plans_of_vendor, divide_tiles_where_multiprocessors_would_be_idle_or_it_is_wished) {
  one.schedule = "cooperative, stream-K";
  EXPECT_EQ(plans().all.size(), 1u) << "one tile";
  EXPECT_EQ(plans().all[0].plan.divided, decision::yes);
  p.m = 132 * 128, p.n = p.d.row = 256;
  EXPECT_TRUE(plans().all.empty()) << "a tile for each multiprocessor";
  EXPECT_EQ(plans({.divided = decision::yes}).all.size(), 1u);
}

TEST_F(plans_of_vendor, come_after_all_others_and_are_measured_with_the_first_of_them) {
  const other_plans others = plans();
  auto all = candidates_for(form_of(p), {p.m, p.n, p.k, 1}, h100, {}, others);
  ASSERT_TRUE(all);
  ASSERT_GT(all->size(), 4u);
  EXPECT_EQ(all->back().cell, &one);
  const auto itself = [](const candidate& c) -> const candidate& { return c; };
  EXPECT_EQ(order_for_measuring(*all, 1, itself), 1u);
  EXPECT_EQ((*all)[0].cell, nullptr);
  EXPECT_EQ(order_for_measuring(*all, 3, itself), 4u);
  EXPECT_EQ((*all)[3].cell, &one);
  EXPECT_EQ((*all)[2].cell, nullptr);
}

// -- convolutions

class convolutions_of_vendor : public ::testing::Test {
 protected:
  convolutions_of_vendor() {
    cell.kind = vendor::conv_forward, cell.chip = 80, cell.machine_code = "sm_80 sm_90";
    p.result = convolution_result::y, p.images = 2, p.channels = 16, p.outputs = 8, p.sums = dtype::f32;
    for (const std::size_t i : {1, 2}) p.window.set(i, 9, 5, 3, {1, 1, 2});
    const auto packed = [](std::uint64_t at, std::int64_t channels, std::int64_t side) {
      return placed_tensor{at, dtype::f16, side * side * channels, 1, {0, side * channels, channels}};
    };
    p.x = packed(1 << 20, 16, 9), p.filters = packed(1 << 21, 16, 3), p.y = packed(1 << 22, 8, 5);
    p.tree = epilogue::tree(tree.data(), tree.size());
  }
  other_plans plans() const {
    return with({&cell}, [&](const vendor::cells& all) { return vendor_plans_of(p, h100, {}, all); });
  }
  void expect_refused(const char* words) const {
    EXPECT_TRUE(plans().all.empty());
    EXPECT_NE(plans().why_not.find(words), std::string::npos) << plans().why_not;
  }
  vendor::cell cell = product_cell("cell", "f16");
  convolution_problem p;
  const epilogue::node sum{.what = epilogue::op::accumulator};
  const std::vector<std::byte> tree = epilogue::encode_tree({&sum, 1}, {}, {});
};

TEST_F(convolutions_of_vendor, are_told_as_they_are) {
  ASSERT_EQ(plans().all.size(), 1u) << plans().why_not;
  const whole_form f = form_of(as_product(p));
  const vendor::launch l = launch_of(p, f, *vendor_epilogue_of(f));
  EXPECT_EQ((std::array{l.images, l.height, l.width, l.channels, l.filters, l.filter_height, l.filter_width}),
            (std::array{2, 9, 9, 16, 8, 3, 3}));
  EXPECT_EQ(
      (std::array{l.pad_height, l.pad_width, l.stride_height, l.stride_width, l.dilation_height, l.dilation_width}),
      (std::array{1, 1, 2, 2, 1, 1}));
  EXPECT_EQ(l.a, reinterpret_cast<const void*>(1 << 20));
  EXPECT_EQ(l.b, reinterpret_cast<const void*>(1 << 21));
  EXPECT_EQ(l.d, reinterpret_cast<const void*>(1 << 22));
}

TEST_F(convolutions_of_vendor, are_refused_where_tensors_or_windows_are_others) {
  p.x.channel = 2;
  expect_refused("without gaps");
  p.x.channel = 1, p.y.item += 8;
  expect_refused("without gaps");
  p.y.item -= 8, p.window.out[1] = 6;
  expect_refused("as many zeros after an image as before");
  p.window.out[1] = 5, p.groups = 2;
  expect_refused("has no groups of channels");
  p.groups = 1, p.window.in[0] = p.window.out[0] = 3;
  expect_refused("at most two spatial indexes");
  p.window.in[0] = p.window.out[0] = 1, p.filters.type = dtype::bf16;
  expect_refused("convolves f16 and stores f16");
  p.filters.type = dtype::f16, p.result = convolution_result::dx;
  expect_refused("computes no dx");
}

}  // namespace
}  // namespace troupe::cutlass
