// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <troupe/cuda_on_host/translate/internal/functions.hpp>

namespace troupe::cuda_on_host {

/// The source with `__syncthreads();` for `block.sync();` and `cg::sync(block);`, and with threadIdx and its like for
/// the ranks and sizes of `block`, in those kernels that use `cg::this_thread_block()` for nothing else: so that they
/// can be split at their barriers. Lines stay what they are. Nothing when there is none.
std::optional<std::string> with_plain_barriers(const token_list& source, const unit& u);

}  // namespace troupe::cuda_on_host
