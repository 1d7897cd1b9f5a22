// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <numeric>
#include <set>
#include <tests/numerics/engine_suite.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/dnn.hpp>
#include <troupe/dnn/graph/producer.hpp>
#include <troupe/dnn/testing/reference/reference.hpp>
#include <troupe/dnn/testing/rounding_spread.hpp>
#include <troupe/epilogue/numbers.hpp>
#include <troupe/epilogue/testing/poison.hpp>
#include <vector>

/// Fixtures that compare the results of an engine with the reference.
namespace troupe::dnn::testing {

using extents = std::vector<std::int64_t>;

/// A tensor in memory. Bytes that are outside its elements have a known content, so that writes to them are detected.
class stored_tensor {
 public:
  enum class storing : std::uint8_t { anyhow, dense, channels_last };
  stored_tensor(dtype type, const extents& e, numerics::random_source& random, storing how) : type_(type) {
    std::vector<std::size_t> order(e.size());  // axes, the slowest first
    std::iota(order.begin(), order.end(), 0);
    const bool anyhow = how == storing::anyhow;
    if (e.size() > 2 && (how == storing::channels_last || (anyhow && random.between(0, 1) == 0)))
      std::rotate(order.begin() + 1, order.begin() + 2, order.end());
    shape_.rank = e.size();
    std::copy(e.begin(), e.end(), shape_.extents.begin());
    std::int64_t stride = anyhow && random.between(0, 3) == 0 ? 2 : 1;
    for (std::size_t i = order.size(); i-- > 0;) {
      shape_.strides[order[i]] = stride;
      stride *= e[order[i]];
      if (anyhow && i > 0 && random.between(0, 3) == 0) stride += random.between(1, 3);
    }
    bytes_.resize((static_cast<std::size_t>(stride) + 16) * bytes_of(type) + alignment);
    begin_ = alignment - reinterpret_cast<std::uintptr_t>(bytes_.data()) % alignment;
    if (anyhow) begin_ += bytes_of(type) * static_cast<std::size_t>(random.between(0, 3));
    for (std::size_t at = begin_ % bytes_of(type); at + bytes_of(type) <= bytes_.size(); at += bytes_of(type))
      epilogue::testing::put_poison(bytes_.data() + at, type);
    before_ = bytes_;
  }
  stored_tensor(const stored_tensor&) = delete;

  template <class Value>
  void fill(Value&& value) {
    for_each_element([&](std::byte* place) { epilogue::put_number(place, type_, value()); });
    before_ = bytes_;
  }
  /// Returns the elements, in row-major order of the axes.
  std::vector<double> values() { return values_at(address(), shape_, type_); }
  /// Returns the elements of any tensor in memory, such as a part of a stored tensor.
  static std::vector<double> values_at(std::uint64_t address, const tensor_shape& shape, dtype type) {
    std::vector<double> out;
    for_each_element(reinterpret_cast<std::byte*>(address), shape, type,
                     [&](const std::byte* place) { out.push_back(epilogue::number_at(place, type)); });
    return out;
  }
  bool contains(std::uint64_t address) const noexcept {
    return address - reinterpret_cast<std::uint64_t>(bytes_.data()) < bytes_.size();
  }
  template <access_mode M>
  any_operand<M> operand() {
    return {memory_range{{}, reinterpret_cast<std::uint64_t>(bytes_.data() + begin_), bytes_.size() - begin_}, shape_,
            type_};
  }
  /// Returns true if all bytes outside the elements are unchanged.
  bool untouched_outside() {
    std::vector<std::byte> now = bytes_;
    for_each_element([&](const std::byte* place) {
      const auto at = place - bytes_.data();
      std::copy_n(before_.begin() + at, bytes_of(type_), now.begin() + at);
    });
    return now == before_;
  }
  dtype type() const noexcept { return type_; }
  const tensor_shape& shape() const noexcept { return shape_; }
  std::uint64_t address() const noexcept { return reinterpret_cast<std::uint64_t>(bytes_.data() + begin_); }

 private:
  template <class F>
  void for_each_element(F&& f) {
    for_each_element(bytes_.data() + begin_, shape_, type_, f);
  }
  template <class F>
  static void for_each_element(std::byte* first, const tensor_shape& shape, dtype type, F&& f) {
    std::array<std::int64_t, tensor_shape::max_rank> index{};
    for (std::int64_t n = elements_of(shape); n > 0; --n) {
      std::int64_t at = 0;
      for (std::size_t i = 0; i < shape.rank; ++i) at += index[i] * shape.strides[i];
      f(first + static_cast<std::size_t>(at) * bytes_of(type));
      for (std::size_t i = shape.rank; i-- > 0 && ++index[i] == shape.extents[i];) index[i] = 0;
    }
  }
  static constexpr std::size_t alignment = 64;
  dtype type_;
  tensor_shape shape_;
  std::vector<std::byte> bytes_, before_;
  std::size_t begin_ = 0;
};

/// Compares an engine with the reference in double precision.
class dnn_numerics : public numerics::engine_suite {
 protected:
  using enum stored_tensor::storing;

  stored_tensor& stored(dtype type, const extents& e, stored_tensor::storing how = anyhow) {
    return all_.emplace_back(type, e, random, how);
  }
  /// Returns the extents of `least` to `most` axes, each up to `longest`.
  extents random_extents(std::size_t least, std::size_t most, std::int64_t longest) {
    extents e(
        static_cast<std::size_t>(random.between(static_cast<std::int64_t>(least), static_cast<std::int64_t>(most))));
    for (std::int64_t& n : e) n = random.between(1, longest);
    return e;
  }
  std::size_t any_axis(const extents& e) {
    return static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(e.size()) - 1));
  }
  /// Returns a tensor of random numbers.
  value given(dtype type, const extents& e, stored_tensor::storing how = anyhow) {
    stored_tensor& t = stored(type, e, how);
    const bool whole = type >= dtype::i8;
    t.fill([&] { return whole ? static_cast<double>(random.between(0, 5)) : random.value(); });
    return value(t.operand<access_mode::read>());
  }

  /// Computes the values, writes each to a tensor of the type, and compares it with the reference.
  void expect_as_defined(const std::vector<value>& values, dtype type, double tolerance) {
    std::vector<stored_tensor*> to;
    for (const value& v : values) to.push_back(&stored(type, extents(v.extents().begin(), v.extents().end())));
    expect_written(values, to, tolerance);
  }
  /// Computes the values, writes each to one of the tensors, and compares it with the reference. The graph may also
  /// read the tensors.
  void expect_written(const std::vector<value>& values, const std::vector<stored_tensor*>& to, double tolerance) {
    std::vector<written> all;
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(values[i].why_refused(), "");
      all.push_back({values[i], to[i]->operand<access_mode::write>()});
    }
    expect_computed({.graph = graph(all)}, tolerance);
  }
  /// Runs the request, and compares its results with the reference. The results must be stored tensors.
  void expect_computed(const computation& r, double tolerance) {
    ASSERT_FALSE(r.graph.refused()) << r.graph.refused()->what;
    SCOPED_TRACE(story(r));
    std::vector<std::uint64_t> encoded(r.graph.encoded_bytes() / sizeof(std::uint64_t));
    r.graph.encode(reinterpret_cast<std::byte*>(encoded.data()));
    const encoded_graph encoded_view(reinterpret_cast<const std::byte*>(encoded.data()), r.graph.encoded_bytes());
    ASSERT_FALSE(encoded_view.empty());
    SCOPED_TRACE(memory_of(encoded_view));
    const auto expected = evaluate(encoded_view);
    rounding_spread spread(encoded_view);  // reads memory before results replace it
    // Half of the requests are prepared first: the engine may then use other kernels.
    const bool is_prepared = random.between(0, 1) == 0 && engine->run(prepare{r}).has_value();
    SCOPED_TRACE(is_prepared ? "prepared" : "not prepared");
    std::vector<result_to_check> results;
    for (const encoded_node& n : encoded_view.nodes()) {
      if (n.what != op::write) continue;
      const encoded_tensor& to = encoded_view.tensors()[n.outputs[0]];
      results.push_back(
          {encoded_view.memory()[to.memory].address, to.shape, to.type, n.outputs[0], &expected[n.outputs[0]]});
      ASSERT_NE(holder_of(results.back().address), nullptr);
    }
    expect_results_of(r, results, tolerance, spread);
    if (random.between(0, 3) != 0 || reads_what_it_writes(encoded_view)) return;
    // The second run loads no kernels, so that launches follow each other faster.
    SCOPED_TRACE("the second run");
    for (const result_to_check& c : results)
      if (stored_tensor* const t = holder_of(c.address); t->address() == c.address && t->shape() == c.shape)
        t->fill([this] { return random.value(); });
    expect_results_of(r, results, tolerance, spread);
  }
  template <class T>
  T one_of(const std::vector<T>& all) {
    return all[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(all.size()) - 1))];
  }
  /// Returns the stored tensors of a floating type with these extents. A graph may read and write them.
  std::vector<stored_tensor*> stored_with(std::span<const std::int64_t> e) {
    std::vector<stored_tensor*> out;
    for (stored_tensor& t : all_)
      if (t.type() < dtype::i8 && t.shape().rank == e.size() &&
          std::equal(e.begin(), e.end(), t.shape().extents.begin()))
        out.push_back(&t);
    return out;
  }

 private:
  struct result_to_check {
    std::uint64_t address;
    tensor_shape shape;
    dtype type;
    std::uint16_t tensor;
    const std::vector<double>* expected;
  };
  // Returns a line for each tensor in memory.
  static std::string memory_of(const encoded_graph& g) {
    std::string out = "tensors in memory:";
    for (const encoded_tensor& t : g.tensors()) {
      if (t.where != encoded_tensor::place::memory) continue;
      const auto list = [&](const auto& numbers) {
        return troupe::detail::extents_text(std::span(numbers.data(), t.shape.rank));
      };
      out += cat("\n  ", to_string(t.type), ", ", list(t.shape.extents), ", strides ", list(t.shape.strides),
                 ", address % 256 is ", g.memory()[t.memory].address % 256);
    }
    return out;
  }
  stored_tensor* holder_of(std::uint64_t address) {
    const auto at = std::find_if(all_.begin(), all_.end(), [&](const auto& t) { return t.contains(address); });
    return at == all_.end() ? nullptr : &*at;
  }
  void expect_results_of(const computation& r, const std::vector<result_to_check>& results, double tolerance,
                         rounding_spread& spread) {
    run(r);
    if (HasFatalFailure()) return;
    for (const stored_tensor& t : all_) EXPECT_TRUE(const_cast<stored_tensor&>(t).untouched_outside());
    for (std::size_t i = 0; i < results.size(); ++i) expect_near(results[i], tolerance, spread, i);
  }
  bool reads_what_it_writes(const encoded_graph& g) {
    std::set<const stored_tensor*> read;
    const auto holder = [&](std::uint16_t tensor) { return holder_of(g.memory()[g.tensors()[tensor].memory].address); };
    for (const encoded_node& n : g.nodes())
      for (std::size_t i = 0; i < n.input_count; ++i)
        if (g.tensors()[n.inputs[i]].where == encoded_tensor::place::memory) read.insert(holder(n.inputs[i]));
    return std::any_of(g.nodes().begin(), g.nodes().end(), [&](const encoded_node& n) {
      return n.what == op::write && read.contains(holder(n.outputs[0]));
    });
  }

  static void expect_near(const result_to_check& c, double tolerance, rounding_spread& spread, std::size_t which) {
    const std::vector<double> got = stored_tensor::values_at(c.address, c.shape, c.type);
    const std::vector<double>& want = *c.expected;
    ASSERT_EQ(got.size(), want.size());
    int wrong = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double w = want[i];
      if (got[i] == w || (std::isnan(got[i]) && std::isnan(w))) continue;
      if (std::isinf(w)) {
        if (++wrong < 4)
          ADD_FAILURE() << "element " << i << " of result " << which << " is " << got[i] << ", expected " << w;
        continue;
      }
      // A small difference before the rounding can change a result to the next number of its type.
      const double step =
          std::fabs(epilogue::nearest_of(c.type, w * (1 + 0x1p-7)) - epilogue::nearest_of(c.type, w * (1 - 0x1p-7)));
      const bool narrow = c.type != dtype::f64 && c.type != dtype::f32;
      const double allowed =
          tolerance * std::max(1.0, std::fabs(w)) + (narrow ? 1.01 * step + 1.0 * (c.type >= dtype::i8) : 0);
      const double distance = std::fabs(got[i] - w);
      if (distance <= allowed) continue;
      // The same holds for values that the graph rounds; later operations can amplify the difference.
      const double moved = spread.of(c.tensor, i, w);
      if (!(distance <= allowed + moved) && ++wrong < 4)
        ADD_FAILURE() << "element " << i << " of result " << which << " is " << got[i] << ", expected " << w
                      << ", which roundings move by " << moved;
    }
    EXPECT_EQ(wrong, 0);
  }

  std::deque<stored_tensor> all_;
};

}  // namespace troupe::dnn::testing
