// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::kernel {

/// How the source of an image names what the image holds: the compiler's names are others. Lines behind the image,
/// which the driver passes over in machine code, and takes for comments in PTX.
struct image_names {
  using list = std::vector<std::pair<std::string, std::string>>;  ///< the source's, the image's
  list kernels, globals;
};

std::string with_names(std::string image, const image_names& names);
std::string_view without_names(std::string_view image);
/// None when it has no such lines.
image_names names_in(std::string_view image);

}  // namespace troupe::kernel
