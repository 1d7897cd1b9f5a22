// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>

namespace troupe::detail {

std::string joined(std::initializer_list<std::string_view> parts) {
  std::size_t size = 0;
  for (const std::string_view p : parts) size += p.size();
  std::string all;
  all.reserve(size);
  for (const std::string_view p : parts) all += p;
  return all;
}

}  // namespace troupe::detail
