// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/cutlass/image_views.hpp>
#include <troupe/cutlass/problems/convolution_problem.hpp>
#include <troupe/request/encoding/describe.hpp>

namespace troupe::cutlass::detail {
namespace {

using troupe::detail::viewed_tensor, troupe::detail::text;

// Returns a view of `memory` with this shape, or one whose every use is refused with `why`.
viewed_tensor shown_or_refused(const memory_range& memory, const tensor_shape& shape, std::string_view why,
                               const tensor_shape& of) {
  const bool exists = memory.owner && memory.owner->address != 0;
  if (exists && why.empty()) return {memory, shape};
  tensor_shape none{.rank = shape.rank};
  for (std::size_t i = 0; i < shape.rank; ++i) none.extents[i] = none.strides[i] = 1;
  if (!exists) return {memory, none};
  const error refused(reaction::caller_bug, "cutlass", cat(why, "; the tensor is ", text(of)));
  return {{memory.owner->owner->failed_buffer(memory.bytes, refused), 0, memory.bytes}, none};
}

bool has_rank(const tensor_shape& s) noexcept { return s.rank >= 3 && s.rank <= 2 + windows::most_spatial; }

}  // namespace

viewed_tensor view_images(const memory_range& memory, const tensor_shape& s) {
  if (!has_rank(s))
    return shown_or_refused(memory, {.rank = 3}, "image_matrices: expected image x channel x 1 to 3 spatial axes", s);
  const matrices_of_result m = matrices_of_images(s);
  return shown_or_refused(memory,
                          {.rank = 3,
                           .extents = {m.count, m.one.rows, m.one.columns},
                           .strides = {m.stride, m.one.row_stride, m.one.column_stride}},
                          m.is_mergeable() ? ""
                                           : "image_matrices: expected one stride from each position to the next; "
                                             "copy the images first",
                          s);
}

viewed_tensor view_filters(const memory_range& memory, const tensor_shape& s) {
  if (!has_rank(s))
    return shown_or_refused(memory, {.rank = 2}, "filter_matrix: expected filter x channel x 1 to 3 spatial axes", s);
  const matrices_of_result m = matrix_of_filters(s);
  return shown_or_refused(
      memory, {.rank = 2, .extents = {m.one.rows, m.one.columns}, .strides = {m.one.row_stride, m.one.column_stride}},
      m.is_mergeable() ? ""
                       : "filter_matrix: expected one stride from each element of a filter to the next; copy the "
                         "filters first",
      s);
}

}  // namespace troupe::cutlass::detail
