// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <troupe/base/result.hpp>
#include <troupe/memory/requests.hpp>

namespace troupe::memory {

/// Enqueues the copy of the rows, in one call if their pitches are below the driver's limit of 2 GiB.
result<void> copy_rows(const copy_2d& r, CUstream stream);

}  // namespace troupe::memory
