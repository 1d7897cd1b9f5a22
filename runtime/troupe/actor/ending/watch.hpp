// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actor/ending/exit_reason.hpp>
#include <troupe/async/pending.hpp>

namespace troupe {

class actor_core;

namespace detail {

/// Returns a pending of the actor's end: see `actor_ref::watch`.
pending<exit_reason> watch(actor_core& actor);
/// Stops the actor. The returned pending is answered when the actor has ended.
pending<void> stop_and_wait(actor_core& actor, exit_kind kind);

}  // namespace detail
}  // namespace troupe
