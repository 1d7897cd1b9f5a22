// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/jit/recipe.hpp>
#include <troupe/kernel/program_of.hpp>

namespace troupe::jit {

/// Compiled kernels on a device, named as in the recipe. A handle, cheap to copy, which may be used at once: requests
/// wait for the compiler in order, and fail with its error if it does. An error of `ready` ends with its messages.
class program : public kernel::program_of<"jit"> {
 public:
  using program_of::program_of;

  /// What the compiler said, once it has ended: warnings, errors, and notes about the cache.
  pending<std::string> log() const;
  /// The compiled image, for `module::load`, now or in another program.
  pending<std::vector<std::byte>> image() const;
  /// Asks the compiler to give up: what was asked of the program fails with `retry_later` then. Equal programs are
  /// compiled nevertheless, and one that is compiled already stays so.
  void cancel() const;
};

/// Compiles CUDA C++ for a device. Returns at once; the compiler runs in the background, and equal programs once. An
/// image that was compiled before, by whatever process of this user, comes from the cache on disk.
/// What the recipe asks for wrongly makes a program whose every use is refused with that reason.
program compile(const device& gpu, recipe r);

}  // namespace troupe::jit
