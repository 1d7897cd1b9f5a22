// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <troupe/base/file_descriptor.hpp>
#include <troupe/base/result.hpp>

struct stat;

namespace troupe {

/// The users who may be able to write a file that this process relies on.
enum class trusted_writers : std::uint8_t {
  /// The effective user. For what this process has written itself.
  user,
  /// Also root, the owner of the running program's file, who can replace the program as well, and the private group of
  /// the file's owner, which has the owner's number: a umask of 002 lets it write. For code that this process runs.
  program,
};

/// Returns why a file cannot be trusted: its owner, or that others may write it. Empty if it can.
std::string why_untrusted(const struct ::stat& s, trusted_writers writers);

/// A file whose code is to be run.
struct trusted_file {
  file_descriptor fd;  ///< names the file (O_PATH), so it is good for fstat, for /proc/self/fd, and to send
  std::string path;    ///< without symbolic links; only trusted_writers::program can make it name another file
};

/// Returns the path of this program's file; where it was, if it was replaced or removed.
std::string path_of_this_program();
/// Returns the same; empty if it has more rights than its caller, since what replaces it has not.
const std::string& replaceable_program();

/// Opens a file if only trusted_writers::program can write it, replace it, or rename a folder above it. A folder
/// that all users may write is accepted if its sticky bit is set, as that of /tmp is: others cannot replace what is in
/// it. Folders above `program`, the path of this program, are accepted as they are, because who can write them can
/// replace the program as well. If the file cannot be opened at all, the error's code is that of the system.
result<trusted_file> open_trusted(const std::string& path, const std::string& domain,
                                  const std::string& program = replaceable_program());

/// Returns a path by which this process reaches an open file: that of the file, or /proc/self/fd/N if the file was
/// replaced or removed since, as an upgrade does.
std::string path_to(const file_descriptor& file);
/// Returns the path of the shared object, or program, that contains this code; where it was, if it was loaded by
/// /proc/self/fd/N. Empty if it is unknown.
std::string file_of_code(const void* code);

}  // namespace troupe
