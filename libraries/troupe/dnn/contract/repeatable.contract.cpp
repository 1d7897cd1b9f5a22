// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// With repeatability::always, the results of a graph have the same bits in each run and on each worker.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <troupe/dnn/dnn.hpp>

#include <tests/contract/contract.hpp>

namespace troupe::whole {
namespace {

using dnn::value;
using extents = std::vector<std::int64_t>;

class dnn_repeatability : public testing::TestWithParam<dtype> {
 protected:
  // Returns an input of the tested type, with the same elements each time.
  value given(const extents& e) {
    std::size_t n = 1;
    for (const std::int64_t i : e) n *= static_cast<std::size_t>(i);
    std::mt19937 random(static_cast<unsigned>(inputs_.size()));
    std::normal_distribution<float> numbers(0, 1);
    std::vector<float> content(n);
    for (float& x : content) x = numbers(random);
    const auto memory = gpu.alloc<float>(n);
    inputs_.push_back({memory, content, dnn::read(tensor<float>(memory, as_extents(e)))});
    return rounded(inputs_.back().read);
  }
  value rounded(const value& x) const { return dnn::convert(x, GetParam()); }

  // Computes the values and their gradients many times, also on the restarted worker after a fault, and compares the
  // bits of the results.
  void expect_the_same_bits(const std::vector<value>& values) {
    value loss = 0;
    std::vector<dnn::written> to;
    std::vector<buffer<float>> memory;
    const auto add = [&](const value& v) {
      ASSERT_EQ(v.why_refused(), "");
      std::size_t n = 1;
      for (const std::int64_t i : v.extents()) n *= static_cast<std::size_t>(i);
      memory.push_back(gpu.alloc<float>(n));
      to.push_back(write(v, tensor<float>(memory.back(), as_extents({v.extents().begin(), v.extents().end()}))));
    };
    std::vector<value> variables;
    for (const auto& i : inputs_) variables.push_back(i.read);
    for (const value& v : values) {
      std::vector<std::size_t> all(v.rank());
      std::iota(all.begin(), all.end(), std::size_t{0});
      loss = loss + reshape(reduce(v * v, dnn::reduction_kind::mean, all), {1});
      add(v);
    }
    for (const value& d : gradients(loss, variables)) add(d);
    const dnn::computation request{.graph = dnn::graph(to), .options = {.repeatability = dnn::repeatability::always}};
    const auto results = [&] {
      EXPECT_OK(gpu.ask(request).get());
      std::vector<std::vector<float>> out;
      for (const auto& m : memory) out.push_back(gpu.download(m).get().value());
      return out;
    };
    const auto upload = [&] {
      for (const auto& i : inputs_) gpu.upload(i.memory, i.content);
    };
    upload();
    const auto first = results();
    for (const auto& r : first) EXPECT_TRUE(std::any_of(r.begin(), r.end(), [](float x) { return x != 0; }));
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(are_the_same(first, results())) << "run " << i;
    kill_and_wait(gpu);
    upload();
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(are_the_same(first, results())) << "run " << i << " after a fault";
    EXPECT_EQ(gpu.statistics().generation, 2u);
  }

  static device_options options() {
    device_options o = with_test_engines();
    o.restarts = 10;
    return o;
  }
  runtime rt;
  device gpu = rt.open_device(options());

 private:
  static std::vector<extent> as_extents(const extents& e) { return {e.begin(), e.end()}; }
  static bool are_the_same(const std::vector<std::vector<float>>& a, const std::vector<std::vector<float>>& b) {
    for (std::size_t i = 0; i < a.size(); ++i)
      if (a[i].size() != b[i].size() || std::memcmp(a[i].data(), b[i].data(), a[i].size() * sizeof(float)) != 0)
        return false;
    return true;
  }

  struct input {
    buffer<float> memory;
    std::vector<float> content;
    value read;
  };
  std::vector<input> inputs_;
};

TEST_P(dnn_repeatability, convolutions_and_normalizations_have_the_same_bits_in_each_run) {
  const value x = given({8, 16, 19, 19});
  const value h = convolution(x, given({24, 16, 3, 3}), {.padding = 1});
  const value n = relu(batch_norm(h, 1e-5, dnn::affine{given({1, 24, 1, 1}), given({1, 24, 1, 1})}).y);
  const value smaller = convolution(rounded(n), given({32, 24, 3, 3}), {.padding = 1, .stride = 2});
  const value g = group_norm(smaller, 4, 1e-5).y;
  expect_the_same_bits({mean_pool(g, 2), max_pool(n, 3, {.stride = 2}),
                        reduce(h, dnn::reduction_kind::norm2, {0, 2, 3}),
                        reduce(g, dnn::reduction_kind::mean, {0, 1, 2, 3})});
}

TEST_P(dnn_repeatability, attention_has_the_same_bits_in_each_run) {
  dnn::attention_options o;
  o.window = dnn::causal;
  const value k = given({2, 2, 150, 32}), v = given({2, 2, 150, 32});
  const value y = attention(given({2, 4, 150, 32}), k, v, o).y;
  const value few = attention(given({2, 4, 1, 32}), k, v).y;  // the keys are divided among threads or blocks
  const value wide = dnn::product(rounded(rms_norm(y, 1, 1e-5).y), given({1, 1, 32, 96}));
  expect_the_same_bits({few, log_softmax(gelu(wide), 3), layer_norm(y, 2, 1e-5).y});
}

TEST_P(dnn_repeatability, recurrences_have_the_same_bits_in_each_run) {
  const value x = given({14, 9, 24});
  const dnn::recurrent_result r = dnn::recurrence(x, {given({4 * 20, 24}), given({4 * 20, 20})}, {});
  const dnn::recurrent_result s = dnn::recurrence(
      rounded(r.y), {given({3 * 12, 20}), given({3 * 12, 12}), dnn::recurrent_weights::bias{given({36}), given({36})}},
      {.cell = dnn::recurrent_cell::gru, .reversed = true});
  expect_the_same_bits({s.y, r.c});
}

INSTANTIATE_TEST_SUITE_P(types, dnn_repeatability, testing::Values(dtype::f32, dtype::f16, dtype::bf16),
                         [](const auto& i) { return std::string(to_string(i.param)); });

}  // namespace
}  // namespace troupe::whole
