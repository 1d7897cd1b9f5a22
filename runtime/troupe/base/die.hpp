// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace troupe {

/// Ends the process, because of a defect that would otherwise spread wrong data: one range of memory with two owners, a
/// number that a vendor's library would misread. Prints the text to the standard error and aborts; it neither allocates
/// nor calls a log, since the caller may be in the middle of either. In a worker this ends the worker alone. What can
/// be the answer of a request is an `error`, not this.
[[noreturn, gnu::format(printf, 1, 2)]] void die(const char* format, ...) noexcept;

}  // namespace troupe
