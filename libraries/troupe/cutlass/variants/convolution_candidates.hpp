// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/variants/convolution_work.hpp>

namespace troupe::cutlass {

/// A plan that can compute a convolution, with the copies before and after it.
struct convolution_candidate {
  convolution_choice choice;
  candidate plan;           ///< plan of its products
  double microseconds = 0;  ///< expected, of all
  std::uint64_t bytes = 0;  ///< memory, without that of the products themselves
};

/// Returns all plans that have the requested values, the fastest predicted first, `others` last. Fails as
/// `candidates_for` does.
result<std::vector<convolution_candidate>> convolution_candidates_for(const convolution_problem& p,
                                                                      const gpu_properties& gpu, const plan& wanted,
                                                                      const other_plans& others = {});

/// Returns "128x64 ..., copies the image and the filters".
std::string to_string(const convolution_candidate& w);

/// Appends everything that the candidates depend on.
void write_key(std::string& to, const convolution_problem& p);

}  // namespace troupe::cutlass
