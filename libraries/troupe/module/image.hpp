// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <troupe/kernel/program_of.hpp>

namespace troupe::module {

/// Precompiled kernels, loaded on a device. A handle, cheap to copy, that may be used at once: requests that use it run
/// after the image is loaded, and fail with its error if that fails.
class image : public kernel::program_of<"module"> {
 public:
  using program_of::program_of;
};

/// Options of loading an image.
struct load_options {
  text name = "image";  ///< the image's name in messages
  /// Subnormal numbers are flushed to 0. Host engine only: on a GPU, this was decided when the image was compiled.
  bool flush_to_zero = false;
};

/// Loads an image: the result of `jit::program::image`, or the contents of a file. For the host engine, it is an ELF
/// shared object as described in <troupe/cuda_on_host/image.h>, whose code is trusted; for a GPU, a cubin, a fatbin or
/// PTX. The bytes are copied.
image load(const device& gpu, std::span<const std::byte> bytes, load_options options = {});

}  // namespace troupe::module
