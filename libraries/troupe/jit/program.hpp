// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/jit/recipe.hpp>
#include <troupe/kernel/program_of.hpp>

namespace troupe::jit {

/// Compiled kernels on a device, named as in the recipe. A handle, cheap to copy, that may be used at once: requests
/// that use it run after the compile, and fail with its error if it fails. The error that `ready` returns ends with the
/// compiler's messages.
class program : public kernel::program_of<"jit"> {
 public:
  using program_of::program_of;

  /// Returns the compiler's messages once the compile has ended: warnings, errors, and notes about the cache.
  pending<std::string> log() const;
  /// Returns the compiled image, for `module::load`, in this program or another.
  pending<std::vector<std::byte>> image() const;
  /// Cancels the compile: requests that use the program then fail with `retry_later`. Has no effect on equal programs,
  /// or if the compile has already ended.
  void cancel() const;
};

/// Compiles CUDA C++ for a device. Returns at once; the compiler runs in the background, once for equal programs. If
/// any process of this user has compiled an equal program before, the image comes from the cache on disk. If the recipe
/// is invalid, every request that uses the program is refused with the reason.
program compile(const device& gpu, recipe r);

}  // namespace troupe::jit
