// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <troupe/base/bytes.hpp>
#include <troupe/base/digest.hpp>
#include <vector>

namespace troupe::jit {

/// What was at a path when something was made from it: a file with its content, a folder with its names, or nothing.
struct stamp {
  enum class kind : std::uint8_t { nothing, file, folder };
  std::string path;
  kind is = kind::nothing;
  std::uint64_t bytes = 0;      ///< of a file
  std::int64_t changed_ns = 0;  ///< when it was last written
  digest content{};             ///< of a file's bytes, or of a folder's names
};

/// Everything that a compiler looked at outside its request.
using manifest = std::vector<stamp>;

/// Nothing when it is there and cannot be read, or is neither file nor folder.
std::optional<stamp> stamp_of(const std::string& path);
/// The same without reading it: no content.
std::optional<stamp> glance_at(const std::string& path);
/// Is it as it was? What has the same size and time is; anything else is read and compared.
bool unchanged(const stamp& s);
bool unchanged(const manifest& m);

void write(byte_writer& to, const manifest& m);
manifest read_manifest(byte_reader& from);

}  // namespace troupe::jit
