// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/cutlass/variants/hopper_variant.hpp>
#include <troupe/cutlass/variants/signature.hpp>

namespace troupe::cutlass {

/// Name of every text's kernel, and of the kernel that combines the parts of reductions in texts that have them.
inline constexpr char variant_kernel[] = "troupe_cutlass_cell", combining_kernel[] = "troupe_cutlass_combine";

/// A kernel's source and its launch configuration.
struct variant_source {
  std::string name;    ///< for messages: "cutlass.hopper 128x256x64 ..."
  std::string source;  ///< also the key of its image
  unsigned threads = 0, cluster = 1;
  bool overlaps = false;                            ///< the kernel itself waits for the one before it
  std::size_t argument_bytes = 0, fixed_bytes = 0;  ///< as computed by the host
};

/// Sizes computed by the host, in bytes, which the kernel asserts: its parameters without a convolution's window, and
/// the window before them.
std::size_t argument_bytes_of(const kernel_signature& f) noexcept;
std::size_t window_bytes() noexcept;

/// The text of the epilogue, with rows and columns of the kernel.
std::string tail_of(const kernel_signature& f, bool transposed);
/// Returns the kernel with these template arguments, except for its name and the sizes of its parameters.
variant_source source_of_variant(const hopper_variant& c, const std::string& tail);
/// Returns the kernel of a complete plan. `f` is the signature of the request.
variant_source source_of_variant(const kernel_signature& f, const plan& p);

}  // namespace troupe::cutlass
