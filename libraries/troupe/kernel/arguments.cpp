// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/kernel/arguments.hpp>

namespace troupe::kernel {
namespace {

// Rounds up to a multiple of 8, at which every argument is encoded.
constexpr std::size_t padded(std::size_t bytes) noexcept { return (bytes + 7) / 8 * 8; }

}  // namespace

std::size_t arguments::encoded_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const argument& a : *list_)
    bytes += sizeof(head) + (a.has_memory() ? 2 * sizeof(std::uint64_t) : padded(a.bytes())) +
             (a.is() == argument::kind::map ? sizeof(tensor_layout) : 0);
  return bytes;
}

void arguments::encode(std::byte* to) const noexcept {
  for (const argument& a : *list_) {
    const head h{a.is(), a.type(), static_cast<std::uint8_t>(a.alignment()), a.mode(), a.bytes()};
    std::memcpy(to, &h, sizeof h);
    to += sizeof h;
    if (!a.has_memory()) {
      std::memcpy(to, a.value(), a.bytes());
      to += padded(a.bytes());
    } else {
      const std::uint64_t raw[2] = {a.range().address, a.range().bytes / a.bytes()};
      std::memcpy(to, raw, sizeof raw);
      to += sizeof raw;
    }
    if (a.is() != argument::kind::map) continue;
    const tensor_layout map = layout_of(a.layout(), a.type());
    std::memcpy(to, &map, sizeof map);
    to += sizeof map;
  }
}

arguments::decoded arguments::next(const std::byte*& at) noexcept {
  head h;
  std::memcpy(&h, at, sizeof h);
  at += sizeof h;
  decoded s{h.is, h.type, h.alignment, h.bytes, 0, at, h.mode, nullptr};
  if (h.is == argument::kind::value || h.is == argument::kind::null) {
    at += padded(h.bytes);
  } else {
    std::memcpy(&s.elements, at + sizeof(std::uint64_t), sizeof s.elements);
    at += 2 * sizeof(std::uint64_t);
  }
  if (h.is == argument::kind::map) {
    s.map = reinterpret_cast<const tensor_layout*>(at);
    at += sizeof *s.map;
  }
  return s;
}

}  // namespace troupe::kernel

void troupe::encoded_field<troupe::kernel::arguments>::list_operands(const std::byte* at, std::string_view,
                                                                     std::vector<encoded_operand>& to) {
  field_codec<kernel::arguments>::decode(at).for_each([&, i = 0](const kernel::arguments::decoded& a) mutable {
    const int position = i++;
    if (a.is == kernel::argument::kind::value || a.is == kernel::argument::kind::null) return;
    std::uint64_t address;
    std::memcpy(&address, a.content, sizeof address);
    const std::string_view type = a.type == dtype{} ? "bytes" : to_string(a.type);
    to.push_back({cat("argument ", position), type, address, a.elements * a.bytes, a.bytes});
  });
}
