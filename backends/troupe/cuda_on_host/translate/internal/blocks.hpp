// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <troupe/cuda_on_host/translate/internal/parsing/functions.hpp>

namespace troupe::cuda_on_host {

/// Returns the source with `block.sync();` and `cg::sync(block);` replaced by `__syncthreads();`, and the ranks and
/// sizes of `block` replaced by threadIdx and the like, in kernels that use `cg::this_thread_block()` for nothing else.
/// Such kernels can then be split at their barriers. Line numbers do not change. Returns nothing if there is no such
/// kernel.
std::optional<std::string> with_plain_barriers(const token_list& source, const unit& u);

}  // namespace troupe::cuda_on_host
