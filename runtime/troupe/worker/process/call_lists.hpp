// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

/// System calls by what they are for, as far as the headers of this system know them.
namespace troupe::call_lists {

/// Reading and changing other processes, and what the kernel offers to administrators. No GPU's driver uses them.
std::span<const int> on_other_processes() noexcept;
/// Returns calls that no library for computing uses, and that have often been a way into the kernel, or reach others by
/// named objects.
std::span<const int> on_the_system() noexcept;
/// Starting processes and programs, making and connecting sockets, and signals that a filter cannot look into.
std::span<const int> processes_and_sockets() noexcept;
/// All that a worker on the host needs.
std::span<const int> needed() noexcept;

}  // namespace troupe::call_lists
