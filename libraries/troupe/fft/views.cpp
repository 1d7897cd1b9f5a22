// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/text/cat.hpp>
#include <troupe/fft/internal/views.hpp>
#include <troupe/fft/placement.hpp>
#include <troupe/request/checks_of.hpp>
#include <troupe/request/encoding/describe.hpp>
#include <utility>

namespace troupe::fft {
namespace {

using troupe::detail::extents_text;

bool same_extents(const tensor_shape& a, const tensor_shape& b) noexcept {
  return a.rank == b.rank && a.extents == b.extents;
}
tensor_shape half_of(tensor_shape s) noexcept {
  if (s.rank > 0) s.extents[s.rank - 1] = s.extents[s.rank - 1] / 2 + 1;
  return s;
}

// Returns the number of axes that are transformed.
template <class R>
std::int64_t dimensions_of(const R& r) noexcept {
  return r.dimensions == 0 ? static_cast<std::int64_t>(r.input.shape().rank) : r.dimensions.value();
}
template <class R>
bool has_dimensions(const R& r) noexcept {
  const std::int64_t d = dimensions_of(r);
  return d >= 1 && d <= static_cast<std::int64_t>(std::min<std::uint64_t>(r.input.shape().rank, shape::most));
}
// Returns the order of axes for both sides of a request whose dimensions are valid.
template <class R>
index_order order_of(const R& r) noexcept {
  constexpr bool is_complex_to_complex = requires { r.direction; };
  return index_order(r.input.shape(), static_cast<std::size_t>(dimensions_of(r)), !is_complex_to_complex);
}
// Returns the layouts of both sides of a request. If the request is refused, they have one element.
template <class R>
std::pair<laid_out, laid_out> sides_of(const R& r) noexcept {
  const laid_out one{.n = 1, .batch = 1, .where = {}};
  if (!has_dimensions(r)) return {one, one};
  const index_order order = order_of(r);
  return {lay_out(r.input.shape(), order).value_or(one), lay_out(r.output.shape(), order).value_or(one)};
}

// Checks the extents of input and output. `why` explains the expected extents in errors. Makes texts only for errors,
// because this is on the hot path.
template <class R>
bool has_extents(checker& check, const R& r, const tensor_shape& input_extents, const tensor_shape& output_extents,
                 std::string_view why) {
  const tensor_shape &in = r.input.shape(), &out = r.output.shape();
  for (std::size_t i = 0; i < in.rank; ++i)
    if (in.extents[i] < 1) [[unlikely]] {
      check.refuse(&r.input, "is " + extents_text(in), "at least 1 along each axis");
      return false;
    }
  if (!has_dimensions(r)) [[unlikely]] {
    check.refuse(&r.dimensions,
                 r.dimensions == 0 ? cat("is 0, all ", in.rank, " axes of input")
                                   : cat("is ", troupe::detail::text(r.dimensions)),
                 cat("1 to 3, and at most the ", in.rank, " axes of input"));
    return false;
  }
  if (!same_extents(out, output_extents)) [[unlikely]] {
    check.refuse(&r.output, "is " + extents_text(out), cat(extents_text(output_extents), " (", why, ")"));
    return false;
  }
  if (!same_extents(in, input_extents)) [[unlikely]] {
    check.refuse(&r.input, "is " + extents_text(in), cat(extents_text(input_extents), " (", why, ")"));
    return false;
  }
  return true;
}

template <class V>
std::optional<placement> side(checker& check, const V& view, const index_order& order) {
  const auto located = lay_out(view.shape(), order);
  if (!located) [[unlikely]] {
    check.refuse(&view, "is " + troupe::detail::text(view.shape()),
                 "strides that are multiples of each other, in the same order in both tensors, as slices and "
                 "permutations of a tensor without gaps have them, and one distance for the whole batch");
    return std::nullopt;
  }
  check.view(view);
  return placement_of(located->where, located->n, located->batch);
}

// Checks a transform in place, whose sides are `real` and `complex`.
template <class R, class V>
void real_in_place(checker& check, const R& r, const V& view, const placement& real, const placement& complex) {
  if (r.input.range().address != r.output.range().address) return;
  if (!in_place(real, complex, 2)) [[unlikely]]
    check.refuse(&view, "is " + troupe::detail::text(view.shape()) + ", too small for the transform in place",
                 "the last stride 1 and the others twice those of the complex side, or another output");
  check.may_overlap(&r.input, &r.output);
}

}  // namespace

template <class T>
void complex_transform<T>::check(checker& check) const {
  if (!has_extents(check, *this, input.shape(), input.shape(), "as input")) return;
  const index_order order = order_of(*this);
  const auto in = side(check, input, order), out = side(check, output, order);
  if (in && out && input.range().address == output.range().address && in_place(*in, *out, 1))
    check.may_overlap(&input, &output);
}

template <class T>
void real_transform<T>::check(checker& check) const {
  if (!has_extents(check, *this, input.shape(), half_of(input.shape()),
                   "as input, with n / 2 + 1 elements along the last axis"))
    return;
  const index_order order = order_of(*this);
  const auto in = side(check, input, order), out = side(check, output, order);
  if (in && out) real_in_place(check, *this, input, *in, *out);
}

template <class T>
void real_inverse<T>::check(checker& check) const {
  if (!has_extents(check, *this, half_of(output.shape()), output.shape(),
                   "as output, with n / 2 + 1 elements along the last axis"))
    return;
  const index_order order = order_of(*this);
  const auto in = side(check, input, order), out = side(check, output, order);
  if (!in || !out) return;
  if (consumes_input) check.also_writes(&input);
  real_in_place(check, *this, output, *out, *in);
}

template <class T>
c2c<T> complex_transform<T>::to_request() const {
  const auto [in, out] = sides_of(*this);
  return {.input = input,
          .output = output,
          .n = in.n,
          .direction = direction,
          .batch = in.batch,
          .normalization = normalization,
          .input_layout = in.where,
          .output_layout = out.where};
}

template <class T>
r2c<T> real_transform<T>::to_request() const {
  const auto [in, out] = sides_of(*this);
  return {.input = input,
          .output = output,
          .n = in.n,
          .batch = in.batch,
          .normalization = normalization,
          .input_layout = in.where,
          .output_layout = out.where};
}

template <class T>
c2r<T> real_inverse<T>::to_request() const {
  const auto [in, out] = sides_of(*this);
  return {.input = input,
          .output = output,
          .n = out.n,
          .batch = in.batch,
          .normalization = normalization,
          .input_layout = in.where,
          .output_layout = out.where,
          .consumes_input = consumes_input};
}

}  // namespace troupe::fft

TROUPE_CHECKS(troupe::fft::all_views)
