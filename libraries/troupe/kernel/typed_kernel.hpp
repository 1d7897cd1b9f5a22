// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <limits>
#include <optional>
#include <troupe/kernel/arguments.hpp>
#include <troupe/kernel/dimensions.hpp>
#include <troupe/kernel/program.hpp>
#include <utility>

namespace troupe::kernel {

/// True if each number of type A is exactly representable as a P: `int` for `long` or `double`, but not for `float`.
template <class A, class P>
inline constexpr bool is_kept_by =
    requires(A a) { P{a}; } || (std::is_integral_v<A> && std::is_floating_point_v<P> &&
                                std::numeric_limits<A>::digits <= std::numeric_limits<P>::digits);

/// An argument of a typed kernel. A number must have the parameter's type, or a type whose values the parameter can
/// hold without loss, such as `int` for `double`.
template <class P>
class given {
 public:
  given(const P& value) : argument_(value) {}
  template <class A>
    requires(std::convertible_to<A &&, P> && !std::is_arithmetic_v<P>)
  given(A&& value) : argument_(P(std::forward<A>(value))) {}
  given(std::nullptr_t)
    requires std::convertible_to<std::nullopt_t, P>
      : argument_(nullptr) {}

  operator const argument&() const noexcept { return argument_; }

 private:
  argument argument_;
};
template <class P>
  requires std::is_arithmetic_v<P>
class given<P> {
 public:
  template <class A>
    requires(std::is_arithmetic_v<A> && is_kept_by<A, P>)
  given(A value) : argument_(static_cast<P>(value)) {}
  /// If the size does not fit in the parameter, the launch is refused.
  given(extent size)
    requires std::integral<P>
      : argument_(std::in_range<P>(size.value()) ? argument(static_cast<P>(size.value())) : argument(size)) {}

  operator const argument&() const noexcept { return argument_; }

 private:
  argument argument_;
};

/// A kernel whose parameters are known when the application is compiled: wrong arguments do not compile. The types of
/// the kernel itself are compared when the launch runs.
///   const auto saxpy = program.kernel<void(float, in<float>, inout<float>, int)>("saxpy");
///   gpu.tell(saxpy(blocks_for(n, 256), 256)(2.f, x, y, n));
/// In the signature, write `in<T>`, `out<T>` or `inout<T>` for a pointer, `std::optional` of one for a pointer that may
/// be null, `with<S>` for a struct with addresses of buffers in it, and the type itself for a number or a struct that
/// is passed by value.
template <class Launch, class Signature>
class typed_kernel;

template <class Launch, class... P>
class typed_kernel<Launch, void(P...)> {
  static_assert((!std::is_pointer_v<P> && ...),
                "a pointer is in<T>, out<T> or inout<T> here: `const float*` is in<float>, `float*` is inout<float>");
  static_assert((!std::is_reference_v<P> && ...), "a kernel takes its parameters by value");

 public:
  /// Makes an empty handle, whose launches are refused.
  typed_kernel() : function_(program(), std::string()) {}
  explicit typed_kernel(function f) : function_(std::move(f)) {}

  /// The kernel with a grid and a block. Called with the arguments, it returns the request. `Function` is a reference
  /// to the typed kernel, or a copy if that was a temporary object.
  template <class Function>
  class sized {
   public:
    Launch operator()(const given<P>&... arguments) const {
      return {.kernel = function_,
              .grid = grid_,
              .block = block_,
              .shared_bytes = shared_bytes_,
              .arguments = kernel::arguments(std::vector<argument>{static_cast<const argument&>(arguments)...})};
    }

   private:
    friend class typed_kernel;
    template <class F>
    sized(F&& f, const dimensions& grid, const dimensions& block, extent shared_bytes)
        : function_(std::forward<F>(f)), grid_(grid), block_(block), shared_bytes_(shared_bytes) {}

    Function function_;
    dimensions grid_, block_;
    extent shared_bytes_;
  };
  /// The result refers to this kernel, which must outlive it.
  sized<const function&> operator()(const dimensions& grid, const dimensions& block,
                                    extent shared_bytes = 0) const& noexcept {
    return {function_, grid, block, shared_bytes};
  }
  sized<function> operator()(const dimensions& grid, const dimensions& block, extent shared_bytes = 0) && {
    return {std::move(function_), grid, block, shared_bytes};
  }

  const function& untyped() const noexcept { return function_; }

 private:
  function function_;
};

}  // namespace troupe::kernel
