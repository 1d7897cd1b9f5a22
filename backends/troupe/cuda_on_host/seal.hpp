// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <troupe/base/result.hpp>

namespace troupe::cuda_on_host {

// The seal that follows the shared object in an image made by jit: the processor features its code needs, and a digest
// of everything. It reveals damage and a wrong processor before any of the image's code runs.
struct seal {
  std::span<const std::byte> object;  // the shared object, which precedes the seal
  std::string_view processor;         // names of features, separated by spaces
};

std::string sealed(std::string object, std::string_view processor);

// Returns nothing if the bytes do not end with a seal. Refuses a seal that does not match the bytes before it.
result<std::optional<seal>> read_seal(std::span<const std::byte> bytes, const std::string& name);

// Returns true if a seal begins in the bytes: if they do not end with a seal, its end is missing.
bool begins_a_seal(std::span<const std::byte> bytes) noexcept;

}  // namespace troupe::cuda_on_host
