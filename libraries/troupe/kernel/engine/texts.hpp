// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <troupe/base/result.hpp>
#include <troupe/kernel/attributes.hpp>
#include <troupe/kernel/program_block.hpp>

/// Texts of engines with kernels, with the same words whatever runs the kernels.
namespace troupe::kernel {

error no_kernel(std::string_view request, const std::string& program, std::string_view name, const std::string& those);
error no_global(std::string_view request, const std::string& program, std::string_view name, const std::string& those);
error not_in_global(std::string_view request, const std::string& global, std::uint64_t has, std::uint64_t offset,
                    std::uint64_t bytes);
error unloaded_before(std::string_view request);

/// Returns the names in `list`, cut to the length that an error's text allows.
template <class List>
std::string names_of(const List& list) {
  constexpr std::size_t most_listed_bytes = 600;
  std::string out;
  for (const auto& one : list) {
    if (out.size() + one.name.size() > most_listed_bytes) return out + ", …";
    out.append(out.empty() ? "" : ", ").append(one.name);
  }
  return out.empty() ? "none" : out;
}

/// Limits of a kernel's blocks.
struct block_limits {
  std::uint32_t max_threads;          ///< most threads, as the kernel was compiled
  std::uint64_t static_shared_bytes;  ///< bytes of the kernel's own shared variables
  std::uint64_t shared_bytes;         ///< most bytes of shared memory of a block
};

/// Refuses a block that is too large for its kernel. Precondition: its extents were checked before the request was
/// queued.
result<void> check_limits(const std::string& kernel, const block_limits& limits, std::uint64_t threads,
                          std::uint64_t shared_bytes, std::string_view request);

/// A kernel's attributes in the form of a reply: the fixed part, and the part whose size varies.
struct described {
  attributes_head head = {};
  std::string listing;
};
described describe(const attributes& a);
/// Writes the outcome of building a program, and as much of its log as fits, to the memory from which the application
/// reads it.
void write_state(const program_root& root, build_summary summary, std::string_view log);

}  // namespace troupe::kernel
