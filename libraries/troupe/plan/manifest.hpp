// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <troupe/base/bytes.hpp>
#include <troupe/base/digest.hpp>
#include <vector>

namespace troupe::plan {

/// The content of a path when a result was made: a file with its bytes, a folder with its entries, or nothing.
struct stamp {
  enum class kind : std::uint8_t { nothing, file, folder };
  std::string path;
  kind is = kind::nothing;
  std::uint64_t bytes = 0;      ///< of a file
  std::int64_t changed_ns = 0;  ///< last modification
  digest content{};             ///< of a file's bytes, or of the names in a folder
};

/// Everything that a compiler read or searched outside its request.
using manifest = std::vector<stamp>;

/// Returns the stamp of a path; nothing if it exists but cannot be read, or is neither a file nor a folder.
std::optional<stamp> stamp_of(const std::string& path);
/// The same without reading the content.
std::optional<stamp> stamp_without_content(const std::string& path);
/// Returns true if the path is unchanged. Equal size and time suffice; otherwise the content is read and compared.
bool unchanged(const stamp& s);
bool unchanged(const manifest& m);

void write(byte_writer& to, const manifest& m);
manifest read_manifest(byte_reader& from);

}  // namespace troupe::plan
