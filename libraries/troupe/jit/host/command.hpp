// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <troupe/base/result.hpp>
#include <troupe/jit/cache/compile_deadline.hpp>
#include <troupe/plan/private_folder.hpp>
#include <vector>

namespace troupe::jit {

/// One run of a compiler.
struct command {
  std::vector<std::string> line;  ///< the program's path and its arguments
  std::string folder;             ///< for temporary files; removed even if this process dies
  std::string place = ".";        ///< the compiler's working directory, relative to `folder`
  /// New file for standard output, relative to `place`. If empty, standard output is added to the messages.
  std::string output = {};
  compile_deadline how_long = {};
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;  ///< limit of the address space of each process
  std::uint64_t file_bytes = std::uint64_t{1} << 30;    ///< limit of each written file
  std::size_t message_bytes = 256 << 10;                ///< limit of the messages that are kept
};

/// The outcome of a command.
struct command_outcome {
  int exit_code = 0;            ///< the command's exit code, or 128 plus the number of the signal that killed it
  bool was_stopped = false;     ///< the command was killed because it timed out or was cancelled
  std::string messages;         ///< standard error as UTF-8, without control characters
  std::uint64_t cut_bytes = 0;  ///< bytes of messages that were dropped
};

/// Runs a program and waits until it exits. The program and its children get no descriptors, no input, and an
/// environment of a few variables. They are killed at the deadline, and when this process dies for any reason. Fails
/// only if the program cannot be started. `compiler_guard` is the path of troupe-compiler-guard.
result<command_outcome> run_command(const std::string& compiler_guard, const command& c);

}  // namespace troupe::jit
