// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/enumeration.hpp>

namespace troupe::detail {

std::string joined_with_or(std::string_view names) {
  std::string out(names);
  if (const std::size_t last = out.rfind(','); last != std::string::npos) out.replace(last, 1, " or");
  return out;
}

}  // namespace troupe::detail
