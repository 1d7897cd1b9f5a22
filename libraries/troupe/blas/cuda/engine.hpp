// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/compiler/for_each.hpp>
#include <troupe/base/try.hpp>
#include <troupe/blas/cuda/job.hpp>
#include <troupe/blas/internal/operations.hpp>
#include <troupe/cuda/per_lane.hpp>
#include <troupe/request/encoding/describe.hpp>

namespace troupe::blas {

/// The CUDA engine of blas: cuBLAS, with a handle and a workspace for each lane, and our own kernels for what cuBLAS
/// lacks. Each request is enqueued on the stream of its lane.
///
/// Each source beside this one defines `enqueue(request, job&)` for some requests, and lists them at its end. Requests
/// that may share a call also have `group_key(request)` and `enqueue_group(requests, job&)`.
class cublas {
 public:
  static constexpr bool recordable = true;
  static result<std::unique_ptr<cublas>> make(const engine_context& context);
  const char* version() const noexcept { return version_.c_str(); }
  std::string notes() const;

  template <class R>
  result<void> run(const R& r, call& c) {
    lane* const on = TROUPE_TRY(lanes_.of(c));
    job j(*on, kernels_, c);
    auto done = enqueue(r, j);
    if (!done && done.error().reaction() == reaction::fatal) return explained(done.error(), describe(r));
    return done;
  }

  template <class R>
    requires requires(const R& r) { group_key(r); }
  static std::uint64_t group_of(const R& r) noexcept {
    return group_key(r);
  }
  template <class R>
  result<void> run_group(const group<R>& all, call& c) {
    lane* const on = TROUPE_TRY(lanes_.of(c));
    job j(*on, kernels_, c);
    return enqueue_group(all, j);
  }

 private:
  cublas(cuda::kernel_set kernels, cuda::per_lane<lane> lanes)
      : kernels_(std::move(kernels)), lanes_(std::move(lanes)) {}
  static error explained(const error& e, const std::string& request);

  std::string version_;
  cuda::kernel_set kernels_;
  cuda::per_lane<lane> lanes_;
};

/// Defines enqueue(R<T>) for each request R of the list as FUNCTION<T>(request, job, ROUTINE(R_64)). ROUTINE(R_64) is
/// cuBLAS's routine of that name; ROUTINE is TROUPE_CUBLAS or another macro of routines.hpp.
#define TROUPE_ENQUEUED_BY(FUNCTION, ROUTINE, ...) \
  TROUPE_FOR_EACH(TROUPE_ENQUEUED_BY_ONE, (FUNCTION, ROUTINE), __VA_ARGS__)
#define TROUPE_ENQUEUED_BY_ONE(HOW, R)                                 \
  template <class T>                                                   \
  static result<void> enqueue(const R<T>& r, job& j) {                 \
    return TROUPE_FIRST_OF HOW<T>(r, j, TROUPE_SECOND_OF HOW(R##_64)); \
  }

}  // namespace troupe::blas
