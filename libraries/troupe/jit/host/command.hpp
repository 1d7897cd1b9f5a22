// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <troupe/base/result.hpp>
#include <troupe/jit/cache/compile_deadline.hpp>
#include <troupe/jit/cache/private_folder.hpp>
#include <vector>

namespace troupe::jit {

/// One run of a compiler.
struct command {
  std::vector<std::string> line;  ///< the program's path, and its arguments
  std::string folder;             ///< removed should this process die meanwhile; its temporary files go there
  std::string place = ".";        ///< in that folder: where it runs
  std::string output = {};        ///< a new file for its standard output, seen from there; empty: among its messages
  compile_deadline how_long = {};
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;  ///< address space of each of its processes
  std::uint64_t file_bytes = std::uint64_t{1} << 30;    ///< of each file that it writes
  std::size_t message_bytes = 256 << 10;                ///< as much is kept of its messages
};

struct command_outcome {
  int exit_code = 0;            ///< 128 and the signal's number when one killed it
  bool gave_up = false;         ///< it was killed, because the time was over or nobody wanted it
  std::string messages;         ///< standard error; as UTF-8 and without control characters
  std::uint64_t cut_bytes = 0;  ///< how many more there were
};

/// Runs a program and waits for its end. It and its children get no descriptors, no input and an environment of a few
/// names; they are killed when their time is over, and when this process dies, however that happens. Fails only when
/// the program cannot be started. `keeper` is the path of troupe-keeper.
result<command_outcome> run_command(const std::string& keeper, const command& c);

}  // namespace troupe::jit
