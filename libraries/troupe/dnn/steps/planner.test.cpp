// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests plans of random graphs with random fusion matches: runs them, and compares their results with the reference.
#include <algorithm>
#include <numeric>
#include <set>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/dnn.hpp>
#include <troupe/dnn/graph/producer.hpp>
#include <troupe/dnn/steps/graph_analysis.hpp>
#include <troupe/dnn/steps/planner.hpp>
#include <troupe/dnn/testing/random_graphs.hpp>
#include <troupe/dnn/testing/step_machine.hpp>

namespace troupe::dnn {
namespace {

using namespace testing;

// Random connected fusion matches of a graph. They need random layouts of their tensors.
class random_matches {
 public:
  random_matches(const encoded_graph& g, numerics::random_source& random)
      : graph_(g), random_(random), uses_(g), reads_(g), owner_(g.nodes().size(), nobody) {
    const std::int64_t count = random.between(0, 4);
    for (std::int64_t i = 0; i < count; ++i) grow();
    for (const auto& nodes : pieces_)
      if (!nodes.empty()) add_match(nodes);
    while (drop_one()) {
    }
  }
  const std::vector<fusion_match>& all() const noexcept { return all_; }

 private:
  static constexpr std::size_t nobody = SIZE_MAX;
  std::span<const std::uint16_t> inputs_of(std::size_t n) const {
    return std::span(graph_.nodes()[n].inputs).first(graph_.nodes()[n].input_count);
  }
  std::span<const std::uint16_t> outputs_of(std::size_t n) const {
    return std::span(graph_.nodes()[n].outputs).first(graph_.nodes()[n].output_count);
  }
  std::vector<std::size_t> readers_of(std::uint16_t t) const {
    std::vector<std::size_t> out;
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n)
      if (std::ranges::count(inputs_of(n), t) != 0) out.push_back(n);
    return out;
  }

  // Returns true if a node writes to memory that the graph also reads. Such a node must not be part of a match.
  bool overwrites_read_memory(std::size_t n) const {
    return graph_.nodes()[n].what == op::write && reads_.is_read(graph_.tensors()[outputs_of(n)[0]].memory);
  }

  // Chooses a free node, then repeatedly a neighbor of the chosen nodes.
  void grow() {
    std::set<std::size_t> nodes,
        next{static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(graph_.nodes().size()) - 1))};
    for (std::int64_t size = random_.between(1, 5); size > 0 && !next.empty(); --size) {
      const auto at = std::next(next.begin(), random_.between(0, static_cast<std::int64_t>(next.size()) - 1));
      const std::size_t n = *at;
      next.erase(at);
      if (owner_[n] != nobody || overwrites_read_memory(n)) continue;
      owner_[n] = pieces_.size(), nodes.insert(n);
      for (const std::uint16_t t : inputs_of(n))
        if (const auto source = uses_.source_of(t); source && owner_[*source] == nobody) next.insert(*source);
      for (const std::uint16_t t : outputs_of(n))
        for (const std::size_t reader : readers_of(t))
          if (owner_[reader] == nobody) next.insert(reader);
    }
    pieces_.push_back(nodes);
  }

  static bool ends_contiguously(const tensor_shape& s) { return s.strides[s.rank - 1] == 1; }

  // Returns the shape with contiguous strides, with the axes in a random order.
  tensor_shape with_random_layout(tensor_shape s) {
    std::vector<std::size_t> order(s.rank);
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = s.rank; i-- > 1 && random_.between(0, 1) == 0;)
      std::swap(order[i], order[static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(i)))]);
    std::int64_t stride = 1;
    for (std::size_t i = s.rank; i-- > 0; stride *= s.extents[order[i]]) s.strides[order[i]] = stride;
    return s;
  }
  fusion_match::tensor needed(std::uint16_t t) {
    const encoded_tensor& s = graph_.tensors()[t];
    return {t, random_.one_of({dtype::f32, dtype::f64}), with_random_layout(s.shape), random_.between(0, 4) == 0};
  }

  void add_match(const std::set<std::size_t>& nodes) {
    fusion_match match;
    std::set<std::uint16_t> read;
    for (const std::size_t n : nodes) {
      match.nodes.push_back(static_cast<std::uint16_t>(n));
      for (const std::uint16_t t : inputs_of(n))
        if (const auto source = uses_.source_of(t);
            source ? !nodes.contains(*source) : graph_.tensors()[t].where != place::number)
          read.insert(t);
      for (const std::uint16_t t : outputs_of(n)) {
        const auto readers = readers_of(t);
        const bool is_memory = graph_.tensors()[t].where == place::memory;
        const bool is_read = std::ranges::any_of(readers, [&](std::size_t r) { return !nodes.contains(r); });
        if (is_memory)
          match.outputs.push_back({t, graph_.tensors()[t].type, graph_.tensors()[t].shape});
        else if (is_read)
          match.outputs.push_back(needed(t));
      }
    }
    for (const std::uint16_t t : read) {
      match.inputs.push_back(needed(t));
      if (random_.between(0, 1) == 0) match.inputs.back().accepts = ends_contiguously;
    }
    match.workspace = static_cast<std::uint64_t>(random_.between(0, 300));
    std::size_t begin = 0;
    for (const fusion_match::tensor& t : match.inputs)
      if (const auto source = uses_.source_of(t.number)) begin = std::max(begin, *source + 1);
    if (begin > match.nodes.back() || match.outputs.empty()) return release(match);
    match.at = position_of(match, uses_);
    all_.push_back(std::move(match));
  }
  void release(const fusion_match& match) {
    for (const std::uint16_t n : match.nodes) owner_[n] = nobody;
  }

  // Drops a match if one of its outputs is read before the match is computed. Returns false if there is no such match.
  bool drop_one() {
    const auto at_of = [&](std::size_t node) {
      for (const fusion_match& match : all_)
        if (std::ranges::count(match.nodes, node) != 0) return std::size_t{match.at};
      return node;
    };
    for (auto match = all_.begin(); match != all_.end(); ++match)
      for (const fusion_match::tensor& t : match->outputs)
        for (const std::size_t reader : readers_of(t.number)) {
          if (std::ranges::count(match->nodes, reader) != 0 || at_of(reader) > match->at) continue;
          release(*match);
          all_.erase(match);
          return true;
        }
    return false;
  }

  const encoded_graph& graph_;
  numerics::random_source& random_;
  const def_use uses_;
  const read_set reads_;
  std::vector<std::size_t> owner_;  // for each node: the index of its set of nodes in `pieces_`
  std::vector<std::set<std::size_t>> pieces_;
  std::vector<fusion_match> all_;
};

class dnn_planner : public random_graphs {
 protected:
  static std::string description_of(const encoded_graph& g, const std::vector<fusion_match>& matches) {
    std::string out;
    for (std::size_t i = 0; i < g.nodes().size(); ++i) out += cat(i == 0 ? "" : ", ", to_string(g.nodes()[i].what));
    for (const fusion_match& match : matches) {
      out += cat("; match at ", match.at, ":");
      for (const std::uint16_t n : match.nodes) out += cat(" ", n);
    }
    return out + "; " + numerics::how_to_repeat();
  }
};

TEST_F(dnn_planner, plans_with_fusion_matches_compute_the_results_of_the_reference) {
  std::size_t matched = 0;
  for (int i = 0; i < 1500 && !HasFailure(); ++i) {
    const drawn d = draw();
    const encoded_graph g = d.encoded();
    ASSERT_FALSE(g.empty());
    const random_matches matches(g, random);
    SCOPED_TRACE(description_of(g, matches.all()));
    matched += matches.all().size();
    const auto expected = evaluate(g);
    const elementwise_limits most = limits();
    const step_list all = steps_of(g, most, matches.all());
    for (const auto& step : all.steps)
      if (const auto* const k = std::get_if<elementwise_kernel>(&step)) {
        EXPECT_LE(k->operations.size(), most.operations);
        EXPECT_LE(k->operands.size(), most.operands);
      }
    step_machine(g, all, matches.all()).run();
    for (const encoded_node& n : g.nodes())
      if (n.what == op::write) expect_near(written_to(g, n.outputs[0]), expected[n.outputs[0]]);
  }
  EXPECT_GT(matched, 1000u);
}

TEST_F(dnn_planner, each_match_becomes_one_step_with_its_workspace) {
  for (int i = 0; i < 300 && !HasFailure(); ++i) {
    const drawn d = draw();
    const encoded_graph g = d.encoded();
    const random_matches matches(g, random);
    const step_list all = steps_of(g, {}, matches.all());
    std::vector<bool> computed(matches.all().size());
    for (const auto& step : all.steps)
      if (const auto* s = std::get_if<fused_step>(&step)) {
        EXPECT_FALSE(computed[s->match]) << description_of(g, matches.all());
        computed[s->match] = true;
        EXPECT_EQ(s->workspace.is_buffer, matches.all()[s->match].workspace != 0);
      }
    EXPECT_EQ(std::ranges::count(computed, false), 0) << description_of(g, matches.all());
  }
}

// Plans of graphs as programs write them.
class dnn_plans : public ::testing::Test {
 protected:
  static value given(dtype type, const extents& e) { return value(at<access_mode::read>(type, e, next_place())); }
  static written to(const value& v, dtype type) {
    return {v, at<access_mode::write>(type, extents(v.extents().begin(), v.extents().end()), next_place())};
  }
  static written in_place(const value& v, const value& of) {
    const in_any& m = *of.from().memory;
    return {v, out_any(m.range(), m.shape(), m.type())};
  }
  // Plans a graph. A vendor computes its attention.
  step_list plan(const std::vector<written>& all, const elementwise_limits& most = {}) {
    const graph g(all);
    EXPECT_FALSE(g.refused());
    words_.assign((g.encoded_bytes() + 7) / 8, 0);
    g.encode(reinterpret_cast<std::byte*>(words_.data()));
    encoded_ = encoded_graph(reinterpret_cast<const std::byte*>(words_.data()), g.encoded_bytes());
    graph_analysis a(encoded_, std::vector<bool>(encoded_.memory().size(), true));
    std::vector<fusion_match> matches;
    for (std::size_t i = 0; i < encoded_.nodes().size(); ++i)
      if (encoded_.nodes()[i].what == op::attention) a.add(matches.emplace_back(attention_at(a, i)));
    return steps_of(encoded_, most, matches);
  }
  // Returns the elements that the elementwise kernels of a plan write.
  static std::int64_t written_by_kernels(const step_list& all) {
    std::int64_t out = 0;
    for (const auto& step : all.steps)
      if (const auto* const k = std::get_if<elementwise_kernel>(&step))
        for (const auto& o : k->operations)
          if (o.what == elementwise_kernel::operation::kind::write) out += elements_of(k->operands[o.operand].shape);
    return out;
  }

  encoded_graph encoded_;

 private:
  static std::uint64_t next_place() {
    static std::uint64_t last = 0;
    return (++last) << 40;
  }
  template <access_mode M>
  static any_operand<M> at(dtype type, const extents& e, std::uint64_t address) {
    return {memory_range{{}, address, static_cast<std::uint64_t>(elements_of(dense(e))) * bytes_of(type)}, dense(e),
            type};
  }
  static fusion_match attention_at(const graph_analysis& g, std::size_t node) {
    fusion_match m{.nodes = {static_cast<std::uint16_t>(node)}, .inputs = {}, .outputs = {}};
    const encoded_node& n = g.node(node);
    for (std::size_t k = 0; k < n.input_count; ++k)
      m.inputs.push_back({n.inputs[k], dtype::f16, expected_shape(g, n.inputs[k])});
    const std::uint16_t y = follow_result(g, n.outputs[0], dtype::f16, m, [](std::uint16_t) { return true; });
    m.outputs.push_back({y, dtype::f16, wanted_shape(g.graph, g.uses, y)});
    m.outputs.push_back(g.dense_operand(n.outputs[1], dtype::f32));
    m.at = position_of(m, g.uses);
    return m;
  }

  std::vector<std::uint64_t> words_;
};

TEST_F(dnn_plans, an_optimizer_replaces_weights_and_moments_in_one_pass) {
  const extents all{1000};
  const value w = given(dtype::f32, all), dw = given(dtype::f32, all), m0 = given(dtype::f32, all),
              v0 = given(dtype::f32, all), count = given(dtype::f32, {1});
  const value n = count + 1, m = 0.9 * m0 + 0.1 * dw, v = 0.99 * v0 + 0.01 * dw * dw;
  const value next = w * 0.999 - 0.01 / (1 - pow(0.9, n)) * m / (sqrt(v / (1 - pow(0.99, n))) + 1e-8);
  const step_list steps =
      plan({in_place(m, m0), in_place(n, count), in_place(v, v0), in_place(next, w), to(next, dtype::bf16)});
  EXPECT_EQ(steps.steps.size(), 3u) << "numbers, weights, and the number of steps";
  EXPECT_EQ(written_by_kernels(steps) / 1000, 4);
  EXPECT_LT(steps.bytes, 4096u);
}

TEST_F(dnn_plans, attention_reads_slices_of_one_tensor_and_writes_what_the_next_product_reads) {
  const std::int64_t n = 2, tokens = 8, heads = 4, width = 16;
  const value x = given(dtype::f16, {n, tokens, 3 * heads * width});
  const value parts = transpose(reshape(x, {n, tokens, 3, heads, width}), {2, 0, 3, 1, 4});
  const auto part = [&](std::int64_t which) { return reshape(slice(parts, 0, which, 1), {n, heads, tokens, width}); };
  const value y = convert(attention(part(0), part(1), part(2)).y, dtype::f16);
  const value joined = reshape(transpose(y, {0, 2, 1, 3}), {n, tokens, heads * width});
  const step_list steps = plan({to(product(joined, given(dtype::f16, {1, heads * width, 8})), dtype::f32)});
  ASSERT_FALSE(steps.steps.empty());
  EXPECT_TRUE(std::holds_alternative<fused_step>(steps.steps[0])) << "nothing is copied before";
  const auto& attended = std::get<fused_step>(steps.steps[0]);
  EXPECT_EQ(attended.outputs[0].shape.strides[2], heads * width) << "so that the transposition is dense";
}

TEST_F(dnn_plans, views_of_unaligned_memory_are_copied_for_matches) {
  const value x = given(dtype::f16, {2, 8, 16, 16});
  plan({to(attention(transpose(x, {0, 2, 1, 3}), transpose(x, {0, 2, 1, 3}), transpose(x, {0, 2, 1, 3})).y,
           dtype::f32)});
  for (const bool is_aligned : {true, false}) {
    const graph_analysis a(encoded_, std::vector<bool>(encoded_.memory().size(), is_aligned));
    for (const encoded_node& n : encoded_.nodes())
      if (n.what == op::attention) {
        EXPECT_EQ(a.dense_operand(n.inputs[0], dtype::f16).copied, !is_aligned);
      }
  }
}

TEST_F(dnn_plans, a_conversion_after_a_full_kernel_is_part_of_that_kernel) {
  value sum = given(dtype::f32, {40, 40});
  for (int i = 1; i < 16; ++i) sum = sum + given(dtype::f32, {40, 40});
  const step_list steps = plan({to(convert(sum, dtype::f16), dtype::f16)}, {.operations = 64, .operands = 20});
  ASSERT_EQ(steps.steps.size(), 2u) << "the operands of the sum, then the write";
  const auto& first = std::get<elementwise_kernel>(steps.steps[0]);
  EXPECT_EQ(first.operands.back().type, dtype::f16);
  for (const location& l : std::get<elementwise_kernel>(steps.steps[1]).operands) EXPECT_EQ(l.shape.rank, 2u);
}

TEST_F(dnn_plans, only_integers_that_f32_does_not_represent_cause_a_plan_in_f64) {
  const value x = given(dtype::f32, {1, 8}), labels = given(dtype::i64, {1, 1}), integers = given(dtype::i32, {1, 8});
  const value indexes = top_k(x, 1, 2).indexes;
  for (const written& w : {to(reshape(arg_max(x, 1), {1}), dtype::i32), to(reshape(indexes, {2}), dtype::i32),
                           to(convert(indexes, dtype::i64), dtype::i64), to(cross_entropy(x, labels, 1), dtype::f32),
                           to(gather(x, labels, 1), dtype::f32), to(x * convert(integers, dtype::f32), dtype::f32),
                           to(iota({1, 8}, 1), dtype::i64)})
    EXPECT_EQ(plan({w}).compute_type, dtype::f32);
  for (const value& v :
       {integers * 2, cumulative_sum(integers, 1), top_k(integers, 1, 2).values, reshape(labels, {1}) + 1})
    EXPECT_EQ(plan({to(v, dtype::f32)}).compute_type, dtype::f64);
}

TEST_F(dnn_plans, long_chains_are_planned) {
  value x = given(dtype::f32, {4, 4});
  for (int i = 0; i < 20'000; ++i) x = i % 100 == 0 ? transpose(x, {1, 0}) : sin(x);
  const step_list steps = plan({to(x, dtype::f32)}, {.operations = 64, .operands = 20});
  EXPECT_GT(steps.steps.size(), 300u);
}

TEST_F(dnn_plans, values_that_are_computed_alike_are_computed_once) {
  const value x = given(dtype::f32, {4, 4});
  const auto rounded = [&] { return convert(exp(x * 2), dtype::f16); };
  const step_list steps = plan({to(rounded(), dtype::f16), to(rounded() + 1, dtype::f32)});
  ASSERT_EQ(steps.steps.size(), 1u);
  using kind = elementwise_kernel::operation::kind;
  EXPECT_EQ(std::ranges::count(std::get<elementwise_kernel>(steps.steps[0]).operations, kind::round,
                               &elementwise_kernel::operation::what),
            1);
}

}  // namespace
}  // namespace troupe::dnn
