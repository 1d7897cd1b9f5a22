// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/text/fixed_string.hpp>
#include <troupe/kernel/attributes.hpp>
#include <troupe/kernel/dimensions.hpp>
#include <troupe/kernel/program.hpp>
#include <troupe/kernel/typed_kernel.hpp>

namespace troupe::kernel {

template <fixed_string Library>
struct launch;

/// The members that the program handles of all libraries with kernels share, such as `jit::program` and
/// `module::image`. The library's source instantiates this class with the definitions in program_requests.hpp.
template <fixed_string Library>
class program_of : public program {
 public:
  program_of() noexcept = default;
  explicit program_of(program p) noexcept : program(std::move(p)) {}

  /// Returns a kernel for `launch`; white space in `name` is ignored. If the program has no such kernel, its launches
  /// are refused.
  function kernel(std::string name) const { return {*this, std::move(name)}; }
  /// Returns a kernel whose arguments are checked when the application is compiled: see typed_kernel.
  template <class Signature>
  typed_kernel<launch<Library>, Signature> kernel(std::string name) const {
    return typed_kernel<launch<Library>, Signature>(function(*this, std::move(name)));
  }
  /// Returns a variable for `write_global` and `read_global`.
  troupe::kernel::global global(std::string name) const { return {*this, std::move(name)}; }

  /// Completes when the program has been built, or fails with the reason why it cannot be.
  pending<void> ready() const;
  /// Returns how long the build took, where the image came from, and how many kernels and globals the program has.
  pending<build_summary> summary() const;
  pending<troupe::kernel::attributes> attributes(const std::string& kernel) const;
  /// Returns how many of a kernel's blocks run at the same time, and with which block size most threads run.
  pending<troupe::kernel::occupancy> occupancy(const std::string& kernel, const dimensions& block,
                                               extent shared_bytes = 0, const dimensions& cluster = 1) const;
  /// Frees what the worker holds for the program, after all earlier requests that use it. Later uses are refused.
  /// Called automatically when the last handle is destroyed.
  pending<void> unload() const;
};

}  // namespace troupe::kernel
