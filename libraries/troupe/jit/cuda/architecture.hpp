// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <troupe/base/result.hpp>
#include <vector>

namespace troupe::jit {

/// What a compiler of CUDA C++ makes code for.
struct target {
  std::string architecture;  ///< "sm_90a": machine code; "compute_90": PTX, which the driver compiles
  std::string note = {};     ///< to the log
  bool is_ptx() const noexcept { return architecture.starts_with("compute_"); }
};

/// A GPU's capability: 90 for 9.0.
using capability = int;

/// As the recipe's field says; else for exactly this GPU, with all that is its own alone. `known` is what the compiler
/// makes code for, in ascending order.
result<target> target_for(const std::string& asked, capability gpu, const std::vector<capability>& known);

/// Whether a GPU runs what was compiled for `architecture`, one that `target_for` takes.
bool runs_on(std::string_view architecture, capability gpu);

}  // namespace troupe::jit
