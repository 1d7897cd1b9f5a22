// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compares the results of every kernel that this GPU can run with double precision. Needs a GPU, and fails without one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <troupe/base/text/cat.hpp>
#include <troupe/cutlass/vendor/refusals.hpp>
#include <troupe/cutlass/vendor/variants.hpp>

#include "reference.hpp"

namespace troupe::cutlass::vendor {
namespace {

using reference::memory;

std::string folder() {
  const char* const named = std::getenv("TROUPE_TEST_VENDOR");  // with vendor.so and images/
  return named != nullptr ? named : TROUPE_VENDOR_FOLDER;
}
const kernel_variants& plugin() {
  static const kernel_variants loaded = kernel_variants::load(folder() + "/vendor.so").value();
  return loaded;
}
std::vector<const kernel_variant*> runnable(int first_kind, int last_kind) {
  std::vector<const kernel_variant*> some;
  for (const kernel_variant* c : plugin().all())
    if (c->kind >= first_kind && c->kind <= last_kind && runs_on(*c, reference::capability())) some.push_back(c);
  return some;
}
std::size_t bytes(const char* type, long long elements) {
  return static_cast<std::size_t>(elements * bits_of(type) / 8);
}

struct factors {
  float alpha, beta;
};
constexpr factors all_factors[] = {{1, 0}, {1, 1}, {-0.75f, 0.5f}, {0, 1}, {0, 0}};

// Launches a kernel: the plug-in's, or one that was compiled at run time.
using runner = std::function<void(const launch&)>;

void enqueue_with_workspace(const kernel_variant& c, const launch& l) {
  const long long wanted = c.workspace_bytes(&l);
  const memory workspace(static_cast<std::size_t>(wanted) + 16);
  const auto r = enqueue(c, l, workspace.at(), wanted, nullptr);
  ASSERT_TRUE(r) << r.error().text();
  reference::synchronize();
}

void run_product(const kernel_variant& c, int m, int n, int k, int batch, factors f, const runner& run) {
  SCOPED_TRACE(cat(c.name, " m ", m, " n ", n, " k ", k, " batch ", batch, " alpha ", std::to_string(f.alpha), " beta ",
                   std::to_string(f.beta)));
  const bool a_rows = std::string_view(c.a_layout) == "row", b_rows = std::string_view(c.b_layout) == "row";
  launch l{};
  l.m = m, l.n = n, l.k = k, l.batch = batch, l.alpha = f.alpha, l.beta = f.beta;
  l.a_line = (a_rows ? k : m) + c.a_alignment, l.b_line = (b_rows ? n : k) + 2 * c.b_alignment;
  l.c_line = n + c.d_alignment, l.d_line = n + 3 * c.d_alignment;
  l.a_batch = l.a_line * (a_rows ? m : k), l.b_batch = l.b_line * (b_rows ? k : n), l.c_batch = l.c_line * m,
  l.d_batch = l.d_line * m;
  const memory a(bytes(c.a, l.a_batch * batch)), b(bytes(c.b, l.b_batch * batch)), old(bytes(c.c, l.c_batch * batch)),
      d(bytes(c.d, l.d_batch * batch)), bias(bytes(c.d, n));
  reference::fill(a, c.a, 1), reference::fill(b, c.b, 2), reference::fill(bias, c.d, 4);
  // If beta is 0, c is not read.
  if (f.beta != 0)
    reference::fill(old, c.c, 3);
  else
    reference::poison(old);
  reference::poison(d);
  l.a = a.at(), l.b = b.at(), l.c = old.at(), l.d = d.at();
  if (c.bias != 0) l.bias = bias.at();
  const auto checked = check(c, l);
  ASSERT_TRUE(checked) << checked.error().text();
  run(l);
  const reference::difference r = reference::compare(c, l);
  EXPECT_LE(r.worst, 1);
  EXPECT_EQ(r.touched, 0u) << "elements between the lines of d";
  if (f.alpha == 1 && f.beta == 0 && std::string_view(c.d) != "f32") {
    EXPECT_GT(r.worst, 0) << "d is rounded, so an error of 0 means that nothing was compared";
  }
}

struct extents {
  int m, n, k, batch;
};
constexpr extents all_extents[] = {{384, 512, 768, 1},  {1, 16, 16, 1},      {77, 120, 208, 1},
                                   {513, 264, 1040, 1}, {128, 256, 8192, 1}, {200, 136, 96, 3}};

void run_products(const kernel_variant& c, const runner& run) {
  for (const factors f : all_factors) run_product(c, 200, 136, 96, 1, f, run);
  for (const extents& e : all_extents) run_product(c, e.m, e.n, e.k, e.batch, {1, 0}, run);
  run_product(c, 77, 120, 208, 2, {-0.75f, 0.5f}, run);
}

TEST(cutlass_vendor_cuda, products_match_double_precision) {
  const auto some = runnable(product, product);
  ASSERT_FALSE(some.empty()) << "no kernel for this GPU";
  for (const kernel_variant* c : some) {
    const auto same = compare_parameters(*c);
    ASSERT_TRUE(same) << same.error().text();
    run_products(*c, [&](const launch& l) { enqueue_with_workspace(*c, l); });
  }
}

TEST(cutlass_vendor_cuda, the_comparison_detects_results_that_are_wrong_by_2_percent) {
  for (const kernel_variant* c : runnable(product, product)) {
    const runner run = [&](const launch& l) {
      launch other = l;
      other.alpha = 1.02f;
      enqueue_with_workspace(*c, other);
      EXPECT_GT(reference::compare(*c, l).worst, 1) << c->name;
      enqueue_with_workspace(*c, l);
    };
    run_product(*c, 200, 136, 96, 1, {1, 0}, run);
  }
}

TEST(cutlass_vendor_cuda, grouped_products_match_double_precision) {
  const extents groups[] = {
      {128, 256, 64, 1}, {1, 16, 128, 1}, {300, 512, 96, 1}, {77, 120, 208, 1}, {256, 264, 1040, 1}};
  for (const kernel_variant* c : runnable(grouped_product, grouped_product)) {
    const auto same = compare_parameters(*c);
    ASSERT_TRUE(same) << same.error().text();
    for (const factors f : all_factors) {
      std::vector<std::unique_ptr<memory>> blocks;
      std::vector<launch> each;
      std::vector<int> shapes;
      std::vector<const void*> as, bs, cs;
      std::vector<void*> ds;
      std::vector<long long> a_lines, b_lines, c_lines, d_lines;
      const auto block = [&](const char* type, long long elements, unsigned seed) {
        blocks.push_back(std::make_unique<memory>(bytes(type, elements)));
        if (seed != 0)
          reference::fill(*blocks.back(), type, seed);
        else
          reference::poison(*blocks.back());
        return blocks.back()->at();
      };
      for (const extents& e : groups) {
        launch l{};
        l.m = e.m, l.n = e.n, l.k = e.k, l.batch = 1, l.alpha = f.alpha, l.beta = f.beta;
        l.a_line = e.k + 8, l.b_line = e.k + 16, l.c_line = e.n + 8, l.d_line = e.n + 24;
        l.a = block(c->a, l.a_line * e.m, 5), l.b = block(c->b, l.b_line * e.n, 6),
        l.c = block(c->c, l.c_line * e.m, 7), l.d = block(c->d, l.d_line * e.m, 0);
        each.push_back(l);
        shapes.insert(shapes.end(), {e.m, e.n, e.k});
        as.push_back(l.a), bs.push_back(l.b), cs.push_back(l.c), ds.push_back(l.d);
        a_lines.push_back(l.a_line), b_lines.push_back(l.b_line), c_lines.push_back(l.c_line),
            d_lines.push_back(l.d_line);
      }
      const auto array = [&](const auto& v) {
        blocks.push_back(std::make_unique<memory>(v.size() * sizeof v[0]));
        reference::copy_in(*blocks.back(), v.data(), v.size() * sizeof v[0]);
        return blocks.back()->at();
      };
      launch l{};
      l.groups = static_cast<int>(each.size()), l.alpha = f.alpha, l.beta = f.beta,
      l.shapes = static_cast<int*>(array(shapes));
      l.group_a = static_cast<const void**>(array(as)), l.group_b = static_cast<const void**>(array(bs)),
      l.group_c = static_cast<const void**>(array(cs));
      l.group_d = static_cast<void**>(array(ds));
      l.group_a_line = static_cast<long long*>(array(a_lines)),
      l.group_b_line = static_cast<long long*>(array(b_lines));
      l.group_c_line = static_cast<long long*>(array(c_lines)),
      l.group_d_line = static_cast<long long*>(array(d_lines));
      const auto checked = check(*c, l);
      ASSERT_TRUE(checked) << checked.error().text();
      enqueue_with_workspace(*c, l);
      for (const launch& one : each) {
        SCOPED_TRACE(cat(c->name, " group ", one.m, " ", one.n, " ", one.k, " alpha ", std::to_string(f.alpha),
                         " beta ", std::to_string(f.beta)));
        const auto r = reference::compare(*c, one);
        EXPECT_LE(r.worst, 1);
        EXPECT_EQ(r.touched, 0u);
      }
    }
  }
}

launch convolution(int images, int height, int width, int channels, int filters, int filter, int pad, int stride,
                   int dilation) {
  launch l{};
  l.images = images, l.height = height, l.width = width, l.channels = channels, l.filters = filters,
  l.filter_height = l.filter_width = filter;
  l.pad_height = l.pad_width = pad, l.stride_height = l.stride_width = stride,
  l.dilation_height = l.dilation_width = dilation;
  return l;
}

void run_convolutions(const kernel_variant& c, const runner& run) {
  const launch problems[] = {convolution(2, 14, 14, 64, 128, 3, 1, 1, 1), convolution(3, 15, 13, 16, 24, 3, 1, 2, 1),
                             convolution(1, 9, 8, 136, 72, 1, 0, 1, 1), convolution(2, 17, 19, 8, 32, 5, 2, 3, 1),
                             convolution(1, 20, 11, 32, 40, 3, 2, 1, 2)};
  for (const factors f : all_factors)
    for (launch l : problems) {
      SCOPED_TRACE(cat(c.name, " images ", l.images, " of ", l.height, " x ", l.width, ", channels ", l.channels,
                       ", filters ", l.filters, " of ", l.filter_height, ", stride ", l.stride_height, ", dilation ",
                       l.dilation_height, ", alpha ", std::to_string(f.alpha), " beta ", std::to_string(f.beta)));
      const long long most = 1 << 18;
      const memory a(bytes(c.a, most)), b(bytes(c.b, most)), old(bytes(c.c, most)), d(bytes(c.d, most));
      reference::fill(a, c.a, 1), reference::fill(b, c.b, 2), reference::fill(old, c.c, 3);
      reference::poison(d);
      l.a = a.at(), l.b = b.at(), l.c = old.at(), l.d = d.at(), l.alpha = f.alpha, l.beta = f.beta;
      const auto checked = check(c, l);
      if (c.kind == conv_data_gradient && l.dilation_height > 1) {
        EXPECT_FALSE(checked) << "CUTLASS's kernel for any stride supports no dilation";
        continue;
      }
      ASSERT_TRUE(checked) << checked.error().text();
      run(l);
      EXPECT_LE(reference::compare_convolution(c, l).worst, 1);
    }
}

TEST(cutlass_vendor_cuda, convolutions_match_double_precision) {
  const auto some = runnable(conv_forward, conv_weight_gradient);
  ASSERT_EQ(some.size(), 3u);
  for (const kernel_variant* c : some) {
    const auto same = compare_parameters(*c);
    ASSERT_TRUE(same) << same.error().text();
    run_convolutions(*c, [&](const launch& l) { enqueue_with_workspace(*c, l); });
  }
}

// NVRTC has compiled the images from the kernels' sources, for this GPU: see make_images.cpp.
TEST(cutlass_vendor_cuda, kernels_compiled_by_nvrtc_match_double_precision) {
  int count = 0;
  for (const kernel_variant* c : plugin().all()) {
    if (c->source == nullptr) continue;
    const std::string file = cat(folder(), "/images/", c->name, ".sm_", reference::capability(), ".cubin");
    ASSERT_TRUE(std::filesystem::exists(file)) << file;
    const reference::image kernel(file);
    ASSERT_EQ(kernel.parameter_bytes(), c->parameter_bytes) << c->name;
    ++count;
    const runner run = [&](const launch& l) {
      grid g{};
      std::vector<std::max_align_t> parameters(c->parameter_bytes / sizeof(std::max_align_t) + 1);
      ASSERT_EQ(c->fill(&l, nullptr, parameters.data(), &g), accepted);
      kernel.run(g, parameters.data(), c->parameter_bytes);
      reference::synchronize();
    };
    if (c->kind == product)
      run_products(*c, run);
    else
      run_convolutions(*c, run);
  }
  EXPECT_GE(count, 8);
}

}  // namespace
}  // namespace troupe::cutlass::vendor
