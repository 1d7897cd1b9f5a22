// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/fft/options.hpp>
#include <troupe/request/encoding/describe.hpp>

namespace troupe::fft {

std::string to_string(const shape& s) {
  if (s == shape::tight()) return "tight";
  std::string out = "{";
  for (std::size_t i = 0; i < s.rank(); ++i) out += cat(i == 0 ? "" : ", ", troupe::detail::text(s[i]));
  return out + "}";
}

std::string to_string(const layout& l) {
  return cat("{embed ", to_string(l.embed), ", stride ", troupe::detail::text(l.stride), ", distance ",
             troupe::detail::text(l.distance), "}");
}

}  // namespace troupe::fft
