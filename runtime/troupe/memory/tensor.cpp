// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <troupe/base/text/cat.hpp>
#include <troupe/memory/internal/refused_view.hpp>
#include <troupe/memory/tensor.hpp>
#include <troupe/request/encoding/describe.hpp>

namespace troupe::detail {
namespace {

constexpr std::size_t max_rank = tensor_shape::max_rank;

// Returns the numbers as in "2 x 3 x 4".
template <class Numbers>
std::string listed(const Numbers& numbers, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += (i == 0 ? "" : " x ") + text(extent(numbers[i]));
  return out;
}

tensor_shape shape_of(std::span<const extent> extents, std::span<const extent> strides) noexcept {
  tensor_shape s{.rank = std::min(extents.size(), max_rank)};
  for (std::size_t i = 0; i < s.rank; ++i) {
    s.extents[i] = extents[i] < 0 ? 0 : extents[i].value();
    s.strides[i] = i < strides.size() && strides[i] > 0 ? strides[i].value() : 0;
  }
  return s;
}

std::array<extent, max_rank> dense_strides(std::span<const extent> extents, element_order o) noexcept {
  std::array<extent, max_rank> out{1, 1, 1, 1, 1, 1, 1, 1};
  const std::size_t rank = std::min(extents.size(), max_rank);
  extent next = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t at = o == element_order::row_major ? rank - 1 - i : i;
    out[at] = next;
    next = next * extents[at];
  }
  return out;
}

bool is_empty(const tensor_shape& s) noexcept {
  return std::find(s.extents.begin(), s.extents.begin() + static_cast<std::ptrdiff_t>(s.rank), 0) !=
         s.extents.begin() + static_cast<std::ptrdiff_t>(s.rank);
}

extent span_of(const tensor_shape& s) noexcept {
  if (is_empty(s)) return 0;
  extent out = 1;
  for (std::size_t i = 0; i < s.rank; ++i) out = out + (extent(s.extents[i]) - 1) * s.strides[i];
  return out;
}

// Returns true if two different index tuples can refer to the same element: a stride is less than the span of all axes
// with smaller strides.
bool interleaves(const tensor_shape& s) noexcept {
  std::array<std::size_t, max_rank> by_stride{};
  std::iota(by_stride.begin(), by_stride.end(), std::size_t{0});
  std::sort(by_stride.begin(), by_stride.begin() + static_cast<std::ptrdiff_t>(s.rank),
            [&](std::size_t a, std::size_t b) { return s.strides[a] < s.strides[b]; });
  extent span = 1;
  for (std::size_t i = 0; i < s.rank; ++i) {
    const std::size_t d = by_stride[i];
    if (s.extents[d] == 1) continue;
    if (s.strides[d] < span) return true;
    span = span + (extent(s.extents[d]) - 1) * s.strides[d];
  }
  return false;
}

std::string why_impossible(std::span<const extent> extents, std::span<const extent> strides, const tensor_shape& s) {
  if (extents.empty() || extents.size() > max_rank) return cat(extents.size(), " extents; expected 1 to ", max_rank);
  if (strides.size() != extents.size())
    return cat(strides.size(), " strides; expected ", extents.size(), ", one for each extent");
  for (std::size_t i = 0; i < extents.size(); ++i)
    if (extents[i] < 0) return cat("extent ", i, " is ", text(extents[i]), "; expected at least 0");
  if (is_empty(s)) return {};
  for (std::size_t i = 0; i < extents.size(); ++i)
    if (extents[i] > 1 && strides[i] < 1) return cat("stride ", i, " is ", text(strides[i]), "; expected at least 1");
  if (interleaves(s))
    return "extents " + listed(extents, extents.size()) + " with strides " + listed(strides, strides.size()) +
           " interleave; expected larger strides, so that no two elements can share an address";
  return {};
}

}  // namespace

viewed_tensor view_tensor(const memory_range& memory, std::span<const extent> extents, std::span<const extent> strides,
                          std::size_t element_bytes) {
  const tensor_shape s = shape_of(extents, strides);
  if (!has_memory(memory)) return {memory, s};
  const std::string impossible = why_impossible(extents, strides, s);
  if (!impossible.empty()) return {refused_view(memory, "tensor: " + impossible), s};
  const extent span = span_of(s), have = size_of(memory, element_bytes);
  if (span.overflowed() || span > have)
    return {refused_view(memory, "tensor: " + extents_text(s) + " elements with strides " + listed(strides, s.rank) +
                                     " span " + text(span) + (span.overflowed() ? "" : " elements") +
                                     "; the buffer has " + text(have)),
            s};
  return {slice_of(memory, 0, span, element_bytes), s};
}

viewed_tensor view_tensor(const memory_range& memory, std::span<const extent> extents, element_order o,
                          std::size_t element_bytes) {
  const auto strides = dense_strides(extents, o);
  return view_tensor(memory, extents, std::span(strides).first(std::min(extents.size(), max_rank)), element_bytes);
}

viewed_tensor view_tensor(const viewed_matrix& m) noexcept {
  return {
      m.memory,
      {.rank = 2, .extents = {m.shape.rows, m.shape.columns}, .strides = {m.shape.row_stride, m.shape.column_stride}}};
}

viewed_tensor slice_of(const viewed_tensor& t, std::size_t axis, extent first, extent count,
                       std::size_t element_bytes) {
  tensor_shape s = t.shape;
  if (axis < s.rank) s.extents[axis] = count < 0 ? 0 : count.value();
  if (!has_memory(t.memory)) return {t.memory, s};
  if (axis >= s.rank)
    return {
        refused_view(t.memory, cat("slice: axis is ", axis, "; expected less than ", s.rank, ", the number of axes")),
        s};
  const extent end = first + count;
  if (first < 0 || count < 0 || end.overflowed() || end > t.shape.extents[axis])
    return {refused_view(t.memory, cat("slice: first is ", text(first), " and count is ", text(count), " along axis ",
                                       axis, "; the tensor is ", extents_text(t.shape))),
            s};
  const extent span = span_of(s);
  return {slice_of(t.memory, span == 0 ? extent(0) : first * t.shape.strides[axis], span, element_bytes), s};
}

viewed_tensor index_of(const viewed_tensor& t, std::size_t axis, extent index, std::size_t element_bytes) {
  if (t.shape.rank == 1 && has_memory(t.memory))
    return {refused_view(t.memory, "at: the tensor has 1 axis; expected at least 2: use slice() to get one element"),
            t.shape};
  viewed_tensor out = slice_of(t, axis, index, 1, element_bytes);
  if (axis >= out.shape.rank || out.shape.rank <= 1) return out;
  for (std::size_t i = axis; i + 1 < out.shape.rank; ++i) {
    out.shape.extents[i] = out.shape.extents[i + 1];
    out.shape.strides[i] = out.shape.strides[i + 1];
  }
  --out.shape.rank;
  out.shape.extents[out.shape.rank] = out.shape.strides[out.shape.rank] = 0;
  return out;
}

viewed_tensor permuted(const viewed_tensor& t, std::span<const std::size_t> from) {
  if (!has_memory(t.memory)) return t;
  tensor_shape s{.rank = t.shape.rank};
  std::array<bool, max_rank> seen{};
  bool right = from.size() == s.rank;
  for (std::size_t i = 0; right && i < s.rank; ++i) {
    right = from[i] < s.rank && !seen[from[i]];
    if (!right) break;
    seen[from[i]] = true;
    s.extents[i] = t.shape.extents[from[i]];
    s.strides[i] = t.shape.strides[from[i]];
  }
  if (!right) {
    std::string given;
    for (const std::size_t axis : from) given += (given.empty() ? "" : ", ") + std::to_string(axis);
    return {refused_view(t.memory, cat("permuted: the axes are (", given, "); expected each number from 0 to ",
                                       s.rank - 1, " once")),
            t.shape};
  }
  return {t.memory, s};
}

viewed_tensor reshaped(const viewed_tensor& t, std::span<const extent> extents, std::size_t element_bytes) {
  if (!has_memory(t.memory)) return t;
  extent elements = 1, have = 1;
  for (const extent e : extents) elements = elements * e;
  for (std::size_t i = 0; i < t.shape.rank; ++i) have = have * t.shape.extents[i];
  if (!is_dense(t.shape, element_order::row_major))
    return {refused_view(t.memory, "reshaped: the elements of the tensor, which is " + extents_text(t.shape) +
                                       ", are not in row-major order without gaps; copy it first"),
            t.shape};
  if (elements != have)
    return {refused_view(t.memory, "reshaped: " + listed(extents, extents.size()) +
                                       " has another number of elements than " + extents_text(t.shape) +
                                       ", the extents of the tensor"),
            t.shape};
  return view_tensor(t.memory, extents, element_order::row_major, element_bytes);
}

viewed_matrix matrix_of(const viewed_tensor& t) {
  const matrix_shape s{t.shape.extents[0], t.shape.extents[1], t.shape.strides[0], t.shape.strides[1]};
  if (!has_memory(t.memory) || t.shape.rank == 2) return {t.memory, s};
  return {refused_view(t.memory, "matrix: the tensor is " + extents_text(t.shape) + "; expected 2 extents"), s};
}

bool is_dense(const tensor_shape& s, element_order o) noexcept {
  if (is_empty(s)) return true;
  std::int64_t next = 1;
  for (std::size_t i = 0; i < s.rank; ++i) {
    const std::size_t at = o == element_order::row_major ? s.rank - 1 - i : i;
    if (s.extents[at] != 1 && s.strides[at] != next) return false;
    next *= s.extents[at];
  }
  return true;
}

}  // namespace troupe::detail
