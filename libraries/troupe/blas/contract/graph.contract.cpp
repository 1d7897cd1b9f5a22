// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Graphs of requests that use temporary memory of their lane, lists, or factors in memory. A recorded request must not
// depend on what else runs, or when.
#include <cmath>
#include <troupe/blas/blas.hpp>

#include <tests/contract/kernels/graph_programs.hpp>

namespace troupe::whole {
namespace {

class a_graph_of_blas : public testing::Test {
 protected:
  static constexpr int n = 32;
  struct place {
    buffer<float> a, b, c, x, y, total;
    std::vector<buffer<float>> parts;
  };
  place make() const {
    const auto some = [&](std::size_t count, float first) {
      std::vector<float> v(count);
      for (std::size_t i = 0; i < count; ++i) v[i] = first + static_cast<float>(i % 7) / 8;
      return uploaded(gpu_, v);
    };
    place p{some(n * n, -0.4f), some(n * n, -0.3f), some(n * n, 0), some(64, 1), some(64, 0), some(1, 0), {}};
    for (int i = 0; i < 20; ++i) p.parts.push_back(some(16, static_cast<float>(i)));
    return p;
  }
  // Sends requests of each kind: grouped ones, ones that need temporary memory, and a kernel.
  template <class Take>
  void all(const place& p, Take&& take) const {
    // Every request but the batch at the end gives the same result in each repetition, so that no value grows without
    // bound.
    take(memory::copy{.source = p.a.as<std::byte>(), .target = p.c.as<std::byte>(), .bytes = p.a.bytes()});
    take(memory::copy{.source = p.x.as<std::byte>(), .target = p.y.as<std::byte>(), .bytes = p.x.bytes()});
    take(blas::gemm<float>{.a = p.a, .b = p.b, .c = p.c, .m = n, .n = n, .k = n, .alpha = 0.1f, .beta = 0.5f});
    take(blas::axpy<float>{.x = p.x, .y = p.y, .n = 64, .alpha = 0.25f});
    take(k_.scale(0.99f, p.y));
    take(blas::dot<float>{.x = p.x, .y = p.y, .n = 64, .result = p.total});
    take(blas::scal<float>{.x = p.total, .n = 1, .alpha = 0.001f});
    take(blas::axpy<float>{.x = p.x, .y = p.c, .n = 64, .alpha = p.total});
    take(blas::gemv<float>{.a = p.c, .x = p.x, .y = p.y, .m = n, .n = n, .alpha = p.total, .beta = 0.5f});
    blas::gemm_batched<float> batch{.a = {}, .b = {}, .c = {}, .m = 4, .n = 4, .k = 4, .alpha = 0.01f, .beta = 0.9f};
    for (std::size_t i = 0; i + 2 < p.parts.size(); i += 3) {
      batch.a.push_back(p.parts[i]);
      batch.b.push_back(p.parts[i + 1]);
      batch.c.push_back(p.parts[i + 2]);
    }
    take(batch);
  }
  std::vector<std::vector<float>> content(const place& p) const {
    std::vector<std::vector<float>> out;
    for (const auto& b : {p.c, p.x, p.y, p.total, p.parts[2], p.parts[17]}) {
      const auto got = gpu_.download(b).get();
      EXPECT_OK(got);
      out.push_back(got ? *got : std::vector<float>());
    }
    return out;
  }

  runtime runtime_;
  device gpu_ = runtime_.open_device(with_test_engines({.when_full = when_full::wait}));
  graph_kernels k_{gpu_};
};

TEST_F(a_graph_of_blas, computes_the_same_as_its_requests_in_a_hundred_launches) {
  for (const std::uint32_t branches : {1u, 4u}) {
    const place recorded = make(), asked = make(), other = make();
    graph::recorder rec(gpu_, {.branches = branches});
    all(recorded, [&](const auto& r) {
      const graph::node added = rec.add(r);
      EXPECT_TRUE(added) << added.error().text();
    });
    const graph::graph g = rec.finish();
    for (int i = 0; i < 100; ++i) {
      gpu_.tell(graph::launch{.graph = g});
      all(asked, [&](const auto& r) { gpu_.tell(r); });
      // uses the lanes' memory between the launches of the graph
      if (i % 10 == 0) all(other, [&](const auto& r) { gpu_.tell(r); });
    }
    const auto found = content(recorded);
    EXPECT_EQ(found, content(asked)) << branches << " branches";
    for (const auto& one : found)
      for (const float v : one) EXPECT_TRUE(std::isfinite(v));
  }
}

TEST_F(a_graph_of_blas, changes_factors_and_buffers_between_launches) {
  const auto x = uploaded(gpu_, counting(64, 1)), y = uploaded(gpu_, counting(64)), z = uploaded(gpu_, counting(64));
  graph::recorder rec(gpu_);
  const auto axpy = [&](float alpha) { return blas::axpy<float>{.x = x, .y = y, .n = 64, .alpha = alpha}; };
  const graph::node changing = rec.add(axpy(0));
  const graph::graph g = rec.finish();
  for (int i = 1; i <= 50; ++i) {
    EXPECT_OK(g.set(changing, axpy(static_cast<float>(i))));
    gpu_.tell(graph::launch{.graph = g});
  }
  EXPECT_OK(g.rebind(y, z));
  gpu_.tell(graph::launch{.graph = g});
  const auto in_y = gpu_.download(y).get().value(), in_z = gpu_.download(z).get().value();
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(in_y[static_cast<std::size_t>(i)], static_cast<float>(i + 1275 * (i + 1)));
    EXPECT_EQ(in_z[static_cast<std::size_t>(i)], static_cast<float>(i + 50 * (i + 1)));
  }
}

TEST_F(a_graph_of_blas, refuses_requests_that_return_a_value) {
  const auto x = uploaded(gpu_, counting(64));
  graph::recorder rec(gpu_);
  const graph::node n = rec.add(blas::dot<float>{.x = x, .y = x, .n = 64});
  EXPECT_FALSE(n);
  EXPECT_TRUE(is_error(n.error(), reaction::unsupported, {"blas.dot<f32>", ".result"}));
}

TEST_F(a_graph_of_blas, repeats_an_iteration_until_it_converges) {
  // Halves x 8 times in a loop whose flag counts down on the device.
  const auto x = uploaded(gpu_, counting(64)), ignored = uploaded<float>(gpu_, {0});
  const auto left = uploaded<std::uint32_t>(gpu_, {8});
  graph::recorder rec(gpu_);
  rec.while_(left, [&](graph::recorder& body) {
    body.add(blas::scal<float>{.x = x, .n = 64, .alpha = 0.5f});
    body.add(k_.down(left, ignored));
  });
  EXPECT_OK(gpu_.ask(graph::launch{.graph = rec.finish()}).get());
  EXPECT_EQ(gpu_.download(x).get().value(), times(counting(64), 1.0f / 256));
}

TEST_F(a_graph_of_blas, keeps_the_shapes_of_views_when_a_buffer_is_replaced) {
  const auto a = gpu_.upload(std::vector<float>{1, 2, 3, 4, 5, 6}),
             other = gpu_.upload(std::vector<float>{6, 5, 4, 3, 2, 1}), c = gpu_.alloc<float>(9, {.zeroed = true});
  const matrix<float> whole(a, 2, 3), corner = matrix<float>(c, 3, 3).block(1, 1, 2, 2);
  graph::recorder rec(gpu_);
  ASSERT_TRUE(rec.add(blas::multiplication<float>{.a = whole, .b = whole.transposed(), .c = corner}));
  const graph::graph g = rec.finish();
  gpu_.tell(graph::launch{.graph = g});
  EXPECT_EQ(gpu_.download(c).get().value(), (std::vector<float>{0, 0, 0, 0, 14, 32, 0, 32, 77}));
  EXPECT_OK(g.rebind(a, other));
  gpu_.tell(graph::launch{.graph = g});
  EXPECT_EQ(gpu_.download(c).get().value(), (std::vector<float>{0, 0, 0, 0, 77, 32, 0, 32, 14}));
}

TEST_F(a_graph_of_blas, errors_name_the_fields_of_the_request_on_views) {
  const matrix<float> a(gpu_.upload(std::vector<float>(6)), 2, 3), c(gpu_.alloc<float>(4, {.zeroed = true}), 2, 2);
  const auto text = [&](const auto& r) { return error_of(gpu_.ask(r)).text(); };
  EXPECT_EQ(text(blas::multiplication<float>{.a = a, .b = a, .c = c}),
            "blas.multiplication<f32>: b is 2 x 3; expected 3 rows, as many as a has columns: a is 2 x 3");
  EXPECT_NE(
      text(blas::addition<float>{.a = a, .b = a, .c = c}).find("c is 2 x 2; expected 2 x 3 (the extents of a and b)"),
      std::string::npos);
  EXPECT_NE(text(blas::multiplication<float>{.a = a, .b = matrix<float>(a.memory(), 3, 4), .c = c})
                .find("matrix: 3 x 4 elements with strides 4 and 1 span 12 elements; the buffer has 6"),
            std::string::npos);
  const matrix<float> sparse(gpu_.alloc<float>(40), 2, 3, matrix_strides{15, 2});
  EXPECT_NE(text(blas::addition<float>{.a = sparse, .b = a, .c = matrix<float>(gpu_.alloc<float>(6), 2, 3)})
                .find("has strides 15 and 2; expected contiguous rows or contiguous columns"),
            std::string::npos);
}

}  // namespace
}  // namespace troupe::whole
