// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actor/actor_context.hpp>

namespace troupe {

/// Makes an actor of class A on its own: it lives until it is stopped or its last reference is gone. The object is
/// built here and now, so an exception of its constructor leaves `spawn`. A constructor that takes an
/// `actor_context<A>&` first is given it.
///
/// A is any class with `handle` overloads, one per message. They are called one at a time, and need no lock:
///
///   struct counter {
///     void handle(add m) { total += m.amount; }
///     int handle(get) { return total; }
///     task<result<int>> handle(slow m);   // the actor handles nothing else until this has ended
///     void terminate(exit_reason);        // optional; may be a task<void>; not called after kill
///     int total = 0;
///   };
///
/// A handler that throws, or returns an error with reaction `fatal`, makes the actor crash: the caller gets the
/// error, and so does everybody queued; watchers are told. Other errors are ordinary answers. A handler
/// must not block on its own actor: that would wait for itself.
template <class A, class... Args>
actor_ref<A> spawn(actor_options options, Args&&... args) {
  return detail::spawn_at<A>({}, std::move(options), std::forward<Args>(args)...);
}

}  // namespace troupe
