// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <troupe/device/device.hpp>
#include <troupe/device/matrix_copy.hpp>
#include <troupe/memory/requests.hpp>

namespace troupe::detail {

pending<void> upload(const device& gpu, const memory_range& to, const memory_range& from, const call_options& o) {
  return gpu.ask(memory::upload{.source = in<std::byte>(from), .target = out<std::byte>(to), .bytes = from.bytes}, o);
}

pending<void> download(const device& gpu, const memory_range& from, const memory_range& to, const call_options& o) {
  return gpu.ask(memory::download{.source = in<std::byte>(from), .target = out<std::byte>(to), .bytes = from.bytes}, o);
}

pending<void> copy(const device& gpu, const memory_range& to, const memory_range& from, const call_options& o) {
  return gpu.ask(memory::copy{.source = in<std::byte>(from), .target = out<std::byte>(to), .bytes = from.bytes}, o);
}

pending<void> copy_2d(const device& gpu, const memory_range& to, extent to_pitch, const memory_range& from,
                      extent from_pitch, extent width, extent rows, const call_options& o) {
  return gpu.ask(memory::copy_2d{.source = in<std::byte>(from),
                                 .target = out<std::byte>(to),
                                 .width = width,
                                 .rows = rows,
                                 .source_pitch = from_pitch,
                                 .target_pitch = to_pitch},
                 o);
}

pending<void> fill(const device& gpu, const memory_range& to, std::span<const std::byte> pattern,
                   const call_options& o) {
  memory::fill r{.target = out<std::byte>(to), .bytes = to.bytes, .pattern = {}, .pattern_bytes = pattern.size()};
  std::memcpy(r.pattern.data(), pattern.data(), pattern.size());
  return gpu.ask(r, o);
}

}  // namespace troupe::detail
