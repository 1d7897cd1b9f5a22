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

// Facts that are read from a shared object before any of its code runs. The names refer into the bytes.
struct elf_facts {
  struct symbol {
    std::string_view name;
    std::uint64_t address, bytes;
  };
  std::optional<std::span<const std::byte>> table;  // content of troupe_host_image_table, if there is one
  std::optional<std::string_view> processor;        // of that table; nothing if the linker did not store it directly
  std::uint64_t end = 0;                            // offset of the end of everything that the headers describe
  std::vector<symbol> functions;                    // empty in a stripped object, like the next member
  std::vector<symbol> thread_locals;
};

// Refuses anything but a complete shared object for this machine. Does not trust the bytes.
result<elf_facts> read_elf(std::span<const std::byte> bytes, const std::string& name);

// Returns, for each function, the bytes of its thread-local variables, which static shared variables become in an
// image. A variable that belongs to none of `functions` counts towards all of them.
std::vector<std::uint64_t> shared_bytes_of(const elf_facts& facts, std::span<const std::uint64_t> functions);

}  // namespace troupe::cuda_on_host
