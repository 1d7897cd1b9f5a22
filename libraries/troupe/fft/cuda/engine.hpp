// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/cuda/kernels.hpp>
#include <troupe/cuda/launch.hpp>
#include <troupe/cuda/per_lane.hpp>
#include <troupe/fft/cuda/gpu_callbacks.hpp>
#include <troupe/fft/cuda/kernel_arguments.hpp>
#include <troupe/fft/cuda/lane.hpp>
#include <troupe/fft/cuda/plans.hpp>
#include <troupe/fft/placement.hpp>
#include <troupe/fft/transforms.hpp>

namespace troupe::fft {

result<cuda::kernel_set> load_kernels();

/// The CUDA engine of fft: cuFFT with cached plans, and our own kernels for normalization, half types, and small
/// transforms that share a call. Half types are computed in float.
class cufft {
 public:
  static constexpr bool recordable = true;
  static result<std::unique_ptr<cufft>> make(const engine_context& context);
  const char* version() const noexcept { return version_.c_str(); }
  std::string notes() const;

  template <class T>
  result<void> run(const c2c<T>& r, call& c) {
    return carry_out<T, T>(r, r.n, r.n, r.direction == direction::forward, true, c);
  }
  template <class T>
  result<void> run(const r2c<T>& r, call& c) {
    return carry_out<T, basic_complex<T>>(r, r.n, half_of(r.n), true, true, c);
  }
  template <class T>
  result<void> run(const c2r<T>& r, call& c) {
    return carry_out<basic_complex<T>, T>(r, half_of(r.n), r.n, false, r.consumes_input, c);
  }
  template <class T>
  result<plan_info> run(const prepare<T>& r, call& c);

  result<void> run(const compile_callbacks_recipe& r, call&) { return callbacks_.make(kernel::root_at(r.root.data())); }
  result<kernel::build_summary> run(const read_summary& r, call&) {
    return callbacks_.summary(kernel::root_at(r.root));
  }
  result<void> run(const unload& r, call&) {
    const kernel::program_root& root = kernel::root_at(r.root.data());
    callbacks_.unload(root);
    plans_.forget(root.id);
    return {};
  }
  template <class R>
    requires requires(const R& r) { r.callbacks; }
  bool ready(const R& r) {
    return r.callbacks.address() == 0 || callbacks_.is_known(r.callbacks.root());
  }
  bool ready(const read_summary& r) { return callbacks_.is_known(kernel::root_at(r.root)); }

  /// Returns equal keys for small transforms that differ only in their memory, which may share a call.
  template <class T>
  static std::uint64_t group_of(const c2c<T>& r) noexcept {
    return group_key(r, static_cast<std::uint64_t>(r.direction));
  }
  template <class T>
  static std::uint64_t group_of(const r2c<T>& r) noexcept {
    return group_key(r, 0);
  }
  template <class T>
  static std::uint64_t group_of(const c2r<T>& r) noexcept {
    return group_key(r, 1);
  }
  template <class T>
  result<void> run_group(const group<c2c<T>>& all, call& c) {
    const auto r = all[0];
    return carry_out_group<T, T>(all, r, r.n, r.n, r.direction == direction::forward, c);
  }
  template <class T>
  result<void> run_group(const group<r2c<T>>& all, call& c) {
    const auto r = all[0];
    return carry_out_group<T, basic_complex<T>>(all, r, r.n, half_of(r.n), true, c);
  }
  template <class T>
  result<void> run_group(const group<c2r<T>>& all, call& c) {
    const auto r = all[0];
    return carry_out_group<basic_complex<T>, T>(all, r, half_of(r.n), r.n, false, c);
  }

 private:
  cufft(cuda::kernel_set kernels, cuda::per_lane<lane> lanes, jit::capability gpu, bool may_compile)
      : kernels_(std::move(kernels)), lanes_(std::move(lanes)), callbacks_(gpu, may_compile) {}
  template <class R>
  static std::uint64_t group_key(const R& r, std::uint64_t direction) noexcept;
  template <class R>
  result<gpu_callbacks::ref> callbacks_of(const R& r, const call& c);
  template <class In, class Out, class R>
  result<void> carry_out(const R& r, const shape& in_n, const shape& out_n, bool forward, bool consumes_input, call& c);
  template <class In, class Out, class R>
  result<void> carry_out_group(const group<R>& all, const R& r, const shape& in_n, const shape& out_n, bool forward,
                               call& c);
  template <class A>
  result<void> launch(cuda::kernel_id which, std::uint64_t elements, unsigned rows, CUstream stream,
                      const A& arguments) const;

  std::string version_;
  cuda::kernel_set kernels_;
  cuda::per_lane<lane> lanes_;
  gpu_callbacks callbacks_;
  plans plans_;
};

}  // namespace troupe::fft
