// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <troupe/base/result.hpp>
#include <vector>

namespace troupe::jit {

/// The target of a compile of CUDA C++.
struct target {
  std::string architecture;  ///< "sm_90a": machine code; "compute_90": PTX, which the driver compiles
  std::string note = {};     ///< a note for the log, or an empty text
  bool is_ptx() const noexcept { return architecture.starts_with("compute_"); }
};

/// A GPU's capability: 90 for 9.0.
using capability = int;

/// Returns the target for the architecture `asked`, or, if that is empty, for exactly this GPU, including its
/// architecture-specific features. `known` lists the capabilities that the compiler supports, in ascending order.
result<target> target_for(const std::string& asked, capability gpu, const std::vector<capability>& known);

/// Returns true if a GPU can run code compiled for `architecture`, which must be valid for `target_for`.
bool runs_on(std::string_view architecture, capability gpu);

}  // namespace troupe::jit
