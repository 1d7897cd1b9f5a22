// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/fixed_string.hpp>
#include <troupe/kernel/attributes.hpp>
#include <troupe/kernel/dimensions.hpp>
#include <troupe/kernel/program.hpp>

namespace troupe::kernel {

/// What the handles to programs of all libraries with kernels do: `jit::program` and `module::image` are such. The
/// library's source instantiates it, with what internal/program_requests.hpp defines.
template <fixed_string Library>
class program_of : public program {
 public:
  program_of() noexcept = default;
  explicit program_of(program p) noexcept : program(std::move(p)) {}

  /// A kernel for `launch`; white space in its name does not count. A name that there is none of is refused when it is
  /// used.
  function kernel(std::string name) const { return {*this, std::move(name)}; }
  /// A variable for `write_global` and `read_global`.
  troupe::kernel::global global(std::string name) const { return {*this, std::move(name)}; }

  /// Answered when it is made, or with the reason why it cannot be.
  pending<void> ready() const;
  /// How long it took, where it came from, and how many kernels and globals there are.
  pending<build_summary> summary() const;
  pending<troupe::kernel::attributes> attributes(const std::string& kernel) const;
  /// How many of a kernel's blocks run at the same time, and with which block most threads would.
  pending<troupe::kernel::occupancy> occupancy(const std::string& kernel, const dimensions& block,
                                               extent shared_bytes = 0, const dimensions& cluster = 1) const;
  /// Frees what it holds in the worker, after everything that was asked of it. Later uses are refused. Happens by
  /// itself when the last handle goes.
  pending<void> unload() const;
};

}  // namespace troupe::kernel
