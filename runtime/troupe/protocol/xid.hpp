// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace troupe::protocol {

/// Returns "Xid 43 (a kernel trapped, or an assertion in it failed)": what NVIDIA's driver reports of a GPU, in words.
std::string xid_text(std::uint32_t xid);
/// Returns true if the program that such an error is about cannot go on: its work on the GPU has ended.
bool xid_ends_a_program(std::uint32_t xid) noexcept;
/// Returns true if the driver reports such an error, an invalid access, to the program itself within some 0.1 s. The
/// GPU may serve no process until then.
bool xid_is_told_early(std::uint32_t xid) noexcept;

}  // namespace troupe::protocol
