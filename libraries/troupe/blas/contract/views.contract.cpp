// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/graph/graph.hpp>

#include "cases.hpp"

namespace troupe::whole {
namespace {

const layout by_rows{size, size, size* size, [](auto i, auto j) { return i * size + j; }};

// Returns the content of `filled(gpu, square, first)` as a matrix that is stored by rows: known<T>(by_rows, first).
template <class T>
matrix<T> rows_of(const device& gpu, extent rows, int first = 1) {
  return {filled<T>(gpu, square, first), rows, size};
}

// C = 2 * A * B + 3 * C
template <class T, class C>
struct multiplication {
  using request = blas::multiplication<T, C>;
  static request make(const device& gpu, extent rows_of_b) {
    return {.a = rows_of<T>(gpu, size),
            .b = rows_of<T>(gpu, rows_of_b, 2),
            .c = rows_of<C>(gpu, size, 3),
            .alpha = 2,
            .beta = 3};
  }
  static request good(const device& gpu) { return make(gpu, size); }
  static request bad(const device& gpu) { return make(gpu, size - 1); }
  static constexpr const char* bad_field = "b is 3 x 4";
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    expect_holds(gpu, r.c, by_rows,
                 numerics::reference::product(2, known<T>(by_rows), known<T>(by_rows, 2), 3, known<C>(by_rows, 3)));
  }
};

// C = 2 * A + 3 * B
template <class T>
struct addition {
  using request = blas::addition<T>;
  static request make(const device& gpu, extent rows_of_b) {
    return {.a = rows_of<T>(gpu, size),
            .b = rows_of<T>(gpu, rows_of_b, 2),
            .c = matrix<T>(gpu.alloc<T>(size * size), size, size),
            .alpha = 2,
            .beta = 3};
  }
  static request good(const device& gpu) { return make(gpu, size); }
  static request bad(const device& gpu) { return make(gpu, size - 1); }
  static constexpr const char* bad_field = "b is 3 x 4";
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    expect_holds(gpu, r.c, by_rows, numerics::reference::sum(2, known<T>(by_rows), 3, known<T>(by_rows, 2)));
  }
};

template <class T>
struct triangular_solution {
  using request = blas::triangular_solution<T>;
  static request make(const device& gpu, extent rows_of_b) {
    return {.a = rows_of<T>(gpu, size), .b = rows_of<T>(gpu, rows_of_b, 2), .diag = blas::diagonal::unit};
  }
  static request good(const device& gpu) { return make(gpu, size); }
  static request bad(const device& gpu) { return make(gpu, size - 1); }
  static constexpr const char* bad_field = "a is 4 x 4";
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    dense x(size, size), a = known<T>(by_rows);
    const auto got = content(gpu, r.b);
    for (std::int64_t i = 0; i < size; ++i)
      for (std::int64_t j = 0; j < size; ++j) {
        x(i, j) = got[static_cast<std::size_t>(by_rows.place(i, j))];
        if (i <= j) a(i, j) = i == j ? 1 : 0;
      }
    const answers back = numerics::reference::product(a, x);
    const dense right = known<T>(by_rows, 2);
    for (std::int64_t i = 0; i < size; ++i)
      for (std::int64_t j = 0; j < size; ++j) EXPECT_EQ(back(i, j).value, right(i, j)) << i << ", " << j;
  }
};

using cases = testing::Types<multiplication<float, float>, multiplication<complex64, complex64>,
                             multiplication<std::int8_t, std::int32_t>, addition<float>, addition<complex128>,
                             triangular_solution<double>>;
static_assert(covers<cases, blas::all_views>);
INSTANTIATE_TYPED_TEST_SUITE_P(blas_views, library_actor, cases);

class blas_view_requests : public testing::Test {
 protected:
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({}));
};

TEST_F(blas_view_requests, reports_of_faults_name_the_operands_of_the_view) {
  const matrix<float> rows = rows_of<float>(gpu, size), columns = rows.transposed();
  blas::multiplication<float> r{.a = rows, .b = rows, .c = columns};
  EXPECT_FALSE(troupe::detail::info_for(r).exchanges_operands);
  r.c = rows;
  const request_info& info = troupe::detail::info_for(r);
  EXPECT_TRUE(info.exchanges_operands) << "a result stored by rows is computed as its transpose";
  EXPECT_EQ(info.label, "blas.multiplication<f32>");
  EXPECT_EQ(info.opcode, opcode_of<blas::gemm<float>>) << "so that requests of both kinds can share a call";
}

TEST_F(blas_view_requests, a_graph_that_reads_a_stale_view_is_refused_naming_the_operand) {
  const matrix<float> a = rows_of<float>(gpu, size), b = rows_of<float>(gpu, size, 2),
                      c(gpu.alloc<float>(size * size), size, size);
  graph::recorder rec(gpu);
  ASSERT_TRUE(rec.add(blas::multiplication<float>{.a = a, .b = b, .c = c}));
  const graph::graph g = rec.finish();
  const buffer<std::byte> bytes = b.memory().as<std::byte>();
  const memory::fill impossible{.target = bytes, .bytes = -1, .pattern = {}, .pattern_bytes = 1};
  EXPECT_TRUE(is_error(error_of(gpu.ask(impossible)), reaction::caller_bug, {"bytes"}));
  EXPECT_TRUE(is_error(error_of(gpu.ask(graph::launch{.graph = g})), reaction::caller_bug,
                       {"blas.multiplication<f32>", "reads b, f32[16]"}));
}

}  // namespace
}  // namespace troupe::whole
