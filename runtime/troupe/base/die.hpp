// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace troupe {

/// Ends the process because of a defect that would otherwise spread wrong data: one range of memory with two owners, or
/// a number that a vendor's library would misread. Prints the text to standard error and aborts. Neither allocates nor
/// logs, because the caller may be inside either. In a worker this ends the worker alone. A failure that a request can
/// report is an `error` instead.
[[noreturn, gnu::format(printf, 1, 2)]] void die(const char* format, ...) noexcept;

}  // namespace troupe
