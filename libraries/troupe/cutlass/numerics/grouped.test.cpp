// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compares products of groups of rows, whose sizes are in memory, with the reference in double precision.
#include <functional>
#include <troupe/cutlass/testing/numerics.hpp>
#include <troupe/cutlass/testing/vendor.hpp>
#include <troupe/epilogue/epilogue.hpp>

namespace troupe::cutlass {
namespace {

using namespace testing;
using epilogue::acc, epilogue::op, epilogue::reduction, epilogue::reduction_scope;

// A grouped product. `rows` is the rows of A and D: of all groups if `packed`, otherwise the most of each group.
struct grouped_layout {
  factor_types types;
  dtype d;
  std::vector<std::int32_t> sizes;
  std::int64_t rows, n, k;
  bool packed = true, pairs = false;
  std::optional<test_scales> a_scales = {}, b_scales = {};
  stored_matrices::storing a_stored = stored_matrices::storing::anyhow, b_stored = stored_matrices::storing::shifted;
  cutlass::plan plan = {};
  std::int64_t groups() const { return static_cast<std::int64_t>(sizes.size()); }
  std::int64_t matrices() const { return packed ? 1 : groups(); }
};

class cutlass_gemm_grouped : public gemm_suite {
 protected:
  using making = std::function<expression(const grouped_layout&)>;

  // Return an operand with an element for each row, in the layout of d, and one with a row or number for each group.
  expression tall(op what, dtype t, const grouped_layout& f, std::int64_t columns) {
    return expression::reading(what, operand(t, f.matrices(), f.rows, columns));
  }
  expression per_group(op what, dtype t, const grouped_layout& f, std::int64_t columns) {
    return expression::reading(what, operand(t, f.groups(), 1, columns));
  }
  expression reduced(const expression& x, reduction how, reduction_scope over, const grouped_layout& f) {
    const dtype t = f.types.a == dtype::f64 ? dtype::f64 : dtype::f32;
    if (over == reduction_scope::row) return expression::reducing(x, how, over, operand(t, f.matrices(), f.rows, 1));
    return expression::reducing(x, how, over, operand(t, f.groups(), 1, over == reduction_scope::column ? f.n : 1));
  }

  // Moves the tree's operands to group g; `first` is its first row if groups are packed.
  static void move_to_group(const tree& t, const grouped_layout& f, std::int64_t g, std::int64_t first,
                            std::int64_t size) {
    for (const epilogue::memory_operand& m : t.memory()) {
      auto& moved = const_cast<epilogue::memory_operand&>(m);  // the copy belongs to the test
      const bool is_tall = m.shape.rows == f.rows && f.rows > 1;
      const std::int64_t elements = is_tall && f.packed ? first * m.shape.row_stride : g * m.batch_stride;
      moved.address += static_cast<std::uint64_t>(elements) * bytes_of(m.type);
      moved.batch_stride = 0;
      if (is_tall) moved.shape.rows = size;
    }
  }

  // Runs the request, and compares everything that is written for the first `right` groups. Nothing may be written for
  // the other groups.
  void expect_groups(const grouped_layout& f, const making& make, double tolerance, std::int64_t right,
                     const grouped_outcome& outcome = {}) {
    test_factor a({f.types.a, f.matrices(), f.rows, f.k, true, f.a_stored, f.a_scales}, random),
        b({f.types.b, f.groups(), f.n * (f.pairs ? 2 : 1), f.k, false, f.b_stored, f.b_scales}, random);
    stored_matrices d(f.d, f.matrices(), f.rows, f.n, random, f.a_stored);
    const std::vector<std::int32_t> sizes = f.sizes;
    const expression e = make(f);
    const gemm_grouped r{.a = a.elements(!f.packed),
                         .b = b.elements(true),
                         .d = d.operand<access_mode::write>(!f.packed),
                         .sizes = in<std::int32_t>(reinterpret_cast<std::uint64_t>(sizes.data()), sizes.size()),
                         .epilogue = e,
                         .a_scales = a.scales(!f.packed),
                         .b_scales = b.scales(true),
                         .options = {.plan = f.plan},
                         .partial_results = right < f.groups() ? partial_results::allowed : partial_results::refused};
    SCOPED_TRACE(story(r));
    std::vector<encoded_tree> trees;
    std::vector<epilogue::evaluated> expected;
    std::vector<std::int64_t> first_rows;
    std::int64_t first = 0;
    for (std::int64_t g = 0; g < right; ++g) {
      const std::int64_t size = f.sizes[static_cast<std::size_t>(g)];
      const std::vector<double> x = a.values(f.packed ? 0 : g), y = b.values(g);
      trees.emplace_back(e);
      move_to_group(trees.back().get(), f, g, first, size);
      expected.push_back(epilogue::evaluate(trees.back().get(), size, f.n, [&](std::int64_t i, std::int64_t j) {
        return sum_of_products(x, first + i, y, j, f.k);
      }));
      first_rows.push_back(first);
      if (f.packed) first += size;
    }
    const auto answer = engine->run(r);
    ASSERT_TRUE(answer) << answer.error().to_string();
    EXPECT_EQ(answer->wrong_group, outcome.wrong_group);
    EXPECT_EQ(answer->size, outcome.size);
    EXPECT_EQ(answer->rows_left, right < f.groups() ? f.rows - (f.packed ? first : 0) : 0);
    EXPECT_EQ(answer->partial_results, r.partial_results);
    EXPECT_TRUE(a.is_untouched() && b.is_untouched() && d.untouched_outside());
    comparison c(tolerance);
    const auto expect_poison = [&](std::int64_t which, std::int64_t from) {
      for (std::int64_t i = from; i < f.rows; ++i)
        for (std::int64_t j = 0; j < f.n; ++j)
          EXPECT_TRUE(d.is_poisoned(which, i, j))
              << "d(" << which << ", " << i << ", " << j << "), which belongs to no group, was written";
    };
    for (std::int64_t g = 0; g < f.groups(); ++g) {
      if (g < right) {
        const auto at = static_cast<std::size_t>(g);
        c.expect(expected[at], d, f.packed ? 0 : g, f.sizes[at], f.n, trees[at].get(), 0, first_rows[at]);
      }
      if (!f.packed) expect_poison(g, g < right ? f.sizes[static_cast<std::size_t>(g)] : 0);
    }
    if (f.packed) expect_poison(0, first);
  }
  void expect_right_groups(const grouped_layout& f, const making& make, double tolerance) {
    expect_groups(f, make, tolerance, f.groups());
  }

  grouped_layout any_groups(const factor_types& t, dtype d, bool packed) {
    grouped_layout f{t, d, {}, 0, random.between(1, 60), 2 * random.between(1, 30), packed};
    std::int64_t sum = 0, most = 1;
    for (std::int64_t g = random.between(1, 7); g > 0; --g) {
      // The sizes are skewed: some groups have no rows, and one group may have most of the rows.
      const std::int64_t size = random.one_of(
          {std::int64_t{0}, std::int64_t{1}, random.between(0, 9), random.between(0, 40), random.between(0, 150)});
      f.sizes.push_back(static_cast<std::int32_t>(size));
      sum += size, most = std::max(most, size);
    }
    f.rows = std::max<std::int64_t>(2, packed ? sum + random.between(0, 5) : most + random.between(0, 5));
    return f;
  }
};

TEST_F(cutlass_gemm_grouped, all_types_and_skewed_sizes_match_the_reference) {
  for (const factor_types& t : all_pairs)
    for (const bool packed : {true, false})
      for (int i = 0; i < iterations(8); ++i) {
        expect_right_groups(any_groups(t, any_float(), packed), [](const auto&) { return expression(acc); }, 0);
        if (HasFailure()) return;
      }
}

TEST_F(cutlass_gemm_grouped, epilogue_operands_may_be_per_row_or_per_group) {
  for (const factor_types& t : {all_pairs[1], all_pairs[3], all_pairs[4], all_pairs[5], all_pairs[13]})
    for (const bool packed : {true, false})
      for (int i = 0; i < iterations(8); ++i) {
        const grouped_layout f = any_groups(t, any_float(), packed);
        expect_right_groups(
            f,
            [&](const grouped_layout& layout) {
              const expression x = 0.5 * acc + per_group(op::load_row, dtype::f32, layout, layout.n),
                               y = x * per_group(op::load_number, dtype::f32, layout, 1) +
                                   tall(op::load_column, dtype::bf16, layout, 1);
              return expression::writing(y - tall(op::load, dtype::f16, layout, layout.n),
                                         operand(dtype::f32, layout.matrices(), layout.rows, layout.n)) +
                     loaded(op::load_row, dtype::f32, 1, 1, layout.n);
            },
            rounding_of({t.a, t.b, f.d, 1, f.n, f.k}, 2));
        if (HasFailure()) return;
      }
}

TEST_F(cutlass_gemm_grouped, reductions_of_rows_columns_and_groups_match_the_reference) {
  for (const factor_types& t : {all_pairs[1], all_pairs[2], all_pairs[9]})
    for (const bool packed : {true, false})
      for (const reduction_scope over : {reduction_scope::row, reduction_scope::column, reduction_scope::all})
        for (const reduction how : {reduction::sum, reduction::maximum, reduction::absolute_maximum}) {
          const grouped_layout f = any_groups(t, dtype::f32, packed);
          // Sums of integers are exact.
          expect_right_groups(f, [&](const auto& layout) { return reduced(acc, how, over, layout); }, 0);
          if (HasFailure()) return;
        }
}

TEST_F(cutlass_gemm_grouped, paired_epilogues_gate_one_half_with_the_other) {
  for (const bool packed : {true, false})
    for (int i = 0; i < iterations(8) && !HasFailure(); ++i) {
      grouped_layout f = any_groups({dtype::bf16, dtype::bf16}, dtype::bf16, packed);
      f.pairs = true;
      expect_right_groups(f, [](const auto&) { return silu(0.0625 * epilogue::left) * epilogue::right; }, 4e-6);
    }
}

TEST_F(cutlass_gemm_grouped, factors_may_have_block_scales) {
  for (const factor_types& t : {all_pairs[5], all_pairs[11], all_pairs[13]})
    for (const bool packed : {true, false})
      for (int i = 0; i < iterations(4); ++i) {
        grouped_layout f = any_groups(t, dtype::f32, packed);
        f.k = 128 * random.between(2, 3);
        f.a_scales = test_scales{dtype::f32, {!packed && i % 2 == 0 ? 128 : 1, 128}};
        f.b_scales = test_scales{random.one_of({dtype::f32, dtype::f8e8m0}), {128, 128}};
        expect_right_groups(f, [](const auto&) { return expression(acc); }, 0);
        if (HasFailure()) return;
      }
}

// CUTLASS's kernels need matrices without gaps. The tests are skipped without these kernels.
class cutlass_vendor_gemm_grouped : public cutlass_gemm_grouped {
 protected:
  void SetUp() override { skip_without_cutlass_library(*engine); }
  grouped_layout groups_of(std::vector<std::int32_t> sizes, bool packed) {
    grouped_layout f{{dtype::bf16, dtype::bf16}, dtype::bf16, std::move(sizes), 2, 8 * random.between(1, 20),
                     8 * random.between(1, 20),  packed};
    for (const std::int32_t s : f.sizes)
      if (s > 0) f.rows = packed ? f.rows + s : std::max<std::int64_t>(f.rows, s);
    f.a_stored = storing::tidy_rows, f.b_stored = storing::tidy_columns, f.plan = {.family = family::vendor};
    return f;
  }
};

TEST_F(cutlass_vendor_gemm_grouped, groups_match_the_reference) {
  for (const bool packed : {true, false})
    for (int i = 0; i < 6 && !HasFailure(); ++i) {
      std::vector<std::int32_t> sizes;
      for (std::int64_t g = i == 0 ? 600 : random.between(1, 12); g > 0; --g)
        sizes.push_back(random.one_of({0, 1, static_cast<std::int32_t>(random.between(0, i == 0 ? 5 : 300))}));
      expect_right_groups(groups_of(sizes, packed), [](const auto&) { return expression(acc); }, 0);
      expect_right_groups(
          groups_of(sizes, packed),
          [&](const grouped_layout& f) {
            return -0.5 * acc + 2 * expression::reading(
                                        op::load, operand(dtype::bf16, f.matrices(), f.rows, f.n, storing::tidy_rows));
          },
          1e-6);
    }
}

TEST_F(cutlass_vendor_gemm_grouped, groups_from_the_first_wrong_size_on_are_not_computed) {
  for (const bool packed : {true, false})
    for (const std::int32_t wrong : {-1, 5000}) {
      const grouped_layout f = groups_of({3, 130, wrong, 7}, packed);
      grouped_layout given = f;
      given.rows = 200;
      expect_groups(given, [](const auto&) { return expression(acc); }, 0, 2, {2, wrong});
    }
}

TEST_F(cutlass_gemm_grouped, the_epilogue_may_load_the_result_in_place) {
  for (const bool packed : {true, false}) {
    const grouped_layout f{{dtype::bf16, dtype::bf16}, dtype::f32, {3, 0, 5, 1}, 12, 20, 16, packed};
    test_factor a({dtype::bf16, f.matrices(), f.rows, f.k, true}, random),
        b({dtype::bf16, f.groups(), f.n, f.k, false}, random);
    stored_matrices d(f.d, f.matrices(), f.rows, f.n, random);
    d.fill([&] { return whole(f.d); });
    const out_any to = d.operand<access_mode::write>(!packed);
    const matmul::batch_of_matrices s = matmul::matrices_of(to.shape());
    const gemm_grouped r{
        .a = a.elements(!packed),
        .b = b.elements(true),
        .d = to,
        .sizes = in<std::int32_t>(reinterpret_cast<std::uint64_t>(f.sizes.data()), f.sizes.size()),
        .epilogue =
            acc +
            2 * expression::reading(
                    op::load,
                    {.range = to.range(), .shape = s.one, .type = f.d, .batch = s.count, .batch_stride = s.stride})};
    std::vector<double> expected;
    const auto each = [&](auto&& call) {
      std::int64_t first = 0;
      for (std::int64_t g = 0; g < f.groups(); ++g) {
        const std::int64_t size = f.sizes[static_cast<std::size_t>(g)];
        for (std::int64_t i = 0; i < (packed ? size : f.rows); ++i)
          for (std::int64_t j = 0; j < f.n; ++j) call(packed ? 0 : g, first + i, j, g, i < size);
        if (packed) first += size;
      }
    };
    each([&](auto which, auto i, auto j, auto g, bool computed) {
      double want = d.get(which, i, j).real * (computed ? 2 : 1);
      for (std::int64_t l = 0; computed && l < f.k; ++l) want += a.at(which, i, l) * b.at(g, j, l);
      expected.push_back(want);
    });
    run(r);
    std::size_t next = 0;
    each([&](auto which, auto i, auto j, auto g, bool) {
      ASSERT_EQ(d.get(which, i, j).real, expected[next++]) << g << " " << i << " " << j;
    });
  }
}

TEST_F(cutlass_gemm_grouped, all_groups_may_be_empty) {
  for (const bool packed : {true, false}) {
    const grouped_layout f{{dtype::f16, dtype::f16}, dtype::f32, {0, 0, 0}, 8, 16, 32, packed};
    expect_right_groups(
        f,
        [&](const auto& layout) {
          return reduced(reduced(acc, reduction::sum, reduction_scope::column, layout), reduction::maximum,
                         reduction_scope::all, layout);
        },
        0);
  }
}

TEST_F(cutlass_gemm_grouped, extents_and_the_number_of_groups_may_be_0) {
  const auto with = [](std::vector<std::int32_t> sizes, std::int64_t rows, std::int64_t n, std::int64_t k,
                       bool packed) {
    return grouped_layout{{dtype::bf16, dtype::bf16}, dtype::f32, std::move(sizes), rows, n, k, packed};
  };
  for (const bool packed : {true, false}) {
    for (const grouped_layout& f : {with({0, 0, 0}, 0, 16, 32, packed), with({}, packed ? 8 : 0, 16, 32, packed),
                                    with({3, 0, 5}, 9, 20, 0, packed)})
      expect_right_groups(
          f,
          [&](const grouped_layout& layout) {
            const expression x = 2 * acc + per_group(op::load_row, dtype::f32, layout, layout.n);
            return reduced(reduced(x, reduction::sum, reduction_scope::column, layout), reduction::maximum,
                           reduction_scope::all, layout);
          },
          1e-6);
    expect_right_groups(
        with({3, 0, 5}, 9, 0, 16, packed),
        [&](const auto& layout) { return reduced(acc, reduction::maximum, reduction_scope::all, layout); }, 0);
  }
}

TEST_F(cutlass_gemm_grouped, groups_from_the_first_wrong_size_on_are_not_computed) {
  struct wrong {
    std::vector<std::int32_t> sizes;
    std::int64_t rows;
    bool packed;
    std::int32_t group;
  };
  const wrong all[] = {{{3, -1, 2}, 40, true, 1},          {{-5}, 40, true, 0},
                       {{10, 10, 21, 1}, 40, true, 2},     {{41}, 40, true, 0},
                       {{20, 20, 1}, 40, true, 2},         {{2147483647, 2147483647, 1}, 40, true, 0},
                       {{4, -2147483647, 2}, 40, true, 1}, {{5, 7, 41, 5}, 40, false, 2},
                       {{40, 40, -1}, 40, false, 2},       {{2147483647}, 40, false, 0}};
  for (const wrong& w : all) {
    const grouped_layout f{{dtype::bf16, dtype::bf16}, dtype::f32, w.sizes, w.rows, 24, 32, w.packed};
    expect_groups(
        f,
        [&](const auto& layout) { return reduced(2 * acc, reduction::absolute_maximum, reduction_scope::row, layout); },
        0, w.group, {w.group, w.sizes[static_cast<std::size_t>(w.group)]});
    if (HasFailure()) return;
  }
}

TEST_F(cutlass_gemm_grouped, outputs_of_rows_and_groups_that_are_not_computed_keep_their_content) {
  for (const bool packed : {true, false}) {
    const grouped_layout f{{dtype::f16, dtype::f16}, dtype::f32, {3, 2, -1}, 12, 5, 8, packed};
    stored_matrices stored(dtype::f32, f.matrices(), f.rows, f.n, random),
        rows(dtype::f32, f.matrices(), f.rows, 1, random), columns(dtype::f32, f.groups(), 1, f.n, random),
        numbers(dtype::f32, f.groups(), 1, 1, random);
    const auto memory = [](stored_matrices& m) {
      const auto o = m.operand<access_mode::read>(true);
      const matmul::batch_of_matrices s = matmul::matrices_of(o.shape());
      return expression::memory_operand{
          .range = o.range(), .shape = s.one, .type = m.type(), .batch = s.count, .batch_stride = s.stride};
    };
    expect_groups(f,
                  [&](const auto&) {
                    expression x = expression::writing(acc, memory(stored));
                    x = expression::reducing(x, reduction::sum, reduction_scope::row, memory(rows));
                    x = expression::reducing(x, reduction::sum, reduction_scope::column, memory(columns));
                    return expression::reducing(x, reduction::sum, reduction_scope::all, memory(numbers));
                  },
                  0, 2, {2, -1});
    const auto computed = [&](std::int64_t which, std::int64_t row) {
      return packed ? row < 5 : row < (which == 0 ? 3 : which == 1 ? 2 : 0);
    };
    for (std::int64_t w = 0; w < f.matrices(); ++w)
      for (std::int64_t i = 0; i < f.rows; ++i) {
        EXPECT_EQ(rows.is_poisoned(w, i, 0), !computed(w, i)) << w << " " << i;
        EXPECT_EQ(stored.is_poisoned(w, i, 0), !computed(w, i)) << w << " " << i;
      }
    EXPECT_TRUE(numbers.is_poisoned(2, 0, 0));
    EXPECT_TRUE(columns.is_poisoned(2, 0, 1));
    EXPECT_TRUE(stored.untouched_outside() && rows.untouched_outside() && columns.untouched_outside() &&
                numbers.untouched_outside());
  }
}

}  // namespace
}  // namespace troupe::cutlass
