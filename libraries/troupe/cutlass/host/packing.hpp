// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/threads/thread_team.hpp>
#include <troupe/cutlass/problems/pack_problem.hpp>

namespace troupe::cutlass::host {

/// Packs weights as a factor of products.
void pack(const pack_problem& p, thread_team& team);

}  // namespace troupe::cutlass::host
