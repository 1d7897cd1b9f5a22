// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <troupe/base/linux/file_descriptor.hpp>
#include <troupe/base/result.hpp>

struct stat;

namespace troupe {

/// The users whom this process trusts to write a file that it relies on.
enum class trusted_writers : std::uint8_t {
  /// The effective user only. For files that this process has written itself.
  user,
  /// Also root, the owner of the running program's file, who could replace the program as well, and the private group
  /// of the file's owner (whose number is the owner's: with a umask of 002 that group may write). For code that this
  /// process runs.
  program,
};

/// Returns why a file cannot be trusted: its owner, or that others may write it. Empty if it can be trusted.
std::string why_untrusted(const struct ::stat& s, trusted_writers writers);

/// A file whose code this process is going to run.
struct trusted_file {
  file_descriptor fd;  ///< opened with O_PATH: good for fstat, for /proc/self/fd, and to be sent
  std::string path;    ///< without symbolic links; only trusted_writers::program can make it refer to another file
};

/// Returns the path of this program's file; its former path if the file was replaced or removed.
std::string path_of_this_program();
/// Returns path_of_this_program(); empty if the program has more rights than its caller (setuid), because a program
/// that replaces its file has not.
const std::string& replaceable_program();

/// Opens a file if only trusted_writers::program can write it, replace it, or rename a folder above it. A folder that
/// all users may write is accepted if it has the sticky bit, as /tmp has, because others cannot replace its entries.
/// Folders above `program`, the path of this program, are accepted as they are, because a user who can write them can
/// replace the program as well. If the file cannot be opened at all, the error has the system's code.
result<trusted_file> open_trusted(const std::string& path, const std::string& domain,
                                  const std::string& program = replaceable_program());

/// Returns a path by which this process can open the file again: its own path, or /proc/self/fd/N if the file was
/// replaced or removed since, for example by an upgrade.
std::string path_to(const file_descriptor& file);
/// Returns the path of the shared object, or program, that contains this code; its former path if it was loaded through
/// /proc/self/fd/N. Empty if it is unknown.
std::string file_of_code(const void* code);

}  // namespace troupe
