// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <troupe/base/result.hpp>
#include <vector>

namespace troupe::cuda_on_host {

// What is read from a shared object before any of its code runs. The names point into the bytes.
struct elf_facts {
  struct symbol {
    std::string_view name;
    std::uint64_t address, bytes;
  };
  std::optional<std::span<const std::byte>> table;  // the content of troupe_host_image_table, if there is one
  std::optional<std::string_view> processor;        // of that table; nothing where the linker did not write it plainly
  std::uint64_t end = 0;                            // of the last byte that the headers speak of
  std::vector<symbol> functions;                    // empty in a stripped object, like the next
  std::vector<symbol> thread_locals;
};

// Refuses what is not a whole shared object for this machine. Trusts nothing in the bytes.
result<elf_facts> read_elf(std::span<const std::byte> bytes, const std::string& name);

// How the bytes of thread-local variables, which static shared variables are in an image, belong to functions. A
// variable that lies in none of `functions` counts for all of them.
std::vector<std::uint64_t> shared_bytes_of(const elf_facts& facts, std::span<const std::uint64_t> functions);

}  // namespace troupe::cuda_on_host
