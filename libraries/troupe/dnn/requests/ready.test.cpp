// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compares ready requests with their definitions, and tests that a change of any of their fields changes the results.
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <troupe/dnn/testing/all_ready_cases.hpp>
#include <troupe/dnn/testing/encoding.hpp>
#include <troupe/request/checker.hpp>

namespace troupe::dnn {
namespace {

using namespace testing;

template <class Case>
class dnn_ready : public ::testing::Test {
 protected:
  using request = typename Case::request;

  tensor_in_memory tensor_of(const extents& e) {
    numbers values(static_cast<std::size_t>(elements_of(dense(e))));
    for (double& v : values) v = uniform(random);
    const numbers& values_held = held.emplace_back(std::move(values));
    return {memory_range{{}, reinterpret_cast<std::uint64_t>(values_held.data()), values_held.size() * sizeof(double)},
            dense(e), dtype::f64};
  }
  tensor_in_memory whole(const extents& e, const std::vector<std::int32_t>& n) {
    const auto& values_held = held_whole.emplace_back(n);
    return {memory_range{
                {}, reinterpret_cast<std::uint64_t>(values_held.data()), values_held.size() * sizeof values_held[0]},
            dense(e), dtype::i32};
  }
  tensor_source source() {
    return {[this](const extents& e) { return tensor_of(e); },
            [this](const extents& e, const std::vector<std::int32_t>& n) { return whole(e, n); }};
  }

  /// The results of a graph, by the address of their memory, or the reason why the graph is refused.
  struct outcome {
    std::string refused;
    std::map<std::uint64_t, numbers> results;
    computation_options options = {};
    bool operator==(const outcome&) const = default;
  };
  static outcome outcome_of(const graph& g, const computation_options& options = {}) {
    outcome out{.refused = {}, .results = {}, .options = options};
    if (g.refused()) return {g.refused()->what + "; expected " + g.refused()->expected, {}, {}};
    std::vector<std::uint64_t> encoded(g.encoded_bytes() / sizeof(std::uint64_t));
    g.encode(reinterpret_cast<std::byte*>(encoded.data()));
    const encoded_graph encoded_view(reinterpret_cast<const std::byte*>(encoded.data()), g.encoded_bytes());
    EXPECT_FALSE(encoded_view.empty());
    const auto values = evaluate(encoded_view);
    for (const encoded_node& n : encoded_view.nodes())
      if (n.what == op::write)
        out.results[encoded_view.memory()[encoded_view.tensors()[n.outputs[0]].memory].address] = values[n.outputs[0]];
    return out;
  }
  static outcome outcome_of(const request& r) {
    const computation c = r.to_request();
    return outcome_of(c.graph, c.options);
  }

  std::mt19937_64 random{7};
  std::uniform_real_distribution<double> uniform{0.1, 1.5};
  std::deque<numbers> held;
  std::deque<std::vector<std::int32_t>> held_whole;
};
TYPED_TEST_SUITE(dnn_ready, all_ready_cases);

TYPED_TEST(dnn_ready, a_request_computes_its_definition) {
  const auto r = TypeParam::make(this->source());
  const auto got = this->outcome_of(r), want = this->outcome_of(graph(TypeParam::meaning(r)));
  ASSERT_EQ(want.refused, "");
  ASSERT_EQ(got.refused, "");
  ASSERT_EQ(got.results.size(), want.results.size());
  for (const auto& [address, values] : want.results) {
    const auto at = got.results.find(address);
    ASSERT_NE(at, got.results.end());
    ASSERT_EQ(at->second.size(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::isinf(values[i]))
        EXPECT_EQ(at->second[i], values[i]) << i;
      else
        EXPECT_NEAR(at->second[i], values[i], 1e-12) << i;
    }
  }
  EXPECT_EQ(name_of<typename TypeParam::request>(), TypeParam::request::request_name);
}

TYPED_TEST(dnn_ready, a_change_of_any_field_changes_the_results_or_is_refused) {
  using request = typename TypeParam::request;
  const request r = TypeParam::make(this->source());
  const auto before = this->outcome_of(r);
  std::set<std::string> changed;
  for (const auto& c : joined(TypeParam::changes(this->source()), changes_of_options<request>())) {
    request other = r;
    c.make(other);
    EXPECT_FALSE(this->outcome_of(other) == before) << c.field << " makes no difference";
    changed.insert(c.field);
  }
  EXPECT_EQ(changed, names_with_options(request::request_fields));
}

TYPED_TEST(dnn_ready, a_refusal_names_a_field_of_the_request) {
  using request = typename TypeParam::request;
  const request r = TypeParam::make(this->source());
  for (const auto& c : TypeParam::changes(this->source())) {
    request other = r;
    c.make(other);
    const computation sent = other.to_request();
    if (!sent.graph.refused()) continue;
    const troupe::detail::ready_and_sent<request> both{other, sent};
    checker check(both, nullptr, 0);
    const void* const field = check.ready_field(sent.graph.refused()->input);
    EXPECT_NE(field, nullptr) << c.field << ": " << sent.graph.refused()->what << "; " << sent.graph.refused()->input;
    EXPECT_NE(sent.graph.refused()->is, "") << c.field;
    std::size_t written = 0;
    for (const auto& m : sent.graph.memory()) written += m.mode == access_mode::write;
    EXPECT_GT(written, 0u) << "readers of its results must fail too";
  }
}

}  // namespace
}  // namespace troupe::dnn
