// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Kernels that were compiled when the engine was built.
namespace troupe::cutlass::prebuilt {

struct kernel {
  std::string_view name, architecture;  ///< "sm_90a"
  std::string_view source, image;
};

/// Returns a bundle of kernels.
std::string encode(std::span<const kernel> all);
/// Returns the kernels of a bundle, which refer to it; none if it is damaged.
std::vector<kernel> decode(std::string_view bundle);
/// Returns the bundle of this engine; "" if it has none.
std::string_view bundle_of_engine();

}  // namespace troupe::cutlass::prebuilt
