// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::kernel {

/// Maps names in a source to the names that the compiler chose for them in the image. Stored as lines after the image:
/// the driver ignores them after machine code, and takes them for comments in PTX.
struct image_names {
  /// pairs: the name in the source, the name in the image
  using list = std::vector<std::pair<std::string, std::string>>;
  list kernels, globals;
};

std::string with_names(std::string image, const image_names& names);
std::string_view without_names(std::string_view image);
/// Returns an empty result if the image has no such lines.
image_names names_in(std::string_view image);

}  // namespace troupe::kernel
