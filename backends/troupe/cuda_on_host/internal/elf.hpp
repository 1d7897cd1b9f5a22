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

// Facts about a shared object, read before any of its code runs. The texts are part of the bytes that were read.
struct elf_facts {
  struct symbol {
    std::string_view name;
    std::uint64_t address, bytes;
  };
  std::optional<std::span<const std::byte>> table;  // content of troupe_host_image_table, if there is one
  // the features that the table requires; nullopt if they cannot be found without running the dynamic linker
  std::optional<std::string_view> processor;
  std::uint64_t end = 0;          // offset of the end of everything that the headers describe
  std::vector<symbol> functions;  // empty if the object is stripped, as is the next member
  std::vector<symbol> thread_locals;
};

// Reads a complete shared object for this machine, and refuses any other bytes. Does not trust the bytes.
result<elf_facts> read_elf(std::span<const std::byte> bytes, const std::string& name);

// Returns, for each function, the bytes of its thread-local variables (an image stores static shared variables in
// these). A variable that belongs to none of `functions` counts towards all of them.
std::vector<std::uint64_t> shared_bytes_of(const elf_facts& facts, std::span<const std::uint64_t> functions);

}  // namespace troupe::cuda_on_host
