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

// What stands behind the shared object in an image of jit: what its code needs of the processor, and a digest of
// everything. So an image that is damaged, or for another processor, is known before any of its code runs.
struct seal {
  std::span<const std::byte> object;  // the shared object: what comes before
  std::string_view processor;         // names of abilities, separated by spaces
};

std::string sealed(std::string object, std::string_view processor);

// Nothing when the bytes do not end with a seal. Refuses a seal that does not fit what it stands behind.
result<std::optional<seal>> read_seal(std::span<const std::byte> bytes, const std::string& name);

// Whether a seal begins there: in bytes that do not end with one, it has lost its end.
bool begins_a_seal(std::span<const std::byte> bytes) noexcept;

}  // namespace troupe::cuda_on_host
