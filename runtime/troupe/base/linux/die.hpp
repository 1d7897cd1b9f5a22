// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace troupe {

/// Prints the text to standard error and aborts the process, because of a defect that would otherwise spread wrong
/// data: memory with two owners, or a number that a vendor's library would misread. Neither allocates nor logs, because
/// the caller may be inside the allocator or the log. In a worker process this ends the worker only. For a failure that
/// a request can report, return an `error` instead.
[[noreturn, gnu::format(printf, 1, 2)]] void die(const char* format, ...) noexcept;

}  // namespace troupe
