// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace troupe::protocol {

/// Returns "Xid 43 (a kernel trapped, or an assertion in it failed)": what NVIDIA's driver reports of a GPU, in words.
std::string xid_text(std::uint32_t xid);

}  // namespace troupe::protocol
