// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace troupe::protocol {

/// Returns an error number of NVIDIA's driver in words: "Xid 43 (a kernel trapped, or an assertion in it failed)".
std::string xid_text(std::uint32_t xid);
/// Returns true if the error ends the work on the GPU of the program that it names, so that the program cannot go on.
bool xid_ends_a_program(std::uint32_t xid) noexcept;
/// Returns true if the driver reports the error, an invalid access, to the program itself within about 0.1 s. The GPU
/// may serve no process until then.
bool xid_is_told_early(std::uint32_t xid) noexcept;

}  // namespace troupe::protocol
