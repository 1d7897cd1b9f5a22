// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/troupe.hpp>

namespace demo {

/// Queues a computation with a mistake in it and looks once, at its end. False when the error that arrives there is not
/// that mistake.
bool show_an_error_travelling(const troupe::device& gpu);

/// Kills the device's worker with work outstanding. False when a request got no answer, or a wrong one.
bool show_a_worker_dying(const troupe::device& gpu);

}  // namespace demo
