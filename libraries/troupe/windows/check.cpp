// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/text/cat.hpp>
#include <troupe/request/encoding/describe.hpp>
#include <troupe/windows/check.hpp>

namespace troupe::windows {
namespace {

using extents = std::span<const std::int64_t>;
using field = convolution_field;
using troupe::detail::extents_text;

constexpr std::int64_t limit = std::int64_t{1} << 31;  // a sum of a few smaller numbers cannot overflow

// Checks a convolution, and stores the first refusal.
class convolution_check {
 public:
  convolution_check(computed_tensor what, const convolution_roles<extents>& all,
                    const convolution_roles<std::string_view>& names, const convolution_options& o,
                    bool is_paired) noexcept
      : what_(what),
        extents_(all),
        names_(names),
        options_(o),
        y_is_paired_(is_paired && what == computed_tensor::y),
        dx_is_paired_(is_paired && what == computed_tensor::dx) {}

  checked_convolution run() {
    if (have_ranks() && has_elements(field::image, x_, 1) && has_elements(field::filters, filters_, 0) &&
        (!has_result() || has_elements(field::result, y_, 1)) && options_fit() && channels_fit() && window_fits() &&
        has_result())
      check_result();
    return std::move(out_);
  }

 private:
  bool has_result() const noexcept { return y_.data() != nullptr; }
  bool refuse(field f, std::string is, std::string expected) {
    out_.refused = {f, std::move(is), std::move(expected)};
    return false;
  }

  // Checks that the first factor has a valid rank, and that the other tensors have the same rank.
  bool have_ranks() {
    constexpr convolution_roles<field> fields{field::image, field::filters, field::result};
    const std::size_t rank = extents_.first(what_).size();
    const auto has_rank = [&](field f, extents e, bool fits, std::string_view expected, std::string_view as = "") {
      const std::size_t n = e.size();
      if (fits) return true;
      const std::string_view unit = n == 0 ? " axes" : "";  // the text "is a number" names no unit
      return refuse(f, n == 0 ? "is a number" : "has " + counted(n, "axis", "axes"),
                    as.empty() ? cat(expected, unit) : cat(rank, unit, ", as ", as, " has"));
    };
    const auto equals_first = [&](field f, extents e) {
      return has_rank(f, e, e.size() == rank, {}, names_.first(what_));
    };
    return has_rank(fields.first(what_), extents_.first(what_),
                    rank > first_spatial && rank <= first_spatial + most_spatial,
                    cat(first_spatial + 1, " to ", first_spatial + most_spatial)) &&
           equals_first(fields.second(what_), extents_.second(what_)) &&
           ((what_ == computed_tensor::y && !has_result()) ||
            equals_first(fields.computed(what_), extents_.computed(what_)));
  }

  bool has_elements(field f, extents e, std::size_t first) {
    if (std::none_of(e.begin() + static_cast<std::ptrdiff_t>(first), e.end(), [](std::int64_t n) { return n < 1; }))
      return true;
    return refuse(f, "is " + extents_text(e),
                  first == 0 ? "extents of at least 1" : "extents of at least 1, except the number of images");
  }

  bool options_fit() {
    out_.refused = check_options(options_, x_.size() - first_spatial);
    return !out_.refused;
  }

  bool channels_fit() {
    const std::int64_t groups = options_.groups, channels = x_[1] * (dx_is_paired_ ? 2 : 1);
    if (channels % groups != 0 || filters_[0] % groups != 0)
      return refuse(field::groups, cat("is ", groups),
                    cat("a divisor of the ", channels, " channels and of the ", filters_[0], " filters"));
    if (y_is_paired_ && filters_[0] % 2 != 0)
      return refuse(field::filters, "is " + extents_text(filters_),
                    "an even number of filters: the epilogue pairs them");
    if (filters_[1] == channels / groups) return true;
    return refuse(field::filters,
                  cat("is ", extents_text(filters_), ", with ", filters_[1],
                      filters_[1] == 1 ? " input channel" : " input channels"),
                  cat(channels / groups, ", ", dx_is_paired_ ? "twice as many as " : "as ",
                      groups == 1 ? "the image has" : "a group of the image has",
                      dx_is_paired_ ? ": the epilogue pairs them" : ""));
  }

  // Computes the extents of y. Refuses filters that do not fit into the padded image.
  bool window_fits() {
    const slides s = slides_of(options_, x_.size() - first_spatial);
    out_.y = {x_[0], filters_[0] / (y_is_paired_ ? 2 : 1)};
    for (std::size_t i = first_spatial; i < x_.size(); ++i) {
      out_.y[i] = positions_along(s[i - first_spatial], x_[i], filters_[i]);
      if (out_.y[i] < 1)
        return refuse(field::filters, "is " + extents_text(filters_),
                      cat("a window that fits into the padded image; ", names_.image, " is ", extents_text(x_)));
    }
    return true;
  }

  void check_result() {
    const extents expected(out_.y.data(), y_.size());
    if (!std::equal(y_.begin(), y_.end(), expected.begin()))
      refuse(field::result, "is " + extents_text(y_),
             cat(extents_text(expected), ", as the convolution's result has",
                 y_is_paired_ ? ": the epilogue pairs its channels" : ""));
  }

  const computed_tensor what_;
  const convolution_roles<extents> extents_;
  const convolution_roles<std::string_view>& names_;
  const convolution_options& options_;
  const bool y_is_paired_, dx_is_paired_;
  const extents x_ = extents_.image, filters_ = extents_.filters, y_ = extents_.result;
  checked_convolution out_;
};

}  // namespace

std::optional<wrong_numbers> check_numbers(const per_axis& numbers, std::size_t spatial, std::int64_t least) {
  if (!numbers.given() || (numbers.count() != 0 && numbers.count() != spatial))
    return wrong_numbers{numbers.given() ? cat("has ", numbers.count(), " numbers") : "is not given",
                         cat(spatial, ", one for each spatial axis, or one number for all")};
  for (std::size_t i = 0; i < spatial; ++i) {
    if (numbers[i] < least) return wrong_numbers{cat("is ", numbers[i]), cat("at least ", least)};
    if (numbers[i] >= limit) return wrong_numbers{cat("is ", numbers[i]), cat("less than ", limit)};
  }
  return std::nullopt;
}

std::optional<convolution_refusal> check_options(const convolution_options& o, std::size_t spatial) {
  const struct {
    field name;
    per_axis numbers;
    std::int64_t least;
  } all[] = {{field::padding, o.padding, 0},
             {field::padding_after, o.padding_after.or_else(o.padding), 0},
             {field::stride, o.stride, 1},
             {field::dilation, o.dilation, 1}};
  for (const auto& [name, numbers, least] : all)
    if (auto wrong = check_numbers(numbers, spatial, least))
      return convolution_refusal{name, std::move(wrong->is), std::move(wrong->expected)};
  if (o.groups < 1) return convolution_refusal{field::groups, cat("is ", o.groups), "at least 1"};
  return std::nullopt;
}

checked_convolution check_convolution(computed_tensor what, const convolution_roles<extents>& all,
                                      const convolution_roles<std::string_view>& names, const convolution_options& o,
                                      bool is_paired) {
  return convolution_check(what, all, names, o, is_paired).run();
}

}  // namespace troupe::windows
