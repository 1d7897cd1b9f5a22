// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <limits>
#include <troupe/dnn/testing/reference/reference.hpp>
#include <troupe/request/encoding/records.hpp>
#include <troupe/windows/geometry.hpp>
#include <vector>

/// Encoded graphs that tests build node by node.
namespace troupe::dnn::testing {

using numbers = std::vector<double>;
using extents = std::vector<std::int64_t>;
using place = encoded_tensor::place;

inline constexpr double infinite = std::numeric_limits<double>::infinity(),
                        nan = std::numeric_limits<double>::quiet_NaN();

inline tensor_shape dense(const extents& e) {
  tensor_shape s{.rank = e.size()};
  std::copy(e.begin(), e.end(), s.extents.begin());
  s.strides = dense_strides(s);
  return s;
}

// An encoded graph under construction, and its memory.
struct encoding {
  std::vector<encoded_node> nodes;
  std::vector<encoded_tensor> tensors;
  std::vector<encoded_memory> memory;
  std::deque<numbers> held;
  std::vector<std::uint64_t> words;

  std::uint16_t add(const encoded_tensor& t) {
    tensors.push_back(t);
    return static_cast<std::uint16_t>(tensors.size() - 1);
  }
  std::uint16_t at(const void* address, dtype type, const tensor_shape& shape, access_mode mode = access_mode::read) {
    memory.push_back({reinterpret_cast<std::uint64_t>(address), mode, {}});
    return add({type, place::memory, static_cast<std::uint16_t>(memory.size() - 1), 0, 0, shape});
  }
  std::uint16_t given(const extents& e, numbers values) {
    EXPECT_EQ(values.size(), static_cast<std::size_t>(elements_of(dense(e))));
    return at(held.emplace_back(std::move(values)).data(), dtype::f64, dense(e));
  }
  std::uint16_t number(double value, std::size_t rank = 0) {
    return add({dtype::f64, place::number, 0, 0, value, dense(extents(rank, 1))});
  }
  std::uint16_t intermediate(const extents& e, dtype type = dtype::f32) {
    return add({type, place::intermediate, 0, 0, 0, dense(e)});
  }
  template <class Attributes>
  void node(op what, std::initializer_list<std::uint16_t> in, std::initializer_list<std::uint16_t> out,
            const Attributes& f) {
    encoded_node n{.what = what,
                   .input_count = static_cast<std::uint8_t>(in.size()),
                   .output_count = static_cast<std::uint8_t>(out.size()),
                   .attributes = node_attributes::of(f)};
    std::fill(std::begin(n.inputs), std::end(n.inputs), no_tensor);
    std::fill(std::begin(n.outputs), std::end(n.outputs), no_tensor);
    std::copy(in.begin(), in.end(), n.inputs);
    std::copy(out.begin(), out.end(), n.outputs);
    nodes.push_back(n);
  }
  void node(op what, std::initializer_list<std::uint16_t> in, std::initializer_list<std::uint16_t> out) {
    node(what, in, out, node_attributes{});
  }

  std::size_t bytes() const { return encoded_graph::encoded_bytes(nodes.size(), tensors.size(), memory.size()); }
  const std::byte* encode() {
    words.assign((bytes() + 7) / 8, 0);
    auto* to = reinterpret_cast<std::byte*>(words.data());
    const auto count = [](const auto& list) { return static_cast<std::uint32_t>(list.size()); };
    const encoded_graph::head h{count(nodes), count(tensors), count(memory), 0};
    put_records(to, std::span(&h, 1));
    put_records(to, std::span<const encoded_node>(nodes));
    put_records(to, std::span<const encoded_tensor>(tensors));
    put_records(to, std::span<const encoded_memory>(memory));
    return reinterpret_cast<const std::byte*>(words.data());
  }
  encoded_graph encoded() {
    const std::byte* encoded = encode();
    return {encoded, bytes()};
  }
  std::vector<numbers> values() {
    const encoded_graph g = encoded();
    EXPECT_FALSE(g.empty());
    return evaluate(g);
  }
};

inline constexpr windows::slides by_one{};

}  // namespace troupe::dnn::testing
