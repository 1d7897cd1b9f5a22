// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <span>
#include <troupe/base/numbers/int8_sums.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/cutlass/cutlass.hpp>
#include <troupe/cutlass/problems/convolution_problem.hpp>
#include <troupe/cutlass/problems/product_check.hpp>
#include <troupe/epilogue/check.hpp>
#include <troupe/epilogue/numbers.hpp>
#include <troupe/request/encoding/describe.hpp>
#include <troupe/windows/check.hpp>

namespace troupe::cutlass {
namespace {

using troupe::detail::extents_text, windows::options_of;

constexpr std::int64_t most_count = (std::int64_t{1} << 31) - 1;  // kernels count positions in 32 bits

using windows::convolution_field, windows::convolution_roles;

template <class R, class X, class Filters, class Y>
class convolution_check {
 public:
  convolution_check(checker& c, const R& r, computed_tensor what, const convolution_roles<std::string_view>& names,
                    const X& x, const Filters& filters, const Y& y) noexcept
      : check_(c), r_(r), what_(what), names_(names), x_(x), filters_(filters), y_(y) {}

  void run() {
    product_check(check_).options(r_.options);
    if (!has_types()) return;
    const bool pairs = epilogue::is_paired(r_.epilogue.nodes());
    if (pairs && what_ == computed_tensor::dfilters)
      return check_.refuse(&r_.epilogue, "has left or right", "acc: the elements of a filter have no pairs");
    if (const auto refused = windows::check_convolution(what_, {extents_of(x_), extents_of(filters_), extents_of(y_)},
                                                        names_, options_of(r_), pairs)
                                 .refused)
      return check_.refuse(place_of(refused->field), refused->is, refused->expected);
    if (!counts_fit()) return;
    check_.view(x_);
    check_.view(filters_);
    check_.view(y_);
    switch (what_) {
      case computed_tensor::y:
        return check_epilogue(y_, matrices_of_images(y_.shape()));
      case computed_tensor::dx:
        return check_epilogue(x_, matrices_of_images(x_.shape()));
      case computed_tensor::dfilters:
        return check_epilogue(filters_, matrix_of_filters(filters_.shape()));
    }
  }

 private:
  template <class F>
  static std::int64_t at(const F& field, std::size_t i) noexcept {
    return field.shape().extents[i];
  }
  template <class F>
  static std::span<const std::int64_t> extents_of(const F& field) noexcept {
    return {field.shape().extents.data(), field.shape().rank};
  }
  template <class F>
  void refuse(const F& field, std::string_view expected) {
    check_.refuse(&field, "is " + extents_text(field.shape()), expected);
  }
  const void* place_of(convolution_field f) const noexcept {
    const void* const places[] = {&x_,        &filters_,    &y_,       &r_.padding, &r_.padding_after,
                                  &r_.stride, &r_.dilation, &r_.groups};
    return places[static_cast<std::size_t>(f)];
  }

  bool has_types() {
    const convolution_roles<dtype> types{x_.type(), filters_.type(), y_.type()};
    const convolution_roles<const void*> places{&x_, &filters_, &y_};
    const dtype a = types.first(what_), b = types.second(what_), computed = types.computed(what_);
    sums_ = a == dtype::f4e2m1x2 || b == dtype::f4e2m1x2 ? dtype{} : sums_of(a, b);
    if (sums_ == dtype{})
      check_.refuse(places.second(what_),
                    cat("holds ", to_string(b), ", and ", names_.first(what_), " holds ", to_string(a)),
                    "one type for both: f32, f64, f16, bf16 or i8; or f8e4m3 or f8e5m2 for each; or f16 or bf16 with "
                    "i8 or an 8-bit float");
    else if (!epilogue::is_real(computed))
      check_.refuse(places.computed(what_), cat("holds ", to_string(computed)), "one real number in each element");
    else
      return true;
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
    const extent terms = what_ == computed_tensor::y    ? product_of(filters_, {1})
                         : what_ == computed_tensor::dx ? product_of(filters_, {}) * filters_of_group
                                                        : product_of(y_, {0});
    if (terms <= longest_int8_sum) return true;
    const std::string most = cat("at most ", longest_int8_sum, " products of i8 in a sum, so that no sum overflows");
    what_ == computed_tensor::dfilters ? refuse(y_, most) : refuse(filters_, most);
    return false;
  }

  template <class F>
  void check_epilogue(const F& result, const matrices_of_result& m) {
    epilogue::check(check_, r_.epilogue, {m.one.rows, m.one.columns, m.count, sums_});
    epilogue::allow_in_place(check_, r_.epilogue, result, m.one, m.count, m.stride);
  }

  checker& check_;
  const R& r_;
  const computed_tensor what_;
  const convolution_roles<std::string_view> names_;
  const X& x_;
  const Filters& filters_;
  const Y& y_;
  dtype sums_{};
};

}  // namespace

void conv_forward::check(checker& c) const {
  convolution_check(c, *this, computed_tensor::y, {"x", "filters", "y"}, x, filters, y).run();
}
void conv_data_gradient::check(checker& c) const {
  convolution_check(c, *this, computed_tensor::dx, {"dx", "filters", "dy"}, dx, filters, dy).run();
}
void conv_weight_gradient::check(checker& c) const {
  convolution_check(c, *this, computed_tensor::dfilters, {"x", "dfilters", "dy"}, x, dfilters, dy).run();
}

}  // namespace troupe::cutlass
