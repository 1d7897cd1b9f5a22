// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <troupe/dnn/steps/fusion_match.hpp>
#include <troupe/dnn/steps/steps.hpp>
#include <troupe/dnn/testing/encoding.hpp>
#include <troupe/dnn/testing/reference/nodes.hpp>
#include <troupe/epilogue/numbers.hpp>
#include <troupe/epilogue/op_definitions.hpp>

namespace troupe::dnn::testing {

/// Executes the steps of a plan, to test the planner: computes elementwise kernels element by element, and other steps
/// and the nodes of fusion matches by the reference.
class step_machine {
 public:
  step_machine(const encoded_graph& g, const step_list& all, std::span<const fusion_match> matches)
      : g_(g), all_(all), matches_(matches), scratch_(all.bytes + 64, std::byte{0xee}) {}

  void run() {
    for (const auto& step : all_.steps) std::visit([this](const auto& s) { execute(s); }, step);
  }

 private:
  std::byte* begin_of(const location& l) {
    std::byte* const base = l.is_buffer ? scratch_.data() + all_.buffers[l.number]
                                        : reinterpret_cast<std::byte*>(g_.memory()[l.number].address);
    return base + l.offset * static_cast<std::int64_t>(bytes_of(l.type));
  }
  static std::int64_t element(const tensor_shape& s, const axis_values& at) {
    std::int64_t n = 0;
    for (std::size_t i = 0; i < s.rank; ++i) n += s.extents[i] == 1 ? 0 : at[i] * s.strides[i];
    return n;
  }
  std::byte* place_of(const location& l, const axis_values& at) {
    return begin_of(l) + element(l.shape, at) * static_cast<std::int64_t>(bytes_of(l.type));
  }

  void execute(const elementwise_kernel& k) {
    using kind = elementwise_kernel::operation::kind;
    detail::for_each_index(k.extents, [&](const axis_values& at) {
      std::vector<double> made;
      for (const elementwise_kernel::operation& o : k.operations) {
        const auto from = [&](std::size_t i) { return made[o.from[i]]; };
        switch (o.what) {
          case kind::read:
            made.push_back(epilogue::number_at(place_of(k.operands[o.operand], at), k.operands[o.operand].type));
            break;
          case kind::number:
            made.push_back(o.value);
            break;
          case kind::apply:
            made.push_back(epilogue::value_of(o.function, from(0), from(1), from(2)));
            break;
          case kind::position: {
            const location& l = k.operands[o.operand];
            double position = 0;
            for (std::size_t i = 0; i < l.shape.rank; ++i)
              if (l.shape.extents[i] != 1) position += static_cast<double>(at[i] * l.shape.strides[i]);
            made.push_back(position);
            break;
          }
          case kind::round:
            made.push_back(epilogue::nearest_of(o.type, from(0)));
            break;
          default:
            made.push_back(from(0));
            epilogue::put_number(place_of(k.operands[o.operand], at), k.operands[o.operand].type, from(0));
        }
      }
    });
  }

  // A graph of some of the nodes, whose inputs are at given locations. `known` maps tensors of the complete graph to
  // tensors of `made`.
  struct subgraph {
    encoding made;
    std::map<std::uint16_t, std::uint16_t> known;
  };
  void add_tensor(subgraph& to, std::uint16_t number, const location& l, access_mode mode = access_mode::read) {
    to.known[number] = to.made.at(begin_of(l), l.type, l.shape, mode);
  }
  void store(const numbers& values, const location& to) {
    std::size_t i = 0;
    detail::for_each_index(
        to.shape, [&](const axis_values& at) { epilogue::put_number(place_of(to, at), to.type, values.at(i++)); });
  }

  void execute(const operator_step& s) {
    encoding e;
    encoded_node n{.what = s.what, .attributes = s.attributes};
    for (const location& l : s.inputs) n.inputs[n.input_count++] = e.at(begin_of(l), l.type, l.shape);
    for (const location& l : s.outputs) {
      tensor_shape dense = l.shape;
      dense.strides = dense_strides(dense);
      n.outputs[n.output_count++] = e.add({dtype::f64, place::intermediate, 0, 0, 0, dense});
    }
    e.nodes.push_back(n);
    const auto values = e.values();
    for (std::size_t i = 0; i < s.outputs.size(); ++i) store(values[n.outputs[i]], s.outputs[i]);
  }

  void execute(const fused_step& s) {
    const fusion_match& m = matches_[s.match];
    subgraph p;
    for (std::size_t i = 0; i < s.inputs.size(); ++i) {
      ASSERT_EQ(s.inputs[i].type, m.inputs[i].type);
      ASSERT_TRUE(same_layout(s.inputs[i].shape, m.inputs[i].shape) ||
                  (m.inputs[i].accepts != nullptr && m.inputs[i].accepts(s.inputs[i].shape)))
          << "input " << i << " of fusion match " << s.match;
      add_tensor(p, m.inputs[i].number, s.inputs[i]);
    }
    for (std::size_t i = 0; i < s.outputs.size(); ++i)
      if (!s.outputs[i].is_buffer) add_tensor(p, m.outputs[i].number, s.outputs[i], access_mode::write);
    for (const std::uint16_t number : m.nodes) {
      encoded_node n = g_.nodes()[number];
      const auto renamed = [&](std::uint16_t t) {
        const auto [at, is_new] = p.known.try_emplace(t, std::uint16_t{0});
        if (is_new) {
          encoded_tensor copy = g_.tensors()[t];
          if (copy.where != place::number) copy.where = place::intermediate, copy.memory = 0;
          copy.shape.strides = dense_strides(copy.shape);
          at->second = p.made.add(copy);
        }
        return at->second;
      };
      for (std::size_t k = 0; k < n.input_count; ++k) n.inputs[k] = renamed(n.inputs[k]);
      for (std::size_t k = 0; k < n.output_count; ++k) n.outputs[k] = renamed(n.outputs[k]);
      p.made.nodes.push_back(n);
    }
    const auto values = p.made.values();
    // Overwrite the workspace, as a kernel may do, to detect that anything else is stored there.
    if (s.workspace.is_buffer) std::fill_n(begin_of(s.workspace), m.workspace, std::byte{0x77});
    for (std::size_t i = 0; i < s.outputs.size(); ++i) {
      ASSERT_TRUE(same_layout(s.outputs[i].shape, m.outputs[i].shape))
          << "output " << i << " of fusion match " << s.match;
      store(values[p.known.at(m.outputs[i].number)], s.outputs[i]);
    }
  }

  const encoded_graph& g_;
  const step_list& all_;
  const std::span<const fusion_match> matches_;
  std::vector<std::byte> scratch_;
};

}  // namespace troupe::dnn::testing
