// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace troupe::kernel {

// The first of these features, whose names are separated by spaces, that the processor does not have; empty when it has
// all.
std::string missing_in_processor(std::string_view features);

}  // namespace troupe::kernel
