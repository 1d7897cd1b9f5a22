// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/jit/recipe.hpp>
#include <troupe/kernel/attributes.hpp>
#include <troupe/kernel/dimensions.hpp>
#include <troupe/kernel/program.hpp>

namespace troupe::jit {

/// Compiled kernels on a device. A handle, cheap to copy, which may be used at once: requests wait for the compiler in
/// order, and fail with its error if it does.
class program : public kernel::program {
 public:
  program() noexcept = default;
  explicit program(kernel::program p) noexcept : kernel::program(std::move(p)) {}

  /// A kernel for `launch`, named as in the recipe; white space does not count. A name that there is none of is refused
  /// when it is used.
  troupe::kernel::function kernel(std::string name) const { return {*this, std::move(name)}; }
  /// A variable for `write_global` and `read_global`, which the recipe names.
  troupe::kernel::global global(std::string name) const { return {*this, std::move(name)}; }

  /// Answered when it is compiled, or with the reason why it is not: the text ends with the compiler's messages.
  pending<void> ready() const;
  /// How long it took, and where it came from.
  pending<troupe::kernel::build_summary> summary() const;
  /// What the compiler said, once it has ended: warnings, errors, and notes about the cache.
  pending<std::string> log() const;
  /// The compiled image, for `module::load`, now or in another program.
  pending<std::vector<std::byte>> image() const;
  pending<troupe::kernel::attributes> attributes(const std::string& kernel) const;
  /// How many of a kernel's blocks run at the same time, and with which block most threads would.
  pending<troupe::kernel::occupancy> occupancy(const std::string& kernel, const troupe::kernel::dimensions& block,
                                               extent shared_bytes = 0,
                                               const troupe::kernel::dimensions& cluster = 1) const;
  /// Asks the compiler to give up: what was asked of the program fails with `retry_later` then. Equal programs are
  /// compiled nevertheless, and one that is compiled already stays so.
  void cancel() const;
  /// Gives back what it holds in the worker, after everything that was asked of it. Later uses are refused. Happens by
  /// itself when the last handle goes.
  pending<void> unload() const;
};

/// Compiles CUDA C++ for a device. Returns at once; the compiler runs in the background, and equal programs once. An
/// image that was compiled before, by whatever process of this user, comes from the cache on disk.
/// What the recipe asks for wrongly makes a program whose every use is refused with that reason.
program compile(const device& gpu, recipe r);

}  // namespace troupe::jit
