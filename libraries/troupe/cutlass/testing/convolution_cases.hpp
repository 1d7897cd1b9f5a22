// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <numeric>
#include <troupe/cutlass/cutlass.hpp>
#include <troupe/cutlass/problems/convolution_problem.hpp>
#include <troupe/matmul/testing/numerics.hpp>
#include <troupe/windows/definition.hpp>

/// Random convolutions with tensors in the test's memory, and their reference.
namespace troupe::cutlass::testing {

using epilogue::expression, epilogue::tree;
/// Extents or coordinates: image or filter, channel, depth, height, width.
using extents5 = std::array<std::int64_t, 5>;

/// The memory layout of a tensor; `anyhow` has the axes in any order, with gaps.
enum class layout : std::uint8_t { anyhow, channels_first, channels_last };

/// Images or filters in memory. Bytes outside of the elements are poisoned.
class stored_tensor {
 public:
  stored_tensor(dtype type, const extents5& extents, layout how, numerics::random_source& random)
      : type_(type), extents_(extents) {
    auto& order = order_;
    if (how == layout::channels_last) order = {0, 2, 3, 4, 1};
    if (how == layout::anyhow)
      for (std::size_t i = 4; i > 0; --i)
        std::swap(order[i], order[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(i)))]);
    std::int64_t next = how == layout::anyhow ? random.between(1, 2) : 1;
    for (std::size_t i = 5; i-- > 0;) {
      strides_[order[i]] = next;
      next = next * extents[order[i]] + (how == layout::anyhow ? random.between(0, 2) : 0);
    }
    bytes_.resize(static_cast<std::size_t>(next + 4) * bytes_of(type));
    for (std::size_t i = 0; i < bytes_.size(); i += bytes_of(type))
      epilogue::testing::put_poison(bytes_.data() + i, type);
    before_ = bytes_;
  }
  void* address_of(const extents5& at) {
    const std::int64_t i = std::inner_product(at.begin(), at.end(), strides_.begin(), std::int64_t{0});
    return bytes_.data() + i * static_cast<std::int64_t>(bytes_of(type_));
  }
  double get(const extents5& at) { return epilogue::number_at(address_of(at), type_); }
  template <class F>
  void for_each(F&& f) const {
    extents5 at{};
    const std::int64_t n = std::accumulate(extents_.begin(), extents_.end(), std::int64_t{1}, std::multiplies<>{});
    for (std::int64_t i = 0; i < n; ++i) {
      f(std::as_const(at));
      for (std::size_t d = 5; d-- > 0;) {
        if (++at[d] < extents_[d]) break;
        at[d] = 0;
      }
    }
  }
  template <class F>
  void fill(F&& value) {
    for_each([&](const extents5& at) { epilogue::put_number(address_of(at), type_, value()); });
    before_ = bytes_;
  }
  ::testing::AssertionResult untouched_outside() {
    std::vector<std::byte> now = bytes_;
    for_each([&](const extents5& at) {
      const auto i = static_cast<std::byte*>(address_of(at)) - bytes_.data();
      std::copy_n(before_.begin() + i, bytes_of(type_), now.begin() + i);
    });
    if (now == before_) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "memory outside of the elements was written";
  }
  /// Returns the shape with the last `spatial` spatial axes.
  tensor_shape shape(std::size_t spatial) const {
    tensor_shape s{.rank = 2 + spatial};
    for (std::size_t i = 0; i < s.rank; ++i) {
      const std::size_t from = i < 2 ? i : 3 - spatial + i;
      s.extents[i] = extents_[from], s.strides[i] = strides_[from];
    }
    return s;
  }
  template <access_mode M>
  any_operand<M> operand(std::size_t spatial) {
    return {memory_range{{}, reinterpret_cast<std::uint64_t>(bytes_.data()), bytes_.size()}, shape(spatial), type_};
  }
  dtype type() const { return type_; }
  const extents5& extents() const { return extents_; }
  /// Returns the coordinates of element `column` of filter `row`; elements are numbered in the order of memory.
  extents5 filter_coordinates(std::int64_t row, std::int64_t column) const {
    extents5 at{row};
    for (std::size_t i = 5; i-- > 0;) {
      const std::size_t d = order_[i];
      if (d != 0) at[d] = column % extents_[d], column /= extents_[d];
    }
    return at;
  }

 private:
  dtype type_;
  extents5 extents_, strides_{};
  std::array<std::size_t, 5> order_{0, 1, 2, 3, 4};  // axes by descending stride
  std::vector<std::byte> bytes_, before_;
};

/// The extents, strides, padding and dilation of a convolution.
struct convolution_case {
  computed_tensor result;
  dtype first, second, computed;  ///< types of the request's factors, in its order, and of the result
  std::size_t spatial = 2;
  std::int64_t images = 1, groups = 1, channels = 1, filters = 1;  ///< channels and filters of a group
  std::array<std::int64_t, 3> in{1, 1, 1}, width{1, 1, 1}, padding_before{}, padding_after{}, stride{1, 1, 1},
      dilation{1, 1, 1};
  layout how = layout::anyhow;
  bool pairs = false;
  std::uint64_t workspace = any_amount;
  cutlass::plan plan = {};
};

/// Returns the positions of the filter along spatial axis i.
inline std::int64_t positions(const convolution_case& c, std::size_t i) {
  std::int64_t n = 0;
  const std::int64_t reach = c.dilation[i] * (c.width[i] - 1);
  for (std::int64_t at = 0; at + reach < c.in[i] + c.padding_before[i] + c.padding_after[i]; at += c.stride[i]) ++n;
  return n;
}

/// The tensors of a case, filled with small integers, whose products have exact sums.
struct case_tensors {
  case_tensors(const convolution_case& c, numerics::random_source& random)
      : of(c),
        x(types_of(c).image,
          {c.images, c.channels * c.groups / (c.pairs && c.result == computed_tensor::dx ? 2 : 1), c.in[0], c.in[1],
           c.in[2]},
          c.how, random),
        filters(types_of(c).filters, {c.filters * c.groups, c.channels, c.width[0], c.width[1], c.width[2]}, c.how,
                random),
        y(types_of(c).result,
          {c.images, c.filters * c.groups / (c.pairs && c.result == computed_tensor::y ? 2 : 1), positions(c, 0),
           positions(c, 1), positions(c, 2)},
          c.how, random) {
    for (stored_tensor* const t : {&x, &filters, &y})
      t->fill([&] { return static_cast<double>(random.between(-3, 3)); });
    const extents5& e = computed().extents();
    const bool is_filters = c.result == computed_tensor::dfilters;
    count = is_filters ? 1 : e[0];
    rows = is_filters ? e[0] : e[2] * e[3] * e[4];
    columns = is_filters ? e[1] * e[2] * e[3] * e[4] : e[1];
  }
  stored_tensor& computed() {
    return *windows::convolution_roles<stored_tensor*>{&x, &filters, &y}.computed(of.result);
  }
  /// Returns the coordinates of an element of the epilogue's matrices.
  extents5 coordinates(std::int64_t which, std::int64_t row, std::int64_t column) {
    if (of.result == computed_tensor::dfilters) return filters.filter_coordinates(row, column);
    const extents5& s = computed().extents();
    return {which, column, row / (s[3] * s[4]), row / s[4] % s[3], row % s[4]};
  }
  /// Returns the index of an element in `sums()`.
  std::size_t index_of_sum(const extents5& at) {
    const tensor_shape s = shape_of_sums();
    std::int64_t i = 0;
    for (std::size_t d = 0; d < 5; ++d) i = i * s.extents[d] + at[d];
    return static_cast<std::size_t>(i);
  }
  /// Returns the sums by definition, for both halves of a paired epilogue.
  std::vector<double> sums() {
    const windows::convolution_roles<stored_tensor*> all{&x, &filters, &y};
    windows::convolution_definition c{of.result, {}, of.groups, {x.shape(3), filters.shape(3), y.shape(3)}};
    for (std::size_t i = 0; i < 3; ++i)
      c.slides[i] = {of.padding_before[i], of.padding_after[i], of.stride[i], of.dilation[i]};
    const auto element_of = [](stored_tensor& t) {
      return [&t](const windows::tensor_index& at) { return t.get({at[0], at[1], at[2], at[3], at[4]}); };
    };
    std::vector<double> out;
    windows::for_each_index(shape_of_sums(), 0, {}, [&](const windows::tensor_index& at) {
      out.push_back(c.element(at, element_of(*all.first(of.result)), element_of(*all.second(of.result))));
    });
    return out;
  }

  const convolution_case& of;
  stored_tensor x, filters, y;
  std::int64_t rows, columns, count;  ///< extents and number of the epilogue's matrices

 private:
  static windows::convolution_roles<dtype> types_of(const convolution_case& c) {
    return windows::convolution_roles<dtype>::of(c.result, c.first, c.second, c.computed);
  }
  tensor_shape shape_of_sums() {
    tensor_shape s = computed().shape(3);
    if (of.pairs) s.extents[1] *= 2;
    return s;
  }
};

/// A fixture that compares an engine's convolutions with the definition.
class convolution_numerics : public matmul::testing::matmul_numerics {
 protected:
  /// Returns the number of random cases to test. The first request of each kind compiles a kernel, so an engine that
  /// compiles gets fewer cases, different ones in each run.
  int iterations(int many) const { return engine->is_cuda() ? std::max(1, many / 10) : many; }

  convolution_case any_case(computed_tensor result, dtype a, dtype b, dtype computed) {
    convolution_case c{.result = result, .first = a, .second = b, .computed = computed};
    c.spatial = static_cast<std::size_t>(random.between(1, 3));
    c.images = random.between(0, 9) == 0 ? 0 : random.between(1, 3),
    c.groups = random.between(0, 2) == 0 ? random.between(2, 3) : 1;
    c.channels = random.between(1, 6), c.filters = random.between(1, 6);
    for (std::size_t i = 3 - c.spatial; i < 3; ++i) {
      c.in[i] = random.between(1, 9), c.width[i] = random.between(1, 3);
      c.padding_before[i] = random.between(0, 2), c.padding_after[i] = random.between(0, 2);
      c.stride[i] = random.between(1, 3), c.dilation[i] = random.between(1, 2);
      while (positions(c, i) < 1) ++c.in[i];
    }
    c.how = static_cast<layout>(random.between(0, 2));
    return c;
  }

  /// Runs the convolution with the epilogue `make(rows, columns, batch)`, and compares all that is written.
  template <class Make>
  void expect_as_defined(const convolution_case& c, Make&& make, double tolerance = 0) {
    case_tensors all(c, random);
    const expression e = make(all.rows, all.columns, all.count);
    std::vector<std::byte> encoded(e.encoded_bytes());
    e.encode(encoded.data());
    const tree t(encoded.data(), encoded.size());
    const std::vector<double> sums = all.sums();
    std::vector<epilogue::evaluated> expected;
    for (std::int64_t n = 0; n < all.count; ++n)
      expected.push_back(epilogue::evaluate(
          t, all.rows, all.columns,
          [&](std::int64_t i, std::int64_t j) { return sums[all.index_of_sum(all.coordinates(n, i, j))]; }, n));
    run_request(all, e);
    if (HasFatalFailure()) return;
    SCOPED_TRACE(story_);
    EXPECT_TRUE(all.x.untouched_outside() && all.filters.untouched_outside() && all.y.untouched_outside());
    for (std::int64_t n = 0; n < all.count; ++n)
      expect_matrix(all, t, expected[static_cast<std::size_t>(n)], n, tolerance);
  }

 private:
  static per_axis last_of(const std::array<std::int64_t, 3>& all, std::size_t spatial) {
    if (spatial == 1) return {all[2]};
    return spatial == 2 ? per_axis{all[1], all[2]} : per_axis{all[0], all[1], all[2]};
  }
  // Sets the fields after the tensors and the epilogue to those of the case, and runs the request.
  template <class R>
  void run_with(R r, const convolution_case& c) {
    r.padding = last_of(c.padding_before, c.spatial), r.padding_after = last_of(c.padding_after, c.spatial);
    r.stride = last_of(c.stride, c.spatial), r.dilation = last_of(c.dilation, c.spatial);
    r.groups = c.groups, r.options.workspace = c.workspace, r.options.plan = c.plan;
    story_ = story(r);
    run(r);
  }
  void run_request(case_tensors& all, const expression& e) {
    constexpr auto reads = access_mode::read;
    constexpr auto writes = access_mode::write;
    const std::size_t s = all.of.spatial;
    if (all.of.result == computed_tensor::y)
      run_with(conv_forward{all.x.operand<reads>(s), all.filters.operand<reads>(s), all.y.operand<writes>(s), e},
               all.of);
    else if (all.of.result == computed_tensor::dx)
      run_with(conv_data_gradient{all.y.operand<reads>(s), all.filters.operand<reads>(s), all.x.operand<writes>(s), e},
               all.of);
    else
      run_with(
          conv_weight_gradient{all.y.operand<reads>(s), all.x.operand<reads>(s), all.filters.operand<writes>(s), e},
          all.of);
  }
  // Compares one matrix of the result, and the operands that the epilogue has written for it.
  static void expect_matrix(case_tensors& all, const tree& t, const epilogue::evaluated& want, std::int64_t which,
                            double tolerance) {
    int wrong = 0;
    const auto expect_near = [&](double got, double exact, dtype stored, const std::string& where) {
      const double rounded = epilogue::nearest_of(stored, exact);
      if (got == rounded || std::fabs(got - rounded) <= tolerance * std::max(1.0, std::fabs(exact))) return;
      if (++wrong < 4) ADD_FAILURE() << where << " is " << got << ", expected " << exact << " as " << to_string(stored);
    };
    for (std::int64_t j = 0; j < all.columns; ++j)
      for (std::int64_t i = 0; i < all.rows; ++i)
        expect_near(all.computed().get(all.coordinates(which, i, j)),
                    want.result[static_cast<std::size_t>(i + j * all.rows)], all.of.computed,
                    cat("result(", which, ", ", i, ", ", j, ")"));
    for (std::size_t k = 0; k < t.memory().size(); ++k)
      for (std::size_t i = 0; i < want.written[k].size(); ++i) {
        const epilogue::memory_operand& to = t.memory()[k];
        const auto at = static_cast<std::int64_t>(i);
        expect_near(epilogue::number_at(to.at(which, at % to.shape.rows, at / to.shape.rows), to.type),
                    want.written[k][i], to.type, cat("output ", k, " at ", i));
      }
    EXPECT_EQ(wrong, 0);
  }

  std::string story_;
};

}  // namespace troupe::cutlass::testing
