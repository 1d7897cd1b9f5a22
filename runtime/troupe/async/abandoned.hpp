// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace troupe {

struct waiter;

namespace detail {

/// Returns true in a child made by fork() if the waiter belongs to its parent: no thread will complete what it serves.
/// The next `not_answered_yet()` on this thread says so.
bool is_abandoned(const waiter* w) noexcept;
/// Returns true once after that.
bool was_abandoned() noexcept;

}  // namespace detail
}  // namespace troupe
