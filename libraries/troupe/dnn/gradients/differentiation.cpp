// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/gradients/derivatives.hpp>
#include <troupe/dnn/gradients/differentiation.hpp>
#include <troupe/dnn/gradients/node_differentiation.hpp>
#include <troupe/dnn/gradients/sliced_gradients.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/operations/pointwise/pointwise.hpp>
#include <utility>

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
    if (visit_all(loss)) gradient_at(loss) = value(1);
    for (std::size_t i = order_.size(); i-- > 0;) propagate(nodes_.at(order_[i]));
    std::vector<value> out;
    for (std::size_t i = 0; i < variables_.size(); ++i) out.push_back(gradient_of(i));
    return out;
  }

 private:
  struct node {
    value of;                                      // the node's first output
    std::vector<optional_gradient> gradients;      // gradients of the node's outputs
    std::vector<detail::sliced_gradients> slices;  // gradients of slices of the outputs
    bool is_variable = false, is_visited = false, depends_on_variable = false;
    std::optional<value> rounded = {};
  };

  void add_variable(const value& v) {
    node& n = of(v);
    n.is_variable = true;
    if (v.from().memory) reads_.emplace(v.from().memory->range().address, v);
  }
  // Returns the value that represents v: if v reads memory, the variable that reads the same view of it.
  const value& canonical(const value& v) const {
    if (!v.from().memory) return v;
    const auto [begin, end] = reads_.equal_range(v.from().memory->range().address);
    const auto same = std::find_if(
        begin, end, [&](const auto& r) { return are_the_same(*r.second.from().memory, *v.from().memory); });
    return same != end ? same->second : v;
  }
  node& of(const value& v) {
    const value& c = canonical(v);
    const std::size_t outputs = c.from().outputs.size();
    return nodes_
        .try_emplace(&c.from(), node{c.sibling(0), std::vector<optional_gradient>(outputs),
                                     std::vector<detail::sliced_gradients>(outputs)})
        .first->second;
  }
  optional_gradient& gradient_at(const value& v) { return of(v).gradients[v.output()]; }

  // A node that is being visited, and the index of its next input.
  struct visit {
    node* at;
    std::size_t next = 0;
  };
  // Lists the nodes that depend on a variable, each after its inputs. Returns true if `v` depends on one. Does not
  // recurse, because chains of nodes may be of any length.
  bool visit_all(const value& v) {
    std::vector<visit> path;
    enter(v, path);
    while (!path.empty()) {
      visit& last = path.back();
      const producer& p = last.at->of.from();
      if (last.next < p.inputs.size()) {
        enter(p.inputs[last.next++], path);
      } else {
        leave(*last.at);
        path.pop_back();
      }
    }
    return of(v).depends_on_variable;
  }
  void enter(const value& v, std::vector<visit>& path) {
    node& n = of(v);
    if (n.is_visited) return;
    n.is_visited = true;
    n.depends_on_variable = n.is_variable;
    const producer& p = n.of.from();
    if (p.memory && !n.is_variable)
      for (const auto& [address, r] : reads_)
        if (overlap(*r.from().memory, *p.memory)) is_read_otherwise_ = true;
    path.push_back({&n});
  }
  void leave(node& n) {
    const producer& p = n.of.from();
    for (const value& i : p.inputs) {
      node& input = of(i);
      n.depends_on_variable |= input.depends_on_variable;
      if (p.what == op::convert && i.output() == 0) input.rounded = n.of;
    }
    if (n.depends_on_variable && p.what != op::none) order_.push_back(&p);
  }

  static void add_to(optional_gradient& sum, const value& gradient) {
    sum = sum ? detail::sum_of(*sum, gradient) : gradient;
  }
  static void add_gradients_of_slices(node& n) {
    for (std::size_t i = 0; i < n.slices.size(); ++i)
      if (!n.slices[i].empty())
        add_to(n.gradients[i], std::exchange(n.slices[i], {}).sum_over(n.of.sibling(static_cast<std::uint8_t>(i))));
  }
  void propagate(node& n) {
    add_gradients_of_slices(n);
    if (std::none_of(n.gradients.begin(), n.gradients.end(), [](const optional_gradient& g) { return g.has_value(); }))
      return;
    // The gradient of a value of a half type has this type.
    for (std::size_t i = 0; i < n.gradients.size(); ++i)
      if (const dtype type = n.of.sibling(static_cast<std::uint8_t>(i)).type();
          n.gradients[i] && n.gradients[i]->rank() != 0 && detail::is_half(type))
        n.gradients[i] = convert(*n.gradients[i], type);
    const detail::input_list& inputs = n.of.from().inputs;
    detail::differentiated_node p{n.of, n.gradients, {}, n.rounded};
    for (const value& i : inputs) p.is_needed.push_back(of(i).depends_on_variable);
    const std::vector<optional_gradient> all = detail::gradients_of_inputs(p);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!all[i]) continue;
      if (n.of.from().what == op::slice)
        of(inputs[i]).slices[inputs[i].output()].add(n.of.from(), *all[i]);
      else
        add_to(gradient_at(inputs[i]), *all[i]);
    }
  }

  value gradient_of(std::size_t i) {
    const value& v = variables_[i];
    if (v.from().refused) return v;
    if (v.rank() == 0) return refused(cat(i, " is a number"), "a tensor");
    if (is_read_otherwise_ && v.from().memory)
      return refused(cat(i, " is also read by another view of the same memory"), "one view");
    if (!of(v).is_visited) return refused(cat(i, " is not used by the loss"), "a value that the loss is computed from");
    add_gradients_of_slices(of(v));
    return detail::spread_over(gradient_at(v).value_or(0), v);
  }

  std::span<const value> variables_;
  std::multimap<std::uint64_t, value> reads_;  // variables in memory, by address
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
