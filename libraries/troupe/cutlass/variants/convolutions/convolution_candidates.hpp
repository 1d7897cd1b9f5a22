// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/variants/convolutions/convolution_work.hpp>

namespace troupe::cutlass {

/// A plan for a convolution: the plan of its products, and the tensors that are copied before or after them.
struct convolution_candidate {
  convolution_choice choice;
  candidate plan;           ///< plan of the products
  double microseconds = 0;  ///< predicted time of products and copies
  std::uint64_t bytes = 0;  ///< workspace of the copies, without that of the products
};

/// Returns the plans for a convolution that have the requested values: those of templates, the fastest predicted first,
/// then `library_plans`. Fails as `candidates_for` does.
result<std::vector<convolution_candidate>> convolution_candidates_for(const convolution_problem& p,
                                                                      const cuda::gpu_properties& gpu,
                                                                      const plan& wanted,
                                                                      const cutlass_library_plans& library_plans = {});

/// Returns "128x64 ..., copies the image and the filters".
std::string to_string(const convolution_candidate& w);

}  // namespace troupe::cutlass
