// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/gradients/derivatives.hpp>
#include <troupe/dnn/gradients/differentiation.hpp>
#include <troupe/dnn/graph/node_maker.hpp>

namespace troupe::dnn {
namespace {

using detail::optional_gradient;
using detail::producer;

// Returns true if both are the same view of the same memory.
bool are_the_same(const in_any& a, const in_any& b) noexcept {
  return a.range().address == b.range().address && a.range().owner.get() == b.range().owner.get() &&
         a.shape() == b.shape() && a.type() == b.type();
}
bool overlap(const in_any& a, const in_any& b) noexcept {
  const auto &x = a.range(), &y = b.range();
  return x.address < y.address + y.bytes && y.address < x.address + x.bytes;
}

value refused(std::string is, std::string expected) {
  detail::node_maker m(op::none, "gradient", std::vector<value>());
  m.refuse("variable", std::move(is), std::move(expected));
  return m.done();
}

class backward_pass {
 public:
  explicit backward_pass(std::span<const value> variables) : variables_(variables) {
    for (const value& v : variables) add_variable(v);
  }
  std::vector<value> from(const value& loss) {
    if (visit(loss)) gradient_at(loss) = value(1);
    for (std::size_t i = order_.size(); i-- > 0;) propagate(nodes_.at(order_[i]));
    std::vector<value> out;
    for (std::size_t i = 0; i < variables_.size(); ++i) out.push_back(gradient_of(i));
    return out;
  }

 private:
  struct node {
    value of;                                  // the node's first output
    std::vector<optional_gradient> gradients;  // gradients of the node's outputs
    bool is_variable = false, is_visited = false, depends_on_variable = false;
    std::optional<value> rounded = {};
  };

  void add_variable(const value& v) {
    node& n = of(v);
    n.is_variable = true;
    if (v.from().memory) reads_.push_back(v);
  }
  // Returns the value that represents v: if v reads memory, the variable that reads the same view of it.
  const value& canonical(const value& v) const {
    if (!v.from().memory) return v;
    const auto same = std::find_if(reads_.begin(), reads_.end(),
                                   [&](const value& r) { return are_the_same(*r.from().memory, *v.from().memory); });
    return same != reads_.end() ? *same : v;
  }
  node& of(const value& v) {
    const value& c = canonical(v);
    return nodes_.try_emplace(&c.from(), node{c.sibling(0), std::vector<optional_gradient>(c.from().outputs.size())})
        .first->second;
  }
  optional_gradient& gradient_at(const value& v) { return of(v).gradients[v.output()]; }

  // Lists the nodes that depend on a variable, each after its inputs. Returns true if `v` depends on one. The recursion
  // ends early enough because the depth of values is limited.
  bool visit(const value& v) {
    node& n = of(v);
    if (n.is_visited) return n.depends_on_variable;
    n.is_visited = true;
    n.depends_on_variable = n.is_variable;
    const producer& p = n.of.from();
    if (p.memory && !n.is_variable)
      for (const value& r : reads_)
        if (overlap(*r.from().memory, *p.memory)) is_read_otherwise_ = true;
    for (const value& i : p.inputs) {
      n.depends_on_variable |= visit(i);
      if (p.what == op::convert && i.output() == 0) of(i).rounded = v;
    }
    if (n.depends_on_variable && p.what != op::none) order_.push_back(&p);
    return n.depends_on_variable;
  }

  void propagate(const node& n) {
    if (std::none_of(n.gradients.begin(), n.gradients.end(), [](const optional_gradient& g) { return g.has_value(); }))
      return;
    const std::vector<value>& inputs = n.of.from().inputs;
    detail::differentiated_node p{n.of, n.gradients, {}, n.rounded};
    for (const value& i : inputs) p.is_needed.push_back(of(i).depends_on_variable);
    const std::vector<optional_gradient> all = detail::gradients_of_inputs(p);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!all[i]) continue;
      optional_gradient& to = gradient_at(inputs[i]);
      to = to ? detail::sum_of(*to, *all[i]) : *all[i];
    }
  }

  value gradient_of(std::size_t i) {
    const value& v = variables_[i];
    if (v.from().refused) return v;
    if (v.rank() == 0) return refused(cat(i, " is a number"), "a tensor");
    if (is_read_otherwise_ && v.from().memory)
      return refused(cat(i, " is also read by another view of the same memory"), "one view");
    if (!of(v).is_visited) return refused(cat(i, " is not used by the loss"), "a value that the loss is computed from");
    return detail::spread_over(gradient_at(v).value_or(0), v);
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
    detail::node_maker m(op::none, "gradient", std::vector<value>());
    m.refuse_extents("loss", loss, "one element");
    return std::vector<value>(variables.size(), m.done());
  }
  return backward_pass(variables).from(loss);
}

}  // namespace troupe::dnn
