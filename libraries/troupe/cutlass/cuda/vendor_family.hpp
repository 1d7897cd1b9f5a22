// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <troupe/cuda/kernels.hpp>
#include <troupe/cutlass/variants/convolution_candidates.hpp>
#include <troupe/cutlass/vendor/variants.hpp>

namespace troupe::cutlass {

/// CUTLASS's kernels of an engine. They are loaded at the first use. Thread-safe.
class vendor_family {
 public:
  /// Uses the plug-in beside the engine, or the file that the variable TROUPE_CUTLASS names.
  vendor_family();
  const std::string& file() const noexcept { return file_; }

  /// Fails with `unsupported` if there is no plug-in.
  result<vendor::kernel_variants> variants();
  /// Fails if a kernel's device code has another size of the parameters. Each kernel is checked once; that waits for
  /// the GPU.
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

/// Constraints on a plan. CUTLASS's kernels are considered if the plan requests them or no other kernel has the plan,
/// or `with_vendor`; but none that needs more memory than `workspace`.
struct plan_constraints {
  const cutlass::plan& plan;
  std::uint64_t workspace;
  bool with_vendor;
};
/// Returns the plans that can compute a product, as `candidates_for` does.
result<std::vector<candidate>> plans_of(const problem& p, const kernel_signature& f, const gpu_properties& gpu,
                                        const plan_constraints& constraints, vendor_family& vendor);
/// Returns the plans that can compute a convolution, as `convolution_candidates_for` does.
result<std::vector<convolution_candidate>> plans_of(const convolution_problem& p, const gpu_properties& gpu,
                                                    const plan_constraints& constraints, vendor_family& vendor);

}  // namespace troupe::cutlass
