// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests plans of random graphs with random fusion matches: runs them, and compares their results with the reference.
#include <algorithm>
#include <numeric>
#include <set>
#include <troupe/base/text/cat.hpp>
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
    const step_list all = steps_of(g, limits(), matches.all());
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

}  // namespace
}  // namespace troupe::dnn
