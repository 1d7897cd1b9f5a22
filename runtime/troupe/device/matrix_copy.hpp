// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/async/pending.hpp>
#include <troupe/device/options.hpp>
#include <troupe/memory/buffer.hpp>

namespace troupe {

class device;

/// A copy between column-major matrices of one device: `columns` columns of `rows` elements. A leading dimension is the
/// distance from one column to the next, in elements; `tight` means no gaps.
template <class T>
struct matrix_copy {
  buffer<T> to;
  extent to_ld = tight;
  buffer<T> from;
  extent from_ld = tight;
  extent rows;
  extent columns;
};

namespace detail {
pending<void> copy_2d(const device& gpu, const memory_range& to, extent to_pitch, const memory_range& from,
                      extent from_pitch, extent width, extent rows, const call_options& o);
}

/// Copies a matrix, or a block of one, to another matrix.
template <class T>
pending<void> copy_2d(const device& gpu, const matrix_copy<T>& c, const call_options& o = {}) {
  const auto pitch = [](extent ld) { return ld == tight ? ld : ld * sizeof(T); };
  return detail::copy_2d(gpu, c.to.memory(), pitch(c.to_ld), c.from.memory(), pitch(c.from_ld), c.rows * sizeof(T),
                         c.columns, o);
}

}  // namespace troupe
