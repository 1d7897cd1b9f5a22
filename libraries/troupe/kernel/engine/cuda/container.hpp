// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace troupe::kernel {

enum class container : unsigned char { machine_code, fat, ptx, lto_ir, none };

/// What an image for a GPU lies in, and why it cannot be one. The driver is not told where an image ends, so what is
/// cut off must not come to it.
struct looked_at {
  container is = container::none;
  std::string wrong;  ///< after "image 'NAME' "; empty when nothing is
};
looked_at look_at_image(std::string_view bytes);

/// Whether there is a function in it. True where nobody can tell, as of a fatbin.
bool may_have_code(std::string_view image);

}  // namespace troupe::kernel
