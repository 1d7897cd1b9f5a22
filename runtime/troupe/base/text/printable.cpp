// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <string_view>
#include <troupe/base/text/printable.hpp>

namespace troupe {
namespace {

// Returns the number of bytes of the first character; 0 if it is a control character or not valid UTF-8 (overlong forms
// are not). The control characters U+0080 to U+009F act on terminals as escape sequences do.
std::size_t printable_bytes(std::string_view rest) noexcept {
  const auto byte = [rest](std::size_t i) { return static_cast<unsigned char>(rest[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return (first >= 0x20 && first != 0x7f) || first == '\n' || first == '\t' ? 1 : 0;
  const std::size_t n = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || rest.size() < n) return 0;
  for (std::size_t i = 1; i < n; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const unsigned char least = first == 0xc2   ? 0xa0
                              : first == 0xe0 ? 0xa0
                              : first == 0xf0 ? 0x90
                                              : 0x80,
                      most = first == 0xed   ? 0x9f
                             : first == 0xf4 ? 0x8f
                                             : 0xbf;
  return byte(1) >= least && byte(1) <= most ? n : 0;
}

}  // namespace

void make_printable(std::string& text) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] >= 0x20 && text[at] < 0x7f) {  // almost all characters: a flood of messages must cost little
      ++at;
      continue;
    }
    const std::size_t n = printable_bytes(std::string_view(text).substr(at));
    if (n == 0) text[at] = '?';
    at += n != 0 ? n : 1;
  }
}

}  // namespace troupe
