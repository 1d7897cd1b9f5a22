// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/cat.hpp>
#include <troupe/base/int8_sums.hpp>
#include <troupe/cutlass/convolution_problem.hpp>
#include <troupe/cutlass/cutlass.hpp>
#include <troupe/cutlass/product_check.hpp>
#include <troupe/epilogue/check.hpp>
#include <troupe/epilogue/numbers.hpp>
#include <troupe/request/describe.hpp>

namespace troupe::cutlass {
namespace {

using troupe::detail::extents_text;

constexpr std::int64_t most_count = (std::int64_t{1} << 31) - 1;  // kernels count positions in 32 bits

// The tensor that a request computes, and the names of its three tensors by their role in the convolution.
struct tensors {
  convolution_result result;
  std::string_view x_name, filters_name, y_name;
};
template <class R, class X, class Filters, class Y>
class convolution_check {
 public:
  convolution_check(checker& c, const R& r, const tensors& t, const X& x, const Filters& filters, const Y& y) noexcept
      : check_(c), r_(r), names_(t), x_(x), filters_(filters), y_(y) {}

  void run() {
    product_check(check_).options(r_.options);
    if (!has_rank(x_) || !has_rank(filters_) || !has_rank(y_) || !has_types()) return;
    if (y_.shape().rank != x_.shape().rank)
      return check_.refuse(&y_, cat("has ", y_.shape().rank, " axes"),
                           cat(x_.shape().rank, ", as ", names_.x_name, " has"));
    if (filters_.shape().rank != x_.shape().rank)
      return check_.refuse(&filters_, cat("has ", filters_.shape().rank, " axes"),
                           cat(x_.shape().rank, ", as ", names_.x_name, " has"));
    if (!has_elements(x_, 1) || !has_elements(filters_, 0) || !has_elements(y_, 1)) return;
    const bool pairs = epilogue::is_paired(r_.epilogue.nodes());
    if (pairs && names_.result == convolution_result::dfilters)
      return check_.refuse(&r_.epilogue, "has left or right", "acc: the elements of a filter have no pairs");
    if (!window_is_fine() || !channels_fit(pairs) || !positions_fit() || !counts_fit()) return;
    check_.view(x_);
    check_.view(filters_);
    check_.view(y_);
    switch (names_.result) {
      case convolution_result::y:
        return check_epilogue(y_, matrices_of_images(y_.shape()));
      case convolution_result::dx:
        return check_epilogue(x_, matrices_of_images(x_.shape()));
      case convolution_result::dfilters:
        return check_epilogue(filters_, matrix_of_filters(filters_.shape()));
    }
  }

 private:
  template <class F>
  static std::int64_t at(const F& field, std::size_t i) noexcept {
    return field.shape().extents[i];
  }
  template <class F>
  void refuse(const F& field, std::string_view expected) {
    check_.refuse(&field, "is " + extents_text(field.shape()), expected);
  }
  template <class F>
  bool has_rank(const F& field) {
    const std::size_t rank = field.shape().rank;
    const bool fine = rank >= 3 && rank <= 2 + windows::most_spatial;
    if (!fine) check_.refuse(&field, cat("has ", rank, " axes"), "3 to 5: image, channel and 1 to 3 spatial axes");
    return fine;
  }
  // The number of images may be 0; no other extent may.
  template <class F>
  bool has_elements(const F& field, std::size_t first) {
    for (std::size_t i = first; i < field.shape().rank; ++i)
      if (at(field, i) < 1) {
        refuse(field, first == 0 ? "extents of at least 1" : "extents of at least 1, except for the number of images");
        return false;
      }
    return true;
  }

  template <class A, class B>
  bool has_product(const A& a, std::string_view a_name, const B& b) {
    sums_ = a.type() == dtype::f4e2m1x2 || b.type() == dtype::f4e2m1x2 ? dtype{} : sums_of(a.type(), b.type());
    if (sums_ != dtype{}) return true;
    check_.refuse(&b, cat("holds ", to_string(b.type()), ", and ", a_name, " holds ", to_string(a.type())),
                  "both f32, f64, f16, bf16 or i8; each f8e4m3 or f8e5m2; or f16 or bf16 and i8 or an 8-bit float");
    return false;
  }
  template <class F>
  bool holds_reals(const F& result) {
    const bool fine = epilogue::is_real(result.type());
    if (!fine) check_.refuse(&result, cat("holds ", to_string(result.type())), "one real number in each element");
    return fine;
  }
  bool has_types() {
    switch (names_.result) {
      case convolution_result::y:
        return has_product(x_, names_.x_name, filters_) && holds_reals(y_);
      case convolution_result::dx:
        return has_product(y_, names_.y_name, filters_) && holds_reals(x_);
      case convolution_result::dfilters:
        return has_product(y_, names_.y_name, x_) && holds_reals(filters_);
    }
    return false;
  }

  bool is_fine(const per_axis& field, std::int64_t least, bool may_be_missing) {
    const std::size_t spatial = x_.shape().rank - 2;
    if (!field.given() && may_be_missing) return true;
    if (!field.given() || (field.count() != 0 && field.count() != spatial)) {
      check_.refuse(&field, field.given() ? cat("has ", field.count(), " values") : "is not given",
                    cat(spatial, ", one for each spatial axis, or one value for all"));
      return false;
    }
    for (std::size_t i = 0; i < spatial; ++i)
      if (field[i] < least || field[i] > most_count) {
        check_.refuse(&field, cat("is ", field[i]), cat(least, " to ", most_count));
        return false;
      }
    return true;
  }
  bool window_is_fine() {
    if (r_.groups < 1) {
      check_.refuse(&r_.groups, cat("is ", r_.groups), "at least 1");
      return false;
    }
    return is_fine(r_.padding, 0, false) && is_fine(r_.padding_after, 0, true) && is_fine(r_.stride, 1, false) &&
           is_fine(r_.dilation, 1, false);
  }

  bool channels_fit(bool pairs) {
    // A paired epilogue halves the channels of its result.
    const std::int64_t channels = at(x_, 1) * (pairs && names_.result == convolution_result::dx ? 2 : 1),
                       outputs = at(y_, 1) * (pairs && names_.result == convolution_result::y ? 2 : 1);
    const auto as_many = [&](convolution_result halved, std::string_view as) {
      return pairs && names_.result == halved ? cat("twice as many as ", as, ", because the epilogue pairs them")
                                              : cat("as many as ", as);
    };
    if (at(x_, 0) != at(y_, 0))
      refuse(y_, cat(at(x_, 0), " images, as ", names_.x_name, " has"));
    else if (at(filters_, 0) != outputs)
      refuse(filters_, cat(outputs, " filters: ", as_many(convolution_result::y, cat(names_.y_name, " has channels"))));
    else if (channels % r_.groups != 0 || outputs % r_.groups != 0)
      check_.refuse(&r_.groups, cat("is ", r_.groups),
                    cat("a divisor of the ", channels, " channels and of the ", outputs, " filters"));
    else if (at(filters_, 1) != channels / r_.groups)
      refuse(filters_,
             cat(channels / r_.groups, " channels: ",
                 as_many(convolution_result::dx, cat(names_.x_name, r_.groups == 1 ? " has" : " has in a group"))));
    else
      return true;
    return false;
  }

  bool positions_fit() {
    const per_axis after = r_.padding_after.or_else(r_.padding);
    tensor_shape expected = y_.shape();
    for (std::size_t i = 2; i < expected.rank; ++i) {
      const windows::slide s{r_.padding[i - 2], after[i - 2], r_.stride[i - 2], r_.dilation[i - 2]};
      expected.extents[i] = windows::positions_along(s, at(x_, i), at(filters_, i));
      if (expected.extents[i] >= 1) continue;
      refuse(filters_, cat("filters that fit ", names_.x_name, " (", extents_text(x_.shape()),
                           ") with its padding; use more padding, smaller filters or less dilation"));
      return false;
    }
    if (expected.extents == y_.shape().extents) return true;
    refuse(y_, cat(extents_text(expected), ", the positions of the filters in ", names_.x_name));
    return false;
  }

  // Returns the product of a field's spatial extents and those of some other axes.
  template <class F>
  static extent product_of(const F& field, std::initializer_list<std::size_t> other_axes) noexcept {
    extent n = 1;
    for (const std::size_t i : other_axes) n = n * extent(at(field, i));
    for (std::size_t i = 2; i < field.shape().rank; ++i) n = n * extent(at(field, i));
    return n;
  }
  template <class F>
  bool is_countable(const F& field, extent n, std::string_view of_what) {
    if (n <= most_count) return true;
    refuse(field, cat("at most ", most_count, " ", of_what));
    return false;
  }
  bool counts_fit() {
    if (!is_countable(x_, product_of(x_, {0}), "positions in all images") ||
        !is_countable(y_, product_of(y_, {0}), "positions in all images") || !is_countable(x_, at(x_, 1), "channels") ||
        !is_countable(y_, at(y_, 1), "channels") ||
        !is_countable(filters_, product_of(filters_, {1}), "elements in a filter") ||
        !is_countable(filters_, product_of(filters_, {}) * extent(at(filters_, 0)), "products in a sum"))
      return false;
    if (sums_ != dtype::i32) return true;
    const extent filters_of_group = at(filters_, 0) / r_.groups;
    const extent terms = names_.result == convolution_result::y    ? product_of(filters_, {1})
                         : names_.result == convolution_result::dx ? product_of(filters_, {}) * filters_of_group
                                                                   : product_of(y_, {0});
    if (terms <= longest_int8_sum) return true;
    const std::string most = cat("at most ", longest_int8_sum, " products of i8 in a sum, so that none overflows");
    names_.result == convolution_result::dfilters ? refuse(y_, most) : refuse(filters_, most);
    return false;
  }

  template <class F>
  void check_epilogue(const F& result, const matrices_of_result& m) {
    epilogue::check(check_, r_.epilogue, {m.one.rows, m.one.columns, m.count, sums_});
    epilogue::allow_in_place(check_, r_.epilogue, result, m.one, m.count, m.stride);
  }

  checker& check_;
  const R& r_;
  const tensors names_;
  const X& x_;
  const Filters& filters_;
  const Y& y_;
  dtype sums_{};
};

}  // namespace

void conv_forward::check(checker& c) const {
  convolution_check(c, *this, {convolution_result::y, "x", "filters", "y"}, x, filters, y).run();
}
void conv_data_gradient::check(checker& c) const {
  convolution_check(c, *this, {convolution_result::dx, "dx", "filters", "dy"}, dx, filters, dy).run();
}
void conv_weight_gradient::check(checker& c) const {
  convolution_check(c, *this, {convolution_result::dfilters, "x", "dfilters", "dy"}, x, dfilters, dy).run();
}

}  // namespace troupe::cutlass
