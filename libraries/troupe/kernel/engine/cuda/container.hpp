// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace troupe::kernel {

enum class container : unsigned char { machine_code, fat, ptx, lto_ir, none };

/// The format of an image for a GPU, and why the image is invalid. The driver is not told where an image ends, so a
/// truncated image must never be passed to it.
struct image_format {
  container is = container::none;
  std::string wrong;  ///< worded to follow "image 'NAME' "; empty if the image is valid
};
image_format inspect_image(std::string_view bytes);

/// Returns true if the image contains a function, or if it cannot be determined, as for a fatbin.
bool may_have_code(std::string_view image);

}  // namespace troupe::kernel
