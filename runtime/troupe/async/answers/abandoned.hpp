// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace troupe {

struct waiter;

namespace detail {

/// Returns true in a child made by fork() if the waiter belongs to the parent: no thread of the child will complete the
/// waiter's cores. The next `not_answered_yet()` on this thread then reports it.
bool is_abandoned(const waiter* w) noexcept;
/// Returns true at the first call after `is_abandoned` has returned true on this thread.
bool was_abandoned() noexcept;

}  // namespace detail
}  // namespace troupe
