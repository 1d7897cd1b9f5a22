// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

/// Lists of system calls by purpose, as far as the headers of this system know them.
namespace troupe::call_lists {

/// Returns calls that read and change other processes, or that are for administrators. No GPU's driver uses them.
std::span<const int> on_other_processes() noexcept;
/// Returns calls that no library for computing uses, and that have often been used to attack the kernel, or that reach
/// other processes by named objects.
std::span<const int> on_the_system() noexcept;
/// Returns calls that start processes and programs or make and connect sockets, and signals that a filter cannot
/// inspect.
std::span<const int> processes_and_sockets() noexcept;
/// Returns all calls that a worker on the host needs.
std::span<const int> needed() noexcept;

}  // namespace troupe::call_lists
