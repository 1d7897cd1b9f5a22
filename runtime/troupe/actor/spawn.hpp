// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actor/actor_context.hpp>

namespace troupe {

/// Spawns an actor of class A without a stage or parent: it lives until it is stopped or its last reference is
/// destroyed. The object is constructed in this call, so an exception of its constructor is thrown from `spawn`. If the
/// constructor's first parameter is an `actor_context<A>&`, the actor's context is passed there.
///
/// A is any class with `handle` overloads, one for each type of message. They run one at a time and need no lock:
///
///   struct counter {
///     void handle(add m) { total += m.amount; }
///     int handle(get) { return total; }
///     task<result<int>> handle(slow m);   // the actor handles no other message until the task has ended
///     void terminate(exit_reason);        // optional; may be a task<void>; not called after kill
///     int total = 0;
///   };
///
/// If a handler throws, or returns an error with reaction `fatal`, the actor crashes: the caller and all queued
/// messages are answered with the error, and watchers are notified. Other errors are ordinary answers. A handler must
/// not block on its own actor: it would wait for itself.
template <class A, class... Args>
actor_ref<A> spawn(actor_options options, Args&&... args) {
  return detail::spawn_at<A>({}, std::move(options), std::forward<Args>(args)...);
}

}  // namespace troupe
