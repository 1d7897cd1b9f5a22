// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compares lowered graphs with the originals. The reference computes both.
#include <cmath>
#include <deque>
#include <random>
#include <troupe/dnn/sets/lowering.hpp>
#include <troupe/dnn/testing/variable.hpp>

namespace troupe::dnn::sets {
namespace {

using namespace testing;

class dnn_lowering : public ::testing::Test {
 protected:
  value any(const extents& e) {
    std::int64_t n = 1;
    for (const std::int64_t i : e) n *= i;
    variable& out = all_.emplace_back(std::vector<double>(static_cast<std::size_t>(n)), e);
    for (double& x : out.numbers) x = std::uniform_real_distribution<double>(0.1, 2)(random_);
    return out.read();
  }
  // Lowers a graph that computes the values; returns its operations, after comparing what it computes.
  std::string lowered(const std::vector<value>& values, std::int64_t most_held = 1) {
    std::vector<written> to;
    for (const value& v : values)
      to.push_back(all_.emplace_back(std::vector<double>(1), extents(v.extents().begin(), v.extents().end())).write(v));
    const graph g(to);
    EXPECT_FALSE(g.refused()) << g.refused()->what;
    std::vector<std::uint64_t> words(g.encoded_bytes() / sizeof(std::uint64_t));
    g.encode(reinterpret_cast<std::byte*>(words.data()));
    const encoded_graph before(reinterpret_cast<const std::byte*>(words.data()), g.encoded_bytes());
    const lowered_graph after(before, most_held);
    const auto expected = evaluate(before), actual = evaluate(after.graph());
    std::string out;
    for (const encoded_node& n : after.graph().nodes()) {
      out += std::string(out.empty() ? "" : ", ") + std::string(to_string(n.what));
      if (n.what != op::write) continue;
      const auto &want = expected[n.outputs[0]], &got = actual[n.outputs[0]];
      EXPECT_EQ(got.size(), want.size());
      for (std::size_t i = 0; i < want.size() && i < got.size(); ++i)
        EXPECT_NEAR(got[i], want[i], 1e-9 * std::max(1.0, std::fabs(want[i]))) << "element " << i;
    }
    return out;
  }

  std::deque<variable> all_;
  std::mt19937_64 random_{5};
};

TEST_F(dnn_lowering, normalizations_of_a_batch_compute_the_same) {
  const extents e{3, 4, 5, 2}, row{1, 4, 1, 1};
  const value x = any(e);
  const affine a{any(row), any(row)};
  const running_averages running{any(row), any(row)};
  for (const auto& n : {batch_norm(x, 1e-3), batch_norm(x, 1e-3, a), batch_norm(x, 1e-3, a, running)}) {
    std::vector<value> all{relu(n.y) + x, n.mean, n.inverse_deviation};
    if (n.next_mean.why_refused().empty()) all.insert(all.end(), {n.next_mean, n.next_variance});
    EXPECT_EQ(lowered(all).find("normalization, pointwise, pointwise"), 0u);
  }
  EXPECT_EQ(lowered({normalize(x, std::vector<std::size_t>{0, 2}, 1e-3).y}),
            "normalization, pointwise, pointwise, write");
}

TEST_F(dnn_lowering, gradients_of_normalizations_of_a_batch_compute_the_same) {
  const extents e{3, 4, 5}, row{1, 4, 1};
  const value x = any(e), scale = any(row), y = any(e);
  const normalized n = batch_norm(x, 1e-3, affine{scale, any(row)});
  const auto g = normalization_gradient(any(e) * d_relu(y), x, n, scale);
  const std::string operations = lowered({g.dx, g.dscale, g.doffset});
  EXPECT_NE(operations.find("pointwise, pointwise, normalization_gradient, pointwise"), std::string::npos)
      << "the gradient of relu is copied: " << operations;
  lowered({g.dx + 1});
  EXPECT_EQ(lowered({g.dscale}).find("normalization_gradient, pointwise"), std::string::npos) << "nothing reads dx";
}

TEST_F(dnn_lowering, what_a_vendor_computes_is_not_copied) {
  const extents e{3, 4, 5, 5}, row{1, 4, 1, 1};
  const value x = any(e), filters = any({4, 4, 1, 1}), scale = any(row);
  const normalized n = batch_norm(x, 1e-3, affine{scale, any(row)});
  const value dy = convert(convolution(any(e), filters) + any(e), dtype::f32);
  const auto g = normalization_gradient(dy, x, n, scale);
  const std::string operations = lowered({g.dx, g.dscale});
  EXPECT_EQ(operations.find("convert"), operations.rfind("convert")) << operations;
}

TEST_F(dnn_lowering, other_normalizations_stay) {
  const value x = any({3, 4, 5}), scale = any({1, 1, 5}), whole = any({3, 4, 5});
  EXPECT_EQ(lowered({layer_norm(x, 1, 1e-3, affine{scale, scale}).y}), "normalization, write");
  EXPECT_EQ(lowered({batch_norm(x, 1e-3).y}, 15), "normalization, write") << "a block holds them";
  EXPECT_EQ(lowered({normalize(x, std::vector<std::size_t>{0}, 1e-3, affine{whole, whole}).y}), "normalization, write");
  EXPECT_EQ(lowered({batch_norm(x, 1e-3).mean}), "normalization, write") << "nothing reads y";
  // The sums for the gradient of one scale for all channels are not those of a channel.
  const value one = any({1, 1, 1});
  const normalized n = batch_norm(x, 1e-3, affine{one, one});
  EXPECT_EQ(lowered({normalization_gradient(any({3, 4, 5}), x, n, one).dx}).find("normalization_gradient, pointwise"),
            std::string::npos);
}

}  // namespace
}  // namespace troupe::dnn::sets
