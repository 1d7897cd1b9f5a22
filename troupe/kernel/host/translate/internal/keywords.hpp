// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/kernel/host/translate/internal/edits.hpp>
#include <troupe/kernel/host/translate/internal/functions.hpp>
#include <troupe/kernel/host/translate/translate.hpp>
#include <vector>

namespace troupe::kernel {

/// Takes CUDA's keywords out of the whole source, and reports what cannot be had on a processor.
std::vector<finding> replace_keywords(edited_source& source);

/// `__shared__ T name[n];` in functions: a thread-local variable, because a block runs on one thread of the system,
/// whose address is worked out once.
void replace_shared(edited_source& source, const unit& u);

/// `extern __shared__ T name[];`: a reference to the block's dynamic shared memory. At namespace scope each function
/// that mentions the name gets one.
void replace_dynamic_shared(edited_source& source, const unit& u);

}  // namespace troupe::kernel
