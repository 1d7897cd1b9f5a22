// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/base/enumeration.hpp>
#include <troupe/base/error.hpp>
#include <troupe/cutlass/gemm.hpp>

/// Products of groups of rows, as in mixtures of experts.
namespace troupe::cutlass {

/// The effect of a wrong group size on the groups before it.
enum class partial_results : std::uint8_t {
  refused = 0,  ///< the request fails, and everything that it writes becomes stale
  allowed = 1,  ///< the groups before the wrong one are computed, and the reply names the wrong group and size
};
TROUPE_ENUM(partial_results, refused, allowed)

/// The outcome of a grouped product: the first group that was not computed, if any.
struct grouped_outcome {
  std::int32_t wrong_group = -1;  ///< first group with a wrong size; it and the groups after it are not computed
  std::int32_t size = 0;          ///< the wrong size
  std::int32_t rows_left = 0;     ///< largest size that would have been right
  cutlass::partial_results partial_results = cutlass::partial_results::allowed;  ///< copied from the request
  std::uint8_t unused[3]{};                                                      ///< 0
};

/// Returns an error that names the wrong group, or nullopt if all groups were computed.
///   if (const auto wrong = cutlass::error_of(outcome)) return *wrong;
std::optional<error> error_of(const grouped_outcome& outcome);

/// For each group g, D_g = epilogue(A_g * B[g]). B is groups by k by n. `sizes` holds the number of rows of each group
/// in device memory; it is read when the request runs, so the application need not know the sizes. The types are those
/// of `gemm`. The groups of A and D have one of two layouts:
///   - packed: A is rows by k, D is rows by n. The first group has the first rows, and so on.
///   - separate: A is groups by maximum rows by k, D is groups by maximum rows by n.
/// In D and in all operands of the epilogue, rows that belong to no group are neither read nor written.
///
/// Operands of the epilogue: columns, matrices and reductions of rows have as many rows as D, in its layout. Rows,
/// numbers and reductions of columns or of all elements have a part for each group; an operand that is only read may
/// also be shared by all groups. Reductions of a group without rows are 0, or minus infinity for the maximum. If A
/// has no rows or B no columns, `sizes` are not read.
///
/// If a size is below 0 or exceeds the number of remaining rows, the request fails. With `partial_results::allowed` the
/// computation ends there instead: that group and the groups after it are not computed, nothing is written for them,
/// and the reply names the group.
struct gemm_grouped {
  in_any a, b;
  out_any d;
  in<std::int32_t> sizes;
  epilogue::expression epilogue = product_as_it_is;
  /// Scales as in `gemm`. The scales of A have A's layout; if groups are packed, no two rows may share a scale.
  std::optional<in_any> a_scales = {}, b_scales = {};
  product_options options = {};
  cutlass::partial_results partial_results = cutlass::partial_results::refused;
  using reply = grouped_outcome;
  TROUPE_REQUEST("cutlass.gemm_grouped", a, b, d, sizes, epilogue, a_scales, b_scales, options, partial_results)
  /// Returns the request's error if the GPU detected a wrong size while it computed; nullopt otherwise.
  static std::optional<error> failure_in(const grouped_outcome& outcome);
  void check(checker&) const;
};

}  // namespace troupe::cutlass
