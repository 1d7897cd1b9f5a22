// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <troupe/kernel/attributes.hpp>
#include <troupe/kernel/dimensions.hpp>
#include <troupe/kernel/program.hpp>

namespace troupe::module {

/// Kernels that were compiled before, loaded on a device. A handle, cheap to copy, which may be used at once: requests
/// wait for the loading in order, and fail with its error if it does.
class image : public kernel::program {
 public:
  image() noexcept = default;
  explicit image(kernel::program p) noexcept : kernel::program(std::move(p)) {}

  /// A kernel for `launch`; white space in its name does not count. A name that there is none of is refused when it is
  /// used.
  troupe::kernel::function kernel(std::string name) const { return {*this, std::move(name)}; }
  /// A variable for `write_global` and `read_global`.
  troupe::kernel::global global(std::string name) const { return {*this, std::move(name)}; }

  /// Answered when it is loaded, or with the reason why it cannot be.
  pending<void> ready() const;
  /// How long it took, and how many kernels and globals there are.
  pending<troupe::kernel::build_summary> summary() const;
  pending<troupe::kernel::attributes> attributes(const std::string& kernel) const;
  /// How many of a kernel's blocks run at the same time, and with which block most threads would.
  pending<troupe::kernel::occupancy> occupancy(const std::string& kernel, const troupe::kernel::dimensions& block,
                                               extent shared_bytes = 0,
                                               const troupe::kernel::dimensions& cluster = 1) const;
  /// Takes it out of the worker, after everything that was asked of it. Later uses are refused. Happens by itself when
  /// the last handle goes.
  pending<void> unload() const;
};

/// How to load an image.
struct load_options {
  text name = "image";         ///< what messages call it
  bool flush_to_zero = false;  ///< subnormal numbers count as 0. On a GPU the image itself says; host engine only
};

/// Loads an image: of `jit::program::image`, or of a file. On the host engine it is an ELF shared object as
/// troupe/kernel/host/image.h describes it, whose code is trusted; on a GPU a cubin, a fatbin or PTX. The bytes are
/// copied.
image load(const device& gpu, std::span<const std::byte> bytes, load_options options = {});

}  // namespace troupe::module
