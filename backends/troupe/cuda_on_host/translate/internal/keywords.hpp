// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cuda_on_host/translate/internal/edits.hpp>
#include <troupe/cuda_on_host/translate/internal/functions.hpp>
#include <troupe/cuda_on_host/translate/translate.hpp>
#include <vector>

namespace troupe::cuda_on_host {

/// Something that a processor cannot do, and its token.
struct gpu_only {
  finding what;
  std::size_t at = 0;
};

/// Replaces CUDA's keywords in the whole source, and reports what a processor cannot do, in kernels and outside of
/// functions. In functions that kernels call, such code is replaced by a call that ends the launch when reached.
std::vector<gpu_only> replace_keywords(edited_source& source, const unit& u);

/// Replaces the bodies of functions that launch kernels, which are for the application: a kernel that calls one ends
/// its launch. Must follow all other edits inside functions.
void replace_launching_functions(edited_source& source, const unit& u);

/// Returns true if a function contains code that ends a launch when reached.
bool may_need_gpu(const token_list& source) noexcept;

/// Turns `__shared__ T name[n];` in functions into a thread-local variable, because a block runs on one system thread.
/// Its address is computed once.
void replace_shared(edited_source& source, const unit& u);

/// Turns `extern __shared__ T name[];` into a reference to the block's dynamic shared memory. If the declaration is at
/// namespace scope, each function that mentions the name gets such a reference.
void replace_dynamic_shared(edited_source& source, const unit& u);

}  // namespace troupe::cuda_on_host
