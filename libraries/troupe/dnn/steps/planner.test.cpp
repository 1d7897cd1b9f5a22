// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Plans of random graphs, of which random connected pieces are claimed, compared with the reference.
#include <algorithm>
#include <numeric>
#include <set>
#include <troupe/base/cat.hpp>
#include <troupe/dnn/steps/fusion_matches.hpp>
#include <troupe/dnn/testing/random_graphs.hpp>
#include <troupe/dnn/testing/step_machine.hpp>

namespace troupe::dnn {
namespace {

using namespace testing;

// The nodes of a graph that are claimed, and how their tensors have to lie.
class claims_at_random {
 public:
  claims_at_random(const encoded_graph& g, numerics::random_source& random)
      : g_(g), random_(random), l_(g), reads_(g), owner_(g.nodes().size(), nobody) {
    const std::int64_t count = random.between(0, 4);
    for (std::int64_t i = 0; i < count; ++i) grow();
    for (const auto& nodes : pieces_)
      if (!nodes.empty()) describe(nodes);
    while (drop_one()) {
    }
  }
  const std::vector<fusion_match>& all() const noexcept { return all_; }

 private:
  static constexpr std::size_t nobody = SIZE_MAX;
  std::span<const std::uint16_t> inputs_of(std::size_t n) const {
    return std::span(g_.nodes()[n].inputs).first(g_.nodes()[n].input_count);
  }
  std::span<const std::uint16_t> outputs_of(std::size_t n) const {
    return std::span(g_.nodes()[n].outputs).first(g_.nodes()[n].output_count);
  }
  std::vector<std::size_t> readers_of(std::uint16_t t) const {
    std::vector<std::size_t> out;
    for (std::size_t n = 0; n < g_.nodes().size(); ++n)
      if (std::ranges::count(inputs_of(n), t) != 0) out.push_back(n);
    return out;
  }

  // Nobody claims such a node.
  bool writes_what_is_read(std::size_t n) const {
    return g_.nodes()[n].what == op::write && reads_.any(g_.tensors()[outputs_of(n)[0]].memory);
  }

  // A node, and again and again a neighbour.
  void grow() {
    std::set<std::size_t> nodes,
        next{static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(g_.nodes().size()) - 1))};
    for (std::int64_t size = random_.between(1, 5); size > 0 && !next.empty(); --size) {
      const auto at = std::next(next.begin(), random_.between(0, static_cast<std::int64_t>(next.size()) - 1));
      const std::size_t n = *at;
      next.erase(at);
      if (owner_[n] != nobody || writes_what_is_read(n)) continue;
      owner_[n] = pieces_.size(), nodes.insert(n);
      for (const std::uint16_t t : inputs_of(n))
        if (const auto source = l_.source_of(t); source && owner_[*source] == nobody) next.insert(*source);
      for (const std::uint16_t t : outputs_of(n))
        for (const std::size_t reader : readers_of(t))
          if (owner_[reader] == nobody) next.insert(reader);
    }
    pieces_.push_back(nodes);
  }

  // Any order of the indexes, without gaps.
  tensor_shape laid_anyhow(tensor_shape s) {
    std::vector<std::size_t> order(s.rank);
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = s.rank; i-- > 1 && random_.between(0, 1) == 0;)
      std::swap(order[i], order[static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(i)))]);
    std::int64_t stride = 1;
    for (std::size_t i = s.rank; i-- > 0; stride *= s.extents[order[i]]) s.strides[order[i]] = stride;
    return s;
  }
  fusion_match::tensor wanted(std::uint16_t t) {
    const encoded_tensor& s = g_.tensors()[t];
    return {t, random_.one_of({dtype::f32, dtype::f64}), laid_anyhow(s.shape), random_.between(0, 4) == 0};
  }

  void describe(const std::set<std::size_t>& nodes) {
    fusion_match c;
    std::set<std::uint16_t> read;
    for (const std::size_t n : nodes) {
      c.nodes.push_back(static_cast<std::uint16_t>(n));
      for (const std::uint16_t t : inputs_of(n))
        if (const auto source = l_.source_of(t);
            source ? !nodes.contains(*source) : g_.tensors()[t].where != place::number)
          read.insert(t);
      for (const std::uint16_t t : outputs_of(n)) {
        const auto readers = readers_of(t);
        const bool is_memory = g_.tensors()[t].where == place::memory;
        const bool is_read = std::ranges::any_of(readers, [&](std::size_t r) { return !nodes.contains(r); });
        if (is_memory)
          c.outputs.push_back({t, g_.tensors()[t].type, g_.tensors()[t].shape});
        else if (is_read)
          c.outputs.push_back(wanted(t));
      }
    }
    for (const std::uint16_t t : read) c.inputs.push_back(wanted(t));
    c.workspace = static_cast<std::uint64_t>(random_.between(0, 300));
    std::size_t begin = 0;
    for (const fusion_match::tensor& t : c.inputs)
      if (const auto source = l_.source_of(t.number)) begin = std::max(begin, *source + 1);
    if (begin > c.nodes.back() || c.outputs.empty()) return release(c);
    c.at = place_of(c, l_);
    all_.push_back(std::move(c));
  }
  void release(const fusion_match& c) {
    for (const std::uint16_t n : c.nodes) owner_[n] = nobody;
  }

  // Drops a fusion match of which something is needed before it is computed.
  bool drop_one() {
    const auto at_of = [&](std::size_t node) {
      for (const fusion_match& c : all_)
        if (std::ranges::count(c.nodes, node) != 0) return std::size_t{c.at};
      return node;
    };
    for (auto c = all_.begin(); c != all_.end(); ++c)
      for (const fusion_match::tensor& t : c->outputs)
        for (const std::size_t reader : readers_of(t.number)) {
          if (std::ranges::count(c->nodes, reader) != 0 || at_of(reader) > c->at) continue;
          release(*c);
          all_.erase(c);
          return true;
        }
    return false;
  }

  const encoded_graph& g_;
  numerics::random_source& random_;
  const def_use l_;
  const read_set reads_;
  std::vector<std::size_t> owner_;  // of each node: the piece
  std::vector<std::set<std::size_t>> pieces_;
  std::vector<fusion_match> all_;
};

class dnn_planner : public random_graphs {
 protected:
  static std::string story_of(const encoded_graph& g, const std::vector<fusion_match>& matches) {
    std::string out;
    for (std::size_t i = 0; i < g.nodes().size(); ++i) out += cat(i == 0 ? "" : ", ", to_string(g.nodes()[i].what));
    for (const fusion_match& c : matches) {
      out += cat("; claimed at ", c.at, ":");
      for (const std::uint16_t n : c.nodes) out += cat(" ", n);
    }
    return out + "; " + numerics::how_to_repeat();
  }
};

TEST_F(dnn_planner, graphs_of_which_pieces_are_claimed_are_computed_as_defined) {
  std::size_t matched = 0;
  for (int i = 0; i < 1500 && !HasFailure(); ++i) {
    const drawn d = draw();
    const encoded_graph g = d.encoded();
    ASSERT_FALSE(g.empty());
    const claims_at_random matches(g, random);
    SCOPED_TRACE(story_of(g, matches.all()));
    matched += matches.all().size();
    const auto expected = evaluate(g);
    const step_list all = steps_of(g, limits(), matches.all());
    step_machine(g, all, matches.all()).run();
    for (const encoded_node& n : g.nodes())
      if (n.what == op::write) expect_near(written_to(g, n.outputs[0]), expected[n.outputs[0]]);
  }
  EXPECT_GT(matched, 1000u);
}

TEST_F(dnn_planner, a_claimed_step_stands_between_those_that_it_needs_and_those_that_need_it) {
  for (int i = 0; i < 300 && !HasFailure(); ++i) {
    const drawn d = draw();
    const encoded_graph g = d.encoded();
    const claims_at_random matches(g, random);
    const step_list all = steps_of(g, {}, matches.all());
    std::vector<bool> computed(matches.all().size());
    for (const auto& step : all.steps)
      if (const auto* s = std::get_if<vendor_step>(&step)) {
        EXPECT_FALSE(computed[s->which]) << story_of(g, matches.all());
        computed[s->which] = true;
        EXPECT_EQ(s->workspace.is_buffer, matches.all()[s->which].workspace != 0);
      }
    EXPECT_EQ(std::ranges::count(computed, false), 0) << story_of(g, matches.all());
  }
}

}  // namespace
}  // namespace troupe::dnn
