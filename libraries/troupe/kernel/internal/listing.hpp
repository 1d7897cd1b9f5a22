// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <troupe/kernel/attributes.hpp>

namespace troupe::kernel {

/// Encode and decode the parts of a kernel's attributes whose sizes vary. Decoding returns nullopt if the bytes are
/// malformed.
std::string pack_listing(const attributes& a);
std::optional<attributes> unpack_listing(const attributes_head& head, std::string_view listing);

}  // namespace troupe::kernel
