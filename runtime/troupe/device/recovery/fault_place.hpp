// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <troupe/memory/blocks/device_memory.hpp>
#include <troupe/request/encoding/encoded_field.hpp>

namespace troupe {

/// Returns a description of the place of an invalid access: "0x7f00, 4 KiB past the end of argument 1 (f32[1000])".
/// `operands` are those of the request that made the access; `there` is the buffer at the address, if there is one.
std::string place_of(std::uint64_t address, std::span<const encoded_operand> operands,
                     const std::optional<device_memory::place>& there);

}  // namespace troupe
