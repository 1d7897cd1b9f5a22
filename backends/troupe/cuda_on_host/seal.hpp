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

// The seal that follows the shared object in an image that jit has made: the processor features that its code needs,
// and a digest of the object and these. It reveals damage and a wrong processor before any of the image's code runs.
struct seal {
  std::span<const std::byte> object;  // the shared object, which precedes the seal
  std::string_view processor;         // names of features, separated by spaces
};

std::string sealed(std::string object, std::string_view processor);

// Returns nullopt if the bytes do not end with a seal. Fails if the seal does not match the bytes before it.
result<std::optional<seal>> read_seal(std::span<const std::byte> bytes, const std::string& name);

// Returns true if the bytes contain the beginning of a seal. If they do not end with one, they are truncated.
bool begins_a_seal(std::span<const std::byte> bytes) noexcept;

}  // namespace troupe::cuda_on_host
