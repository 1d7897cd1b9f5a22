// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <troupe/cutlass/problems/convolution_problem.hpp>
#include <troupe/epilogue/host/epilogue_pass.hpp>
#include <troupe/windows/panels.hpp>

/// Code that convolutions and their gradients share.
namespace troupe::cutlass::host {

using epilogue::host::epilogue_pass, epilogue::host::part_of_product, epilogue::host::partial_reductions,
    epilogue::host::rectangle, epilogue::host::result_place;

inline constexpr std::int64_t panel_bytes = 4 << 20;       // bytes of gathered elements and sums: they fit the cache
inline constexpr std::int64_t least_panel = 64;            // positions that are multiplied together, if memory suffices
inline constexpr std::int64_t elements_of_part = 1 << 15;  // elements of a panel for one thread

/// An array without initial values.
template <class T>
struct uninitialized_array {
  explicit uninitialized_array(std::int64_t n) : all(new T[static_cast<std::size_t>(n)]) {}
  T* data() const noexcept { return all.get(); }
  std::unique_ptr<T[]> all;
};

/// Panels of a tensor in memory.
class tensor_panels : public windows::panels {
 public:
  /// Makes panels of a tensor at `from`; the other arguments are those of windows::panels.
  tensor_panels(const placed_tensor& from, const windows::geometry& g, bool backward, std::int64_t channels) noexcept
      : panels({from.item, from.channel, from.spatial}, g, backward, channels,
               channels > 1 && from.channel <= from.spatial[2]),
        address_(from.address),
        type_(from.type) {}

  /// Gathers all columns of `count` positions, as float, double, or int8_t for i8.
  template <class T>
  void gather(std::int64_t group, std::int64_t first, std::int64_t count, T* to, thread_team& team) const {
    gather(part{group, first, count, 0, channels()}, to, team);
  }
  template <class T>
  void gather(const part& p, T* to, thread_team& team) const;

 private:
  std::uint64_t address_;
  dtype type_;
};

/// Computes a part of the result from a part of the product, with several threads. Appends its partial reductions.
template <class N>
void run_epilogue(const epilogue_pass<N>& pass, const rectangle& where, const part_of_product<N>& product,
                  thread_team& team, std::vector<partial_reductions>& parts) {
  const std::int64_t lines = std::max<std::int64_t>(1, elements_of_part / where.count);
  const std::int64_t count = (where.lines + lines - 1) / lines;
  const std::size_t before = parts.size();
  parts.resize(before + static_cast<std::size_t>(count));
  team.spread(count, 1, [&](std::int64_t i) {
    const std::int64_t at = i * lines, shift = at * product.line_stride;
    parts[before + static_cast<std::size_t>(i)] =
        pass.run({where.first_line + at, std::min(lines, where.lines - at), where.first, where.count},
                 {product.left + shift, product.right + shift, product.line_stride});
  });
}

/// Returns the shape of the result; a paired epilogue halves the channels.
tensor_shape shape_of_result(const convolution_problem& p) noexcept;

/// Copies a contiguous matrix to image `which` of the result: rows are positions, columns channels.
void store_image(const std::byte* from, const convolution_problem& p, std::int64_t which, thread_team& team);
/// Copies a contiguous matrix to filters: rows are filters, columns their elements in the order of `o`.
void store_filters(const std::byte* from, const convolution_problem& p, const filter_order& o, thread_team& team);

/// An element of a filter: its channel, and its number in the filter's window.
struct filter_element {
  std::int64_t channel, position;
};
/// Returns the filter element of each column of `dfilters`.
std::vector<filter_element> elements_of_filter(const tensor_shape& filters, const filter_order& o);

/// Reads filters as contiguous lines of terms in the order of `panels`: one line for each channel of the result.
template <class T>
void pack_filters(const convolution_problem& p, const tensor_panels& panels, T* to, thread_team& team);

}  // namespace troupe::cutlass::host
