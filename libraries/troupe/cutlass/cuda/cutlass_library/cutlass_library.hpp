// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <troupe/cuda/kernels.hpp>
#include <troupe/cutlass/variants/convolutions/convolution_candidates.hpp>
#include <troupe/cutlass/variants/problem_kinds.hpp>
#include <troupe/cutlass/vendor/variants.hpp>

namespace troupe::cutlass {

/// The CUTLASS kernels of an engine, loaded from a plug-in at the first use. Thread-safe.
class cutlass_library {
 public:
  /// Uses the plug-in beside the engine, or the file that the environment variable TROUPE_CUTLASS names.
  cutlass_library();
  const std::string& file() const noexcept { return file_; }

  /// Returns CUTLASS's kernels. Fails with `unsupported` if there is no plug-in.
  result<vendor::kernel_variants> variants();
  /// Fails if a kernel's parameters have another size in its device code than on the host. Checks each kernel once,
  /// and waits for the GPU then.
  result<void> check_parameters(const vendor::kernel_variant& c);
  /// Returns the kernel that lists groups of rows: see kernel_vendor_groups.hpp.
  result<const cuda::kernel_set*> groups();
  /// Returns the notes that `troupe doctor` shows.
  std::string notes();

 private:
  const std::string file_;
  std::mutex lock_;  // guards the members below
  std::optional<result<vendor::kernel_variants>> loaded_;
  std::set<const vendor::kernel_variant*> checked_;
  std::optional<cuda::kernel_set> groups_;
};

/// Constraints on a plan. CUTLASS kernels that need at most `workspace` bytes are considered if the plan requests them,
/// if no other kernel has the plan, or if `with_cutlass_library`.
struct plan_constraints {
  const cutlass::plan& plan;
  std::uint64_t workspace;
  bool with_cutlass_library;
};
/// Returns the plans that can compute a product, as `candidates_for` does, with those of CUTLASS's kernels.
result<std::vector<candidate>> plans_of(const product_kind& kind, const kernel_signature& f,
                                        const cuda::gpu_properties& gpu, const plan_constraints& constraints,
                                        cutlass_library& library);
/// Returns the plans that can compute a convolution, as `convolution_candidates_for` does, with those of CUTLASS's
/// kernels.
result<std::vector<convolution_candidate>> plans_of(const convolution_problem_kind& kind,
                                                    const cuda::gpu_properties& gpu,
                                                    const plan_constraints& constraints, cutlass_library& library);

}  // namespace troupe::cutlass
