// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <troupe/base/cat.hpp>
#include <troupe/dnn/differentiation.hpp>
#include <troupe/dnn/internal/derivatives.hpp>

namespace troupe::dnn {
namespace {

using detail::producer;
using detail::slope;

// Whether both read the same memory by the same view.
bool are_the_same(const in_any& a, const in_any& b) noexcept {
  return a.range().address == b.range().address && a.range().owner.get() == b.range().owner.get() &&
         a.shape() == b.shape() && a.type() == b.type();
}
bool overlap(const in_any& a, const in_any& b) noexcept {
  const auto &x = a.range(), &y = b.range();
  return x.address < y.address + y.bytes && y.address < x.address + x.bytes;
}

value refused(std::string is, std::string expected) {
  detail::maker m(op::none, "gradient", std::vector<value>());
  m.refuse("variable", std::move(is), std::move(expected));
  return m.done();
}

class way_back {
 public:
  explicit way_back(std::span<const value> variables) : variables_(variables) {
    for (const value& v : variables) add_variable(v);
  }
  std::vector<value> from(const value& loss) {
    if (visit(loss)) slope_at(loss) = value(1);
    for (std::size_t i = order_.size(); i-- > 0;) propagate(nodes_.at(order_[i]));
    std::vector<value> out;
    for (std::size_t i = 0; i < variables_.size(); ++i) out.push_back(gradient_of(i));
    return out;
  }

 private:
  struct node {
    value of;                   // its first output
    std::vector<slope> slopes;  // of its outputs
    bool is_variable = false, is_seen = false, leads = false;
    std::optional<value> rounded = {};
  };

  void add_variable(const value& v) {
    node& n = of(v);
    n.is_variable = true;
    if (v.from().memory) reads_.push_back(v);
  }
  // The first value that reads this memory stands for all that do.
  const value& canonical(const value& v) const {
    if (!v.from().memory) return v;
    const auto same = std::find_if(reads_.begin(), reads_.end(),
                                   [&](const value& r) { return are_the_same(*r.from().memory, *v.from().memory); });
    return same != reads_.end() ? *same : v;
  }
  node& of(const value& v) {
    const value& c = canonical(v);
    return nodes_.try_emplace(&c.from(), node{c.sibling(0), std::vector<slope>(c.from().outputs.size())}).first->second;
  }
  slope& slope_at(const value& v) { return of(v).slopes[v.output()]; }

  // Numbers the nodes that have a variable behind them, each after its inputs. Returns whether this one has. The depth
  // of a value is limited, so this does not go too deep.
  bool visit(const value& v) {
    node& n = of(v);
    if (n.is_seen) return n.leads;
    n.is_seen = true;
    n.leads = n.is_variable;
    const producer& p = n.of.from();
    if (p.memory && !n.is_variable)
      for (const value& r : reads_)
        if (overlap(*r.from().memory, *p.memory)) is_read_otherwise_ = true;
    for (const value& i : p.inputs) {
      n.leads |= visit(i);
      if (p.what == op::convert && i.output() == 0) of(i).rounded = v;
    }
    if (n.leads && p.what != op::none) order_.push_back(&p);
    return n.leads;
  }

  void propagate(const node& n) {
    if (std::none_of(n.slopes.begin(), n.slopes.end(), [](const slope& s) { return s.has_value(); })) return;
    const std::vector<value>& inputs = n.of.from().inputs;
    detail::passage p{n.of, n.slopes, {}, n.rounded};
    for (const value& i : inputs) p.wanted.push_back(of(i).leads);
    const std::vector<slope> all = detail::slopes_of_inputs(p);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!all[i]) continue;
      slope& to = slope_at(inputs[i]);
      to = to ? detail::sum_of(*to, *all[i]) : *all[i];
    }
  }

  value gradient_of(std::size_t i) {
    const value& v = variables_[i];
    if (v.from().refused) return v;
    if (v.rank() == 0) return refused(cat(i, " is a number"), "a tensor");
    if (is_read_otherwise_ && v.from().memory)
      return refused(cat(i, " is read by another view of the same memory, too"), "one view");
    if (!of(v).is_seen) return refused(cat(i, " is not used by the loss"), "one that is");
    return detail::spread_over(slope_at(v).value_or(0), v);
  }

  std::span<const value> variables_;
  std::vector<value> reads_;  // variables in memory
  std::map<const producer*, node> nodes_;
  std::vector<const producer*> order_;
  bool is_read_otherwise_ = false;
};

}  // namespace

std::vector<value> gradients(const value& loss, std::span<const value> variables) {
  const auto extents = loss.extents();
  if (loss.from().refused) return std::vector<value>(variables.size(), loss);
  if (std::any_of(extents.begin(), extents.end(), [](std::int64_t n) { return n != 1; })) {
    detail::maker m(op::none, "gradient", std::vector<value>());
    m.refuse_extents("loss", loss, "one element");
    return std::vector<value>(variables.size(), m.done());
  }
  return way_back(variables).from(loss);
}

}  // namespace troupe::dnn
