// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// The resources that this process uses.
namespace adversary {

double processor_seconds();
std::int64_t private_bytes();  ///< memory that belongs to this process alone
int open_descriptors();

}  // namespace adversary
