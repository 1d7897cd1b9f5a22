// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/result.hpp>

namespace troupe {

/// Waits until poll reports one of `events` (or an error or hang-up) on `fd`. Returns false if the deadline has passed.
result<bool> poll_until(int fd, short events, std::int64_t deadline_ns);

}  // namespace troupe
