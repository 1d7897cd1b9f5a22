// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <troupe/base/files/bytes.hpp>
#include <troupe/module/image.hpp>

namespace troupe::module {

/// The recipe of an image: what a worker needs to load it.
struct recipe {
  load_options options;
  std::span<const std::byte> bytes;
};

inline std::string encode(const recipe& r) {
  byte_writer to;
  to.text(r.options.name);
  to.value(r.options.flush_to_zero);
  to.raw(r.bytes.data(), r.bytes.size());
  return std::move(to).bytes();
}

/// Returns nullopt if the bytes are not a valid recipe. The image in the result refers to `bytes`.
inline std::optional<recipe> decode(std::string_view bytes) {
  byte_reader from(bytes);
  recipe r;
  r.options.name = from.text();
  r.options.flush_to_zero = from.value<bool>();
  if (!from.sound()) return std::nullopt;
  r.bytes = std::as_bytes(std::span(from.rest()));
  return r;
}

}  // namespace troupe::module
