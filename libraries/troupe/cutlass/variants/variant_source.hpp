// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/cutlass/variants/hopper_variant.hpp>
#include <troupe/cutlass/variants/signature.hpp>

namespace troupe::cutlass {

/// Names of the kernel in every source, and of the second kernel in sources with reductions: see `has_reductions`.
inline constexpr char variant_kernel[] = "troupe_cutlass_variant", combining_kernel[] = "troupe_cutlass_combine";

/// A kernel's source and its launch configuration.
struct variant_source {
  std::string name;                                 ///< name for messages: "cutlass.hopper 128x256x64 ..."
  std::string source;                               ///< also the cache key of the compiled image
  unsigned threads = 0, cluster = 1;                ///< threads of a block, blocks of a cluster
  bool overlaps = false;                            ///< true if the kernel itself waits for the previous kernel
  std::size_t argument_bytes = 0, fixed_bytes = 0;  ///< bytes of all parameters, and of their fixed part, on the host
};

/// Returns the bytes of a kernel's parameters without convolution_arguments. The kernel reports the size that its
/// compiler computed, and the engine compares the two.
std::size_t argument_bytes_of(const kernel_signature& f) noexcept;
/// Returns the bytes of the convolution_arguments that precede the other parameters of a convolution's kernel.
std::size_t convolution_bytes() noexcept;

/// Returns the source of the epilogue; `transposed` if rows of the kernel are columns of D.
std::string epilogue_source_of(const kernel_signature& f, bool transposed);
/// Returns the kernel with these template arguments; the caller sets its name and the sizes of its parameters.
variant_source source_of_variant(const hopper_variant& c, const std::string& epilogue_text);
/// Returns the kernel of a complete plan. `f` is the signature of the request.
variant_source source_of_variant(const kernel_signature& f, const plan& p);

}  // namespace troupe::cutlass
