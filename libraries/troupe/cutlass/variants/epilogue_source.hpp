// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <troupe/epilogue/op.hpp>

/// CUDA C++ of epilogues, generated for a problem.
namespace troupe::cutlass {

/// Properties of an epilogue's operand in memory that are known when a kernel is compiled. Rows are rows of the kernel.
struct memory_kind {
  dtype type{};
  /// 0: the elements of a row have any stride; -1: one element for the whole row; otherwise the bytes that can be read
  /// at once.
  std::int8_t access = 0;
  friend bool operator==(const memory_kind&, const memory_kind&) = default;
};

/// Returns the name of an element type in the templates: see templates/numbers.cuh.
std::string_view name_of_type(dtype t) noexcept;

/// Returns the epilogue as a struct `kernel_epilogue`, whose `apply` computes it for consecutive elements of a row: see
/// templates/lines.cuh. `sums` is the type in which the epilogue is computed: f32 or f64. If `transposed`, rows of the
/// kernel's product are columns of the request's result.
std::string epilogue_source(std::span<const epilogue::node> nodes, std::span<const memory_kind> memory,
                            std::size_t numbers, dtype sums, bool transposed);

/// Returns true if a kernel source has a second kernel, which combines partial results of reductions.
bool has_reductions(std::string_view text) noexcept;

}  // namespace troupe::cutlass
