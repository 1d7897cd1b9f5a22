// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <troupe/cuda/kernels.hpp>
#include <troupe/cutlass/cells/convolution_choices.hpp>
#include <troupe/cutlass/vendor/cells.hpp>

namespace troupe::cutlass {

/// CUTLASS's kernels, as an engine has them. They are loaded when they are first asked for. Thread-safe.
class vendor_family {
 public:
  /// Those of the plug-in beside the engine, or of the file that the variable TROUPE_CUTLASS names.
  vendor_family();
  const std::string& file() const noexcept { return file_; }

  /// Fails with `unsupported` if there is no plug-in.
  result<vendor::cells> cells();
  /// Fails if a kernel sees its parameters differently. Each kernel is asked once; that waits for the GPU.
  result<void> check_parameters(const vendor::cell& c);
  /// The kernel that lists groups of rows: see kernel_vendor_groups.hpp.
  result<const cuda::kernel_set*> groups();
  /// What `troupe doctor` shows.
  std::string notes();

 private:
  const std::string file_;
  std::mutex lock_;  // guards the members below
  std::optional<result<vendor::cells>> loaded_;
  std::set<const vendor::cell*> checked_;
  std::optional<cuda::kernel_set> groups_;
};

/// What is wished of a plan. CUTLASS's kernels are considered if the plan wants them or nothing else has the plan, or
/// `with_vendor`; but none that needs more memory than `workspace`.
struct plan_wish {
  const cutlass::plan& plan;
  std::uint64_t workspace;
  bool with_vendor;
};
/// Returns the plans that can compute a product, as `candidates_for` does.
result<std::vector<candidate>> plans_of(const problem& p, const whole_form& f, const chip& on, const plan_wish& wish,
                                        vendor_family& vendor);
/// The same for a convolution.
result<std::vector<convolution_way>> plans_of(const convolution_problem& p, const chip& on, const plan_wish& wish,
                                              vendor_family& vendor);

}  // namespace troupe::cutlass
