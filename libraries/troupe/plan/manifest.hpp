// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <troupe/base/files/bytes.hpp>
#include <troupe/base/hash/digest.hpp>
#include <vector>

namespace troupe::plan {

/// The state of a path when a result was made: a file, a folder, or nothing.
struct stamp {
  enum class kind : std::uint8_t { nothing, file, folder };
  std::string path;
  kind is = kind::nothing;
  std::uint64_t bytes = 0;      ///< size of a file
  std::int64_t changed_ns = 0;  ///< time of the last modification
  digest content{};             ///< digest of a file's bytes, or of the names in a folder
};

/// The stamps of all files and folders that a compiler read or searched. Sources that are fields of the request belong
/// to the key instead.
using manifest = std::vector<stamp>;

/// Returns the stamp of a path; nullopt if it exists but cannot be read, or is neither a file nor a folder.
std::optional<stamp> stamp_of(const std::string& path);
/// Returns the stamp without its `content`, which is not read.
std::optional<stamp> stamp_without_content(const std::string& path);
/// Returns true if the path's state is unchanged. Equal size and time suffice; otherwise the content is compared.
bool unchanged(const stamp& s);
bool unchanged(const manifest& m);

void write(byte_writer& to, const manifest& m);
manifest read_manifest(byte_reader& from);

}  // namespace troupe::plan
