// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/cells/convolution_work.hpp>

namespace troupe::cutlass {

/// How a convolution can be computed.
struct convolution_way {
  convolution_choice choice;
  candidate plan;           ///< of its products
  double microseconds = 0;  ///< expected, of all
  std::uint64_t bytes = 0;  ///< of memory, without what the products need themselves
};

/// Returns all ways with what is wanted of the plan, the best first, and `others` last. Fails as `candidates_for` does.
result<std::vector<convolution_way>> ways_for(const convolution_problem& p, const chip& on, const plan& wanted,
                                              const other_plans& others = {});

/// Returns "128x64 ..., copies the image and the filters".
std::string to_string(const convolution_way& w);

/// Appends all that the ways depend on.
void write_key(std::string& to, const convolution_problem& p);

}  // namespace troupe::cutlass
