// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Computes the steps of a convolution on the processor by definition: copies, and products whose factors are gathered
// according to `convolution_arguments`. Also checks the plans.
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <troupe/base/text/cat.hpp>
#include <troupe/cutlass/variants/convolutions/convolution_candidates.hpp>
#include <troupe/cutlass/variants/convolutions/convolution_rows.hpp>
#include <troupe/cutlass/variants/testing/h100.hpp>
#include <troupe/epilogue/rebound_tree.hpp>
#include <troupe/windows/definition.hpp>

namespace troupe::cutlass {
namespace {

using position5 = std::array<std::int64_t, 5>;  // item, channel, depth, height, width

using testing::h100;

// Floats in memory, with axes in any order and gaps.
struct tensor {
  tensor(const position5& e, std::mt19937& random, bool channels_last) : extents(e) {
    std::array<std::size_t, 5> order{1, 4, 3, 2, 0};
    if (!channels_last) std::shuffle(order.begin(), order.end(), random);
    std::int64_t next = 1;
    for (const std::size_t i : order) strides[i] = next, next = next * e[i] + (channels_last ? 0 : random() % 2);
    memory.resize(static_cast<std::size_t>(next), -1000);
    for_each([&](const position5& at) { (*this)[at] = static_cast<float>(static_cast<int>(random() % 7) - 3); });
  }
  float& operator[](const position5& at) {
    return memory[static_cast<std::size_t>(std::inner_product(at.begin(), at.end(), strides.begin(), std::int64_t{0}))];
  }
  template <class F>
  void for_each(F&& f) const {
    position5 at{};
    const std::int64_t n = std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>{});
    for (std::int64_t i = 0; i < n; ++i) {
      std::int64_t rest = i;
      for (std::size_t d = 5; d-- > 0;) at[d] = rest % extents[d], rest /= extents[d];
      f(std::as_const(at));
    }
  }
  placed_tensor placed() const {
    return {reinterpret_cast<std::uint64_t>(memory.data()),
            dtype::f32,
            strides[0],
            strides[1],
            {strides[2], strides[3], strides[4]}};
  }
  tensor_shape shape() const {
    tensor_shape s{.rank = 5};
    std::copy(extents.begin(), extents.end(), s.extents.begin());
    return s;
  }
  position5 extents, strides{};
  std::vector<float> memory;
};

float& at(std::uint64_t address, std::int64_t element) { return reinterpret_cast<float*>(address)[element]; }

void compute(const tensor_copy& c) {
  const kernels::copy_arguments a = arguments_of(c);
  std::int64_t n = 1;
  for (const int e : a.extents) n *= e;
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t rest = i, from = 0, to = 0;
    bool inside = true;
    for (int d = 0; d < kernels::copy_arguments::axes; ++d) {
      const std::int64_t x = rest % a.extents[d];
      rest /= a.extents[d];
      from += x * a.from_strides[d], to += x * a.to_strides[d],
          inside = inside && x >= a.zeros_before[d] && x - a.zeros_before[d] < a.inside[d];
    }
    at(a.to, to) = inside ? at(a.from, from) : 0;
  }
}

struct digits {
  std::int64_t x[4];
  digits(std::int64_t i, std::int64_t a, std::int64_t b, std::int64_t c)
      : x{i % a, i / a % b, i / a / b % c, i / a / b / c} {}
};
// Gathers as templates/ampere_windows.cuh does.
void compute(const convolution_product& x, const convolution_signature& f) {
  const problem& p = x.product;
  const kernels::convolution_arguments& w = x.arguments;
  const auto gathered = [&](std::int64_t position, std::int64_t tap, std::int64_t channel, bool& inside) {
    const digits o(position, w.positions[0], w.positions[1], w.positions[2]), t(tap, w.channels, w.taps[0], w.taps[1]);
    std::int64_t out = t.x[0] * channel + o.x[3] * w.image_strides[3];
    for (int j = 0; j < 3; ++j) {
      const std::int64_t coordinate = w.first[j] + o.x[j] * w.per_position[j] + t.x[j + 1] * w.per_tap[j];
      if (j < f.rank) inside = inside && coordinate >= 0 && coordinate < w.image[j];
      out += coordinate * w.image_strides[j];
    }
    return out;
  };
  const auto other = [&](const digits& d) {
    return d.x[0] * w.other_strides[0] + d.x[1] * w.other_strides[1] + d.x[2] * w.other_strides[2] +
           d.x[3] * w.other_strides[3];
  };
  const auto product_of = [&](std::int64_t g, std::int64_t i, std::int64_t j, std::int64_t k) -> float {
    bool inside = true;
    std::int64_t a = g * p.a.batch, b = g * p.b.batch;
    switch (f.convolution) {
      case convolution_kind::none:
        a += i * p.a.line + k * p.a.term, b += j * p.b.line + k * p.b.term;
        break;
      case convolution_kind::forward:
        a += gathered(i, k, p.a.term, inside), b += j * p.b.line + k * p.b.term;
        break;
      case convolution_kind::data_gradient:
        a += gathered(i, k, p.a.term, inside);
        b += j * p.b.line + other(digits(k, w.channels, w.taps[0], w.taps[1]));
        break;
      case convolution_kind::weight_gradient:
        a += i * p.a.line + other(digits(k, w.positions[0], w.positions[1], w.positions[2]));
        b += gathered(k, j, p.b.line, inside);
    }
    return inside ? at(p.a.address, a) * at(p.b.address, b) : 0;
  };
  for (std::int64_t g = 0; g < p.batch; ++g)
    for (std::int64_t i = 0; i < p.m; ++i)
      for (std::int64_t j = 0; j < p.n; ++j) {
        float sum = 0;
        for (std::int64_t k = 0; k < p.k; ++k) sum += product_of(g, i, j, k);
        std::int64_t to = g * p.d.batch + j * p.d.column + i * p.d.row;
        if (f.strided_result) {
          const digits d(i, w.positions[0], w.positions[1], w.positions[2]);
          for (int q = 0; q < 4; ++q) to += d.x[q] * w.result_strides[q];
        }
        at(p.d.address, to) = sum;
      }
}

class cutlass_convolution_steps : public ::testing::Test {
 protected:
  std::int64_t between(int low, int high) { return low + static_cast<std::int64_t>(random() % (high - low + 1)); }
  struct setting {
    convolution_problem p;
    std::unique_ptr<tensor> x, filters, y;
    std::vector<float> expected;
    tensor& computed() {
      return *windows::convolution_roles<tensor*>{x.get(), filters.get(), y.get()}.computed(p.result);
    }
  };
  setting any(computed_tensor r, bool channels_last) {
    setting s;
    convolution_problem& p = s.p;
    p.result = r, p.images = between(1, 3), p.groups = between(1, 3) == 1 ? 2 : 1;
    p.channels_of_group = between(1, 5), p.filters_of_group = between(1, 5), p.sums = dtype::f32;
    for (std::size_t i = static_cast<std::size_t>(between(0, 2)); i < 3; ++i) {
      const windows::slide slide{between(0, 2), between(0, 2), between(1, 3), between(1, 2)};
      const std::int64_t width = between(1, 3), in = between(4, 7);
      p.set(i, in,
            (in + slide.padding_before + slide.padding_after - slide.dilation * (width - 1) - 1) / slide.stride + 1,
            width, slide);
    }
    const auto& w = p;
    const auto make = [&](std::int64_t items, std::int64_t channels, const std::int64_t* e) {
      return std::make_unique<tensor>(position5{items, channels, e[0], e[1], e[2]}, random, channels_last);
    };
    s.x = make(p.images, p.groups * p.channels_of_group, w.in),
    s.y = make(p.images, p.groups * p.filters_of_group, w.out);
    s.filters = make(p.groups * p.filters_of_group, p.channels_of_group, w.window);
    p.x = s.x->placed(), p.y = s.y->placed(), p.filters = s.filters->placed();
    const epilogue::node sum{.what = epilogue::op::accumulator};
    tree = epilogue::encode_tree({&sum, 1}, {}, {});
    p.tree = epilogue::tree(tree.data(), tree.size());
    expect(s);
    return s;
  }
  // Computes the expected result, in the layout of the computed tensor.
  static void expect(setting& s) {
    const convolution_problem& p = s.p;
    const windows::convolution_roles<tensor*> all{s.x.get(), s.filters.get(), s.y.get()};
    windows::convolution_definition c{p.result, {}, p.groups, {s.x->shape(), s.filters->shape(), s.y->shape()}};
    for (std::size_t i = 0; i < 3; ++i) c.slides[i] = {p.padding_before[i], 0, p.stride[i], p.dilation[i]};
    const auto element_of = [](tensor& t) {
      return
          [&t](const windows::tensor_index& at) { return static_cast<double>(t[{at[0], at[1], at[2], at[3], at[4]}]); };
    };
    tensor computed = s.computed();
    computed.for_each([&](const position5& at) {
      computed[at] = static_cast<float>(c.element({at[0], at[1], at[2], at[3], at[4]}, element_of(*all.first(p.result)),
                                                  element_of(*all.second(p.result))));
    });
    s.expected = computed.memory;
  }
  std::mt19937 random{7};
  std::vector<std::byte> tree;
};

TEST_F(cutlass_convolution_steps, every_choice_of_copies_matches_the_definition) {
  int rows = 0;
  for (const computed_tensor r : {computed_tensor::y, computed_tensor::dx, computed_tensor::dfilters})
    for (int i = 0; i < 40; ++i) {
      setting s = any(r, i % 2 == 0);
      const convolution_choice least = needed_copies(s.p);
      for (int bits = 0; bits <= 8; ++bits) {
        convolution_choice c{bits % 2 != 0, bits / 2 % 2 != 0 || least.other, bits / 4 % 2 != 0 || least.result};
        if (bits == 8 && !has_rows_as_channels(s.p)) continue;
        c.rows = bits == 8, rows += bits == 8 ? 1 : 0;
        SCOPED_TRACE(cat(to_string(r), " ", i, ", choice ", bits));
        const std::vector<float> before = s.computed().memory;
        std::vector<float> memory(work_of(s.p, c, 0)->bytes / sizeof(float) + 1, -77);
        const auto w = work_of(s.p, c, reinterpret_cast<std::uint64_t>(memory.data()));
        ASSERT_TRUE(w) << w.error().text();
        ASSERT_FALSE(w->separate_epilogue);
        for (const tensor_copy& x : w->before) compute(x);
        for (const convolution_product& x : w->products) compute(x, w->signature);
        for (const tensor_copy& x : w->after) compute(x);
        ASSERT_EQ(s.computed().memory, s.expected);
        s.computed().memory = before;
      }
    }
  EXPECT_GT(rows, 10) << "settings whose rows of windows are channels";
}

TEST_F(cutlass_convolution_steps, all_types_have_plans_for_every_alignment) {
  constexpr dtype types[] = {dtype::f32, dtype::f64, dtype::f16, dtype::bf16, dtype::f8e4m3, dtype::f8e5m2, dtype::i8};
  for (const computed_tensor r : {computed_tensor::y, computed_tensor::dx, computed_tensor::dfilters})
    for (const dtype a : types)
      for (const dtype b : types) {
        const dtype sums = sums_of(a, b);
        if (sums == dtype{}) continue;
        for (int i = 0; i < 6; ++i) {
          setting s = any(r, i % 2 == 0);
          s.p.sums = sums, s.p.options.precision = i % 3 == 0 ? precision::tf32 : precision::exact;
          (r == computed_tensor::y ? s.p.x : s.p.y).type = a;
          (r == computed_tensor::dfilters ? s.p.x : s.p.filters).type = b;
          const auto candidates = convolution_candidates_for(s.p, h100, {});
          ASSERT_TRUE(candidates) << to_string(r) << " " << to_string(a) << " " << to_string(b) << ": "
                                  << candidates.error().text();
          for (const convolution_candidate& w : *candidates) {
            const auto work = work_of(s.p, w.choice, 0);
            if (work->signature.convolution == convolution_kind::none || w.plan.plan.family != family::ampere) continue;
            ASSERT_EQ(error_of(convolution_variant_of(work->signature, w.plan.plan)), "");
          }
        }
      }
}

TEST_F(cutlass_convolution_steps, an_impossible_plan_is_refused_and_the_nearest_named) {
  setting s = any(computed_tensor::y, true);
  plan wanted;
  wanted.tile_m = 96;
  const auto candidates = convolution_candidates_for(s.p, h100, wanted);
  ASSERT_FALSE(candidates);
  EXPECT_NE(candidates.error().text().find("the nearest possible plan is ampere"), std::string::npos)
      << candidates.error().text();
  wanted.tile_m = 64, wanted.tile_n = 128, wanted.stages = 3;
  const auto fine = convolution_candidates_for(s.p, h100, wanted);
  ASSERT_TRUE(fine) << fine.error().text();
  for (const convolution_candidate& w : *fine) EXPECT_TRUE(has_wanted(w.plan.plan, wanted)) << to_string(w);
}

TEST_F(cutlass_convolution_steps, more_positions_than_kernels_count_are_refused) {
  setting s = any(computed_tensor::y, true);
  static_cast<windows::geometry&>(s.p) = {};
  for (const std::size_t i : {1, 2}) s.p.set(i, 1 << 10, 1 << 10, 1, {});
  s.p.images = 1 << 11;
  const auto refused = work_of(s.p, needed_copies(s.p), 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text(),
            "images have 2147483648 positions or products in a sum; expected at most 2147483136: split the batch of "
            "images");
  s.p.images = (1 << 11) - 1;
  EXPECT_TRUE(work_of(s.p, needed_copies(s.p), 0));
}

TEST_F(cutlass_convolution_steps, only_tensors_that_are_out_of_order_are_copied) {
  const setting last = any(computed_tensor::y, true);
  EXPECT_EQ(needed_copies(last.p), convolution_choice{});
  setting first = any(computed_tensor::y, true);
  first.p.filters.channel = 100;
  first.p.channels_of_group = 2;
  EXPECT_TRUE(needed_copies(first.p).other) << "taps of filters must be contiguous";
  first.p.result = computed_tensor::dx;
  EXPECT_EQ(needed_copies(first.p), convolution_choice{}) << "taps may have any strides";
  EXPECT_TRUE(useful_copies(first.p).other);
}

}  // namespace
}  // namespace troupe::cutlass
