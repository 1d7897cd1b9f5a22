// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cuda_on_host/translate/internal/edits.hpp>
#include <troupe/cuda_on_host/translate/internal/functions.hpp>
#include <troupe/cuda_on_host/translate/translate.hpp>
#include <vector>

namespace troupe::cuda_on_host {

/// Something that cannot be had on a processor, and the token where it stands.
struct gpu_only {
  finding what;
  std::size_t at = 0;
};

/// Takes CUDA's keywords out of the whole source, and reports what cannot be had on a processor: in kernels, and where
/// it belongs to no function. In functions that kernels call such a place becomes one that ends the launch when it is
/// reached.
std::vector<gpu_only> replace_keywords(edited_source& source, const unit& u);

/// Gives the functions that launch kernels, which are the application's, bodies that end the launch of a kernel which
/// calls them all the same. To be done when all other edits inside of functions are.
void replace_launching_functions(edited_source& source, const unit& u);

/// Whether a function has something that ends a launch when it is reached.
bool may_need_gpu(const token_list& source) noexcept;

/// `__shared__ T name[n];` in functions: a thread-local variable, because a block runs on one thread of the system,
/// whose address is worked out once.
void replace_shared(edited_source& source, const unit& u);

/// `extern __shared__ T name[];`: a reference to the block's dynamic shared memory. At namespace scope each function
/// that mentions the name gets one.
void replace_dynamic_shared(edited_source& source, const unit& u);

}  // namespace troupe::cuda_on_host
