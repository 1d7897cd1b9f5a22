// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/async/pending.hpp>
#include <troupe/base/complex.hpp>
#include <troupe/base/dtype.hpp>
#include <troupe/jit/recipe.hpp>
#include <troupe/kernel/requests.hpp>
#include <type_traits>

namespace troupe::fft {

/// Names of the functions that a transform calls: at least one of them.
struct callback_names {
  text load = {};   ///< returns the element at `input[at]`
  text store = {};  ///< stores `value`, usually to `output[at]`
};

/// Functions of CUDA C++ through which a transform reads or writes its elements. A handle, cheap to copy, that may be
/// used at once: transforms wait for the compiler, and fail with its error if it fails. `In` and `Out` are the types of
/// the elements of the transform's input and output.
template <class In, class Out>
class callbacks : public kernel::program {
 public:
  callbacks() noexcept = default;
  explicit callbacks(kernel::program p, bool stores = false) noexcept
      : kernel::program(std::move(p)), stores_(stores) {}

  /// Completes when the functions are compiled, or fails with an error whose text ends with the compiler's messages.
  pending<void> ready() const;
  /// Frees what the worker holds for the functions, after all earlier requests that use them. Called automatically when
  /// the last handle is destroyed.
  pending<void> unload() const;

  /// Returns true if there is a store function. Call it only in the application: a worker does not know.
  bool stores() const noexcept { return stores_; }

 private:
  bool stores_ = false;
};

namespace detail {
template <class T>
inline constexpr bool may_call_back = std::is_same_v<real_of<T>, float> || std::is_same_v<real_of<T>, double>;
kernel::program compile_callbacks(const device& gpu, jit::recipe r, const callback_names& names, dtype in, dtype out);
pending<void> ready(const kernel::program& p);
pending<void> unload(const kernel::program& p);
}  // namespace detail

/// Compiles the functions for transforms from In to Out. Returns at once. With `float2` for complex64, and `double2`
/// for complex128, their types are
///   __device__ In load(const In* input, unsigned long long at, const void* data);
///   __device__ void store(Out* output, unsigned long long at, Out value, void* data);
/// where `at` is the position of the element in its layout, and data are the request's `load_data` and `store_data`.
/// Each element is loaded at least once and stored once, in any order. The recipe's fields have the meaning they have
/// for `jit::compile`; it must not name kernels, globals, units or an architecture.
///   auto hann = fft::compile_callbacks<float, complex64>(gpu, {.source = text}, {.load = "hann"});
///   gpu.tell(fft::r2c<float>{.input = x, .output = y, .n = 1024, .callbacks = hann});
template <class In, class Out>
callbacks<In, Out> compile_callbacks(const device& gpu, jit::recipe r, callback_names names) {
  static_assert(detail::may_call_back<In> && detail::may_call_back<Out>,
                "fft::compile_callbacks has the elements of float, double, complex64 and complex128 transforms");
  const bool stores = !names.store.empty();
  return callbacks<In, Out>(detail::compile_callbacks(gpu, std::move(r), names, dtype_of<In>, dtype_of<Out>), stores);
}

template <class In, class Out>
pending<void> callbacks<In, Out>::ready() const {
  return detail::ready(*this);
}
template <class In, class Out>
pending<void> callbacks<In, Out>::unload() const {
  return detail::unload(*this);
}

// The requests that `compile_callbacks` and the functions of `callbacks` send.   cufftXtSetJITCallback
using compile_callbacks_recipe = kernel::make_program<"fft", "compile_callbacks">;
using read_summary = kernel::read_summary<"fft">;
using unload = kernel::unload<"fft">;

}  // namespace troupe::fft
