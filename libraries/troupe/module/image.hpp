// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <troupe/kernel/program_of.hpp>

namespace troupe::module {

/// Kernels that were compiled before, loaded on a device. A handle, cheap to copy, which may be used at once: requests
/// wait for the loading in order, and fail with its error if it does.
class image : public kernel::program_of<"module"> {
 public:
  using program_of::program_of;
};

/// How to load an image.
struct load_options {
  text name = "image";         ///< what messages call it
  bool flush_to_zero = false;  ///< subnormal numbers count as 0. On a GPU the image itself says; host engine only
};

/// Loads an image: of `jit::program::image`, or of a file. On the host engine it is an ELF shared object as
/// <troupe/cuda_on_host/image.h> describes it, whose code is trusted; on a GPU a cubin, a fatbin or PTX. The bytes are
/// copied.
image load(const device& gpu, std::span<const std::byte> bytes, load_options options = {});

}  // namespace troupe::module
