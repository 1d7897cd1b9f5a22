// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <numeric>
#include <troupe/cutlass/convolution_problem.hpp>
#include <troupe/cutlass/cutlass.hpp>
#include <troupe/matmul/testing/numerics.hpp>

/// Convolutions in memory of the test, and what they are compared with.
namespace troupe::cutlass::testing {

using epilogue::expression, epilogue::tree;
using extents5 = std::array<std::int64_t, 5>;  ///< image, channel, depth, height, width; filters alike

/// How a tensor lies in memory.
enum class layout : std::uint8_t { anyhow, channels_first, channels_last };

/// Images or filters in memory; all that is no element is poisoned.
class stored_tensor {
 public:
  stored_tensor(dtype type, const extents5& extents, layout how, numerics::random_source& random)
      : type_(type), extents_(extents) {
    std::array<std::size_t, 5> order{0, 1, 2, 3, 4};  // the last is the fastest
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
      epilogue::put_number(bytes_.data() + i, type, matmul::testing::poison);
    before_ = bytes_;
  }
  void* place(const extents5& at) {
    const std::int64_t i = std::inner_product(at.begin(), at.end(), strides_.begin(), std::int64_t{0});
    return bytes_.data() + i * static_cast<std::int64_t>(bytes_of(type_));
  }
  double get(const extents5& at) { return epilogue::number_at(place(at), type_); }
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
    for_each([&](const extents5& at) { epilogue::put_number(place(at), type_, value()); });
    before_ = bytes_;
  }
  ::testing::AssertionResult untouched_outside() {
    std::vector<std::byte> now = bytes_;
    for_each([&](const extents5& at) {
      const auto i = static_cast<std::byte*>(place(at)) - bytes_.data();
      std::copy_n(before_.begin() + i, bytes_of(type_), now.begin() + i);
    });
    if (now == before_) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "memory outside of the elements was written";
  }
  /// With as many spatial indexes.
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

 private:
  dtype type_;
  extents5 extents_, strides_{};
  std::vector<std::byte> bytes_, before_;
};

/// What is convolved: extents, and how windows slide.
struct convolution_case {
  convolution_result result;
  dtype first, second, computed;  ///< types: of the factors in the order of the request, and of its result
  std::size_t spatial = 2;
  std::int64_t images = 1, groups = 1, channels = 1, filters = 1;  ///< of a group
  std::array<std::int64_t, 3> in{1, 1, 1}, width{1, 1, 1}, before{}, after{}, stride{1, 1, 1}, dilation{1, 1, 1};
  layout how = layout::anyhow;
  bool pairs = false;
  std::uint64_t workspace = any_amount;
};

/// Compares an engine with the definition.
class convolution_numerics : public matmul::testing::matmul_numerics {
 protected:
  convolution_case any_case(convolution_result result, dtype a, dtype b, dtype computed) {
    convolution_case c{.result = result, .first = a, .second = b, .computed = computed};
    c.spatial = static_cast<std::size_t>(random.between(1, 3));
    c.images = random.between(1, 3), c.groups = random.between(0, 2) == 0 ? random.between(2, 3) : 1;
    c.channels = random.between(1, 6), c.filters = random.between(1, 6);
    for (std::size_t i = 3 - c.spatial; i < 3; ++i) {
      c.in[i] = random.between(1, 9), c.width[i] = random.between(1, 3);
      c.before[i] = random.between(0, 2), c.after[i] = random.between(0, 2);
      c.stride[i] = random.between(1, 3), c.dilation[i] = random.between(1, 2);
      while (positions(c, i) < 1) ++c.in[i];
    }
    c.how = static_cast<layout>(random.between(0, 2));
    return c;
  }
  static std::int64_t positions(const convolution_case& c, std::size_t i) {
    std::int64_t n = 0;
    const std::int64_t reach = c.dilation[i] * (c.width[i] - 1);
    for (std::int64_t at = 0; at + reach < c.in[i] + c.before[i] + c.after[i]; at += c.stride[i]) ++n;
    return n;
  }

  /// Runs the convolution, with `make(rows, columns, batch)` for its epilogue, and compares all that it writes.
  template <class Make>
  void expect_as_defined(const convolution_case& c, Make&& make, double tolerance = 0);

 private:
  static per_index last_of(const std::array<std::int64_t, 3>& all, std::size_t spatial) {
    if (spatial == 1) return {all[2]};
    return spatial == 2 ? per_index{all[1], all[2]} : per_index{all[0], all[1], all[2]};
  }
  // Runs a request whose fields after the tensors and the epilogue are the case's.
  template <class R>
  void run_with(R r, const convolution_case& c) {
    r.padding = last_of(c.before, c.spatial), r.padding_after = last_of(c.after, c.spatial);
    r.stride = last_of(c.stride, c.spatial), r.dilation = last_of(c.dilation, c.spatial);
    r.groups = c.groups, r.workspace = c.workspace;
    story_ = story(r);
    run(r);
  }
  static void expect_near(double got, double want, dtype stored, double tolerance, const std::string& where,
                          int& wrong) {
    const double rounded = epilogue::nearest_of(stored, want);
    if (got == rounded || std::fabs(got - rounded) <= tolerance * std::max(1.0, std::fabs(want))) return;
    if (++wrong < 4) ADD_FAILURE() << where << " is " << got << ", expected " << want << " as " << to_string(stored);
  }

  std::string story_;
};

template <class Make>
void convolution_numerics::expect_as_defined(const convolution_case& c, Make&& make, double tolerance) {
  using enum convolution_result;
  const bool halves_y = c.pairs && c.result == y, halves_x = c.pairs && c.result == dx;
  const std::int64_t channels = c.channels * c.groups, filters = c.filters * c.groups;
  extents5 of_y{c.images, filters / (halves_y ? 2 : 1)};
  for (std::size_t i = 0; i < 3; ++i) of_y[2 + i] = positions(c, i);
  const dtype type_x = c.result == y    ? c.first
                       : c.result == dx ? c.computed
                                        : c.second,
              type_w = c.result == dfilters ? c.computed : c.second, type_y = c.result == y ? c.computed : c.first;
  stored_tensor x(type_x, {c.images, channels / (halves_x ? 2 : 1), c.in[0], c.in[1], c.in[2]}, c.how, random),
      w(type_w, {filters, c.channels, c.width[0], c.width[1], c.width[2]}, c.how, random),
      out(type_y, of_y, c.how, random);
  for (stored_tensor* const t : {&x, &w, &out}) t->fill([&] { return static_cast<double>(random.between(-3, 3)); });

  stored_tensor& computed = c.result == y ? out : c.result == dx ? x : w;
  const tensor_shape shape = computed.shape(c.spatial);
  const matrices_of_result m = c.result == dfilters ? matrix_of_filters(shape) : matrices_of_images(shape);
  const expression e = make(m.one.rows, m.one.columns, m.count);

  // The sums, by definition. Products are counted by the places of what is computed, with all channels of pairs.
  extents5 of_sums = computed.extents();
  if (c.pairs) of_sums[1] *= 2;
  const auto index = [&](const extents5& at) {
    std::int64_t i = 0;
    for (std::size_t d = 0; d < 5; ++d) i = i * of_sums[d] + at[d];
    return static_cast<std::size_t>(i);
  };
  std::vector<double> sums(index({of_sums[0] - 1, of_sums[1] - 1, of_sums[2] - 1, of_sums[3] - 1, of_sums[4] - 1}) + 1);
  w.for_each([&](const extents5& f) {
    const std::int64_t group = f[0] / c.filters, channel = group * c.channels + f[1];
    for (std::int64_t n = 0; n < c.images; ++n)
      for (std::int64_t p = 0; p < of_y[2] * of_y[3] * of_y[4]; ++p) {
        const extents5 o{n, f[0], p / (of_y[3] * of_y[4]), p / of_y[4] % of_y[3], p % of_y[4]};
        extents5 i{n, channel};
        bool inside = true;
        for (std::size_t d = 2; d < 5; ++d) {
          i[d] = o[d] * c.stride[d - 2] - c.before[d - 2] + f[d] * c.dilation[d - 2];
          inside &= i[d] >= 0 && i[d] < c.in[d - 2];
        }
        if (!inside) continue;
        if (c.result == y) sums[index(o)] += x.get(i) * w.get(f);
        if (c.result == dx) sums[index(i)] += out.get(o) * w.get(f);
        if (c.result == dfilters) sums[index(f)] += out.get(o) * x.get(i);
      }
  });
  // The place of an element of the epilogue's matrices.
  const filter_order order = order_of_filter(shape);
  const auto place = [&](std::int64_t which, std::int64_t row, std::int64_t column) {
    const extents5& s = computed.extents();
    if (c.result != dfilters) return extents5{which, column, row / (s[3] * s[4]), row / s[4] % s[3], row % s[4]};
    extents5 at{row, 0, 0, 0, 0};
    for (std::size_t i = order.count; i-- > 0;) {
      const std::size_t d = order.index[i] == 1 ? 1 : order.index[i] + 3 - c.spatial;
      at[d] = column % s[d], column /= s[d];
    }
    return at;
  };
  std::vector<std::byte> encoded(e.encoded_bytes());
  e.encode(encoded.data());
  const tree t(encoded.data(), encoded.size());
  std::vector<epilogue::evaluated> expected;
  for (std::int64_t n = 0; n < m.count; ++n)
    expected.push_back(epilogue::evaluate(
        t, m.one.rows, m.one.columns, [&](std::int64_t i, std::int64_t j) { return sums[index(place(n, i, j))]; }, n));

  constexpr auto reads = access_mode::read;
  constexpr auto writes = access_mode::write;
  const std::size_t s = c.spatial;
  if (c.result == y) {
    run_with(conv_forward{x.operand<reads>(s), w.operand<reads>(s), out.operand<writes>(s), e}, c);
  } else if (c.result == dx) {
    run_with(conv_data_gradient{out.operand<reads>(s), w.operand<reads>(s), x.operand<writes>(s), e}, c);
  } else {
    run_with(conv_weight_gradient{out.operand<reads>(s), x.operand<reads>(s), w.operand<writes>(s), e}, c);
  }
  if (HasFatalFailure()) return;
  SCOPED_TRACE(story_);
  EXPECT_TRUE(x.untouched_outside() && w.untouched_outside() && out.untouched_outside());
  int wrong = 0;
  for (std::int64_t n = 0; n < m.count; ++n) {
    const epilogue::evaluated& want = expected[static_cast<std::size_t>(n)];
    for (std::int64_t j = 0; j < m.one.columns; ++j)
      for (std::int64_t i = 0; i < m.one.rows; ++i)
        expect_near(computed.get(place(n, i, j)), want.result[static_cast<std::size_t>(i + j * m.one.rows)], c.computed,
                    tolerance, cat("result(", n, ", ", i, ", ", j, ")"), wrong);
    for (std::size_t k = 0; k < t.memory().size(); ++k)
      for (std::size_t i = 0; i < want.written[k].size(); ++i) {
        const epilogue::tree_memory& to = t.memory()[k];
        const auto at = static_cast<std::int64_t>(i);
        expect_near(epilogue::number_at(to.at(n, at % to.shape.rows, at / to.shape.rows), to.type), want.written[k][i],
                    to.type, tolerance, cat("output ", k, " at ", i), wrong);
      }
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace troupe::cutlass::testing
