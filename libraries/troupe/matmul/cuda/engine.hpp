// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cuda/handles.hpp>
#include <troupe/cuda/launch.hpp>
#include <troupe/cuda/per_lane.hpp>
#include <troupe/cuda/scratch.hpp>
#include <troupe/matmul/cuda/execution_plan.hpp>
#include <troupe/matmul/cuda/group.hpp>
#include <troupe/matmul/cuda/kernels.hpp>
#include <troupe/matmul/cuda/lane.hpp>
#include <troupe/plan/cache.hpp>

namespace troupe::matmul {

/// The CUDA engine of matmul: cuBLASLt with cached plans, which fuses many epilogues with the product. Our own kernels
/// compute the other epilogues, and copy operands whose layout cuBLASLt does not support.
class cublaslt {
 public:
  static constexpr bool recordable = true;
  static result<std::unique_ptr<cublaslt>> make(const engine_context& context);
  const char* version() const noexcept { return version_.c_str(); }
  std::string notes() const;

  result<outcome> run(const multiplication& r, call& c);
  result<plan_info> run(const prepare<multiplication>& r, call& c);
  result<plan::statistics> run(const read_statistics& r, call&) {
    return r.start_anew ? plans_.count_anew() : plans_.count();
  }

  static std::uint64_t group_of(const multiplication& r) noexcept { return group_number(r); }
  result<void> run_group(const group<multiplication>& all, call& c);

 private:
  using library = unique_handle<cuda::handle_traits<cublasLtHandle_t, ::cublasLtDestroy>>;
  cublaslt(library l, cuda::kernel_set kernels, cuda::per_lane<lane> lanes, cuda::gpu_properties on,
           const engine_context& context)
      : library_(std::move(l)),
        kernels_(std::move(kernels)),
        lanes_(std::move(lanes)),
        gpu_(std::move(on)),
        remarks_([context](const std::string& text) { remark(context, "matmul: " + text); }) {}
  // The pointer is valid until the lane runs another request.
  result<const std::shared_ptr<const execution_plan>*> execution_plan_of(const multiplication& r, const problem& p,
                                                                         lane& on);
  result<void> multiply(const multiplication& r, const problem& p, const execution_plan& plan, std::uint64_t memory,
                        lane& on, call& c);
  result<product_arguments> prepare_arguments(const multiplication& r, const problem& p, const execution_plan& plan,
                                              const fused_epilogue& f, std::uint64_t memory, lane& on) const;
  result<void> multiply_small(const multiplication& r, const problem& p, const execution_plan& plan,
                              const std::uint64_t* addresses, std::size_t count, CUstream stream) const;
  struct copied_factor;
  result<void> arrange(const copied_factor& s, const problem& p, const execution_plan& plan, CUstream stream) const;
  result<void> arrange_scales(const block_scales& s, std::int64_t lines, std::uint64_t to, CUstream stream) const;
  template <class A>
  result<void> launch(cuda::kernel_id which, cuda::grid blocks, cuda::grid threads, CUstream stream,
                      const A& arguments) const;

  std::string version_;
  library library_;
  cuda::kernel_set kernels_;
  cuda::per_lane<lane> lanes_;
  const cuda::gpu_properties gpu_;
  plan::remarks remarks_;
  plan::kept_choices kept_{remarks_, {}};
  plan::cache<execution_plan> plans_{{.most = 4096}};
};

}  // namespace troupe::matmul
