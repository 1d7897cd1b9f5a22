// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/cutlass/cells/form.hpp>
#include <troupe/cutlass/cells/hopper_cell.hpp>

namespace troupe::cutlass {

/// What the kernel of every text is named, and in texts with reductions the kernel that combines their parts.
inline constexpr char cell_kernel[] = "troupe_cutlass_cell", combining_kernel[] = "troupe_cutlass_combine";

/// A kernel's text and how it is launched.
struct cell_text {
  std::string name;    ///< for messages: "cutlass.hopper 128x256x64 ..."
  std::string source;  ///< which is its key, too
  unsigned threads = 0, cluster = 1;
  bool overlaps = false;                            ///< it waits itself for the kernel before it
  std::size_t argument_bytes = 0, fixed_bytes = 0;  ///< as the host believes
};

/// Bytes of a kernel's parameters, without a convolution's window, and of the window before them.
std::size_t argument_bytes_of(const whole_form& f) noexcept;
std::size_t window_bytes() noexcept;

/// The text of the epilogue, as the kernel sees it.
std::string tail_of(const whole_form& f, bool transposed);
/// Returns the kernel of a cell, but for its name and the sizes of its parameters.
cell_text text_of_cell(const hopper_cell& c, const std::string& tail);
/// Returns the kernel of a plan without anything left open. `f` is the form of the request.
cell_text text_of_cell(const whole_form& f, const plan& p);

}  // namespace troupe::cutlass
