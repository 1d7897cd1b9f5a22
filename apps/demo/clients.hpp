// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/demo/network.hpp>

namespace demo {

/// Serves many clients at once for some seconds, showing how it goes: threads that block, and coroutines that share a
/// few threads. Every answer is checked. False when one was wrong or missing.
bool serve_clients(const troupe::device& gpu, double seconds);

}  // namespace demo
