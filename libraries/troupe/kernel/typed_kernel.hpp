// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/kernel/arguments.hpp>
#include <troupe/kernel/dimensions.hpp>
#include <troupe/kernel/program.hpp>

namespace troupe::kernel {

/// A kernel whose parameters are known when the program is compiled: arguments of other types do not compile. The
/// types of the kernel itself are compared when the launch runs.
///   const auto saxpy = program.kernel<void(float, in<float>, inout<float>, int)>("saxpy");
///   gpu.tell(saxpy(blocks_for(n, 256), 256)(2.f, x, y, n));
/// A parameter is `in<T>`, `out<T>` or `inout<T>` for a pointer, `std::optional` of one for a pointer that may be null,
/// and a number or a struct for anything that is passed by value.
template <class Launch, class Signature>
class typed_kernel;

template <class Launch, class... P>
class typed_kernel<Launch, void(P...)> {
 public:
  explicit typed_kernel(function f) : function_(std::move(f)) {}

  /// The kernel with a grid and a block. Called with the arguments, it returns the request.
  class sized {
   public:
    Launch operator()(const std::type_identity_t<P>&... arguments) const {
      return {.kernel = *function_,
              .grid = grid_,
              .block = block_,
              .shared_bytes = shared_bytes_,
              .arguments = kernel::arguments(std::vector<argument>{argument(arguments)...})};
    }

   private:
    friend class typed_kernel;
    sized(const function* f, const dimensions& grid, const dimensions& block, extent shared_bytes) noexcept
        : function_(f), grid_(grid), block_(block), shared_bytes_(shared_bytes) {}

    const function* function_;
    dimensions grid_, block_;
    extent shared_bytes_;
  };
  /// The result refers to this kernel, which must outlive it.
  sized operator()(const dimensions& grid, const dimensions& block, extent shared_bytes = 0) const& noexcept {
    return {&function_, grid, block, shared_bytes};
  }
  sized operator()(const dimensions&, const dimensions&, extent = 0) && = delete;

  const function& untyped() const noexcept { return function_; }

 private:
  function function_;
};

}  // namespace troupe::kernel
