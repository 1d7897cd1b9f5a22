// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cuda_on_host/translate/internal/edits.hpp>
#include <troupe/cuda_on_host/translate/internal/parsing/functions.hpp>
#include <troupe/cuda_on_host/translate/translate.hpp>
#include <vector>

namespace troupe::cuda_on_host {

/// Code that only a GPU can run, and the position of its token.
struct gpu_only {
  finding what;
  std::size_t at = 0;
};

/// Replaces CUDA's keywords in the whole source. Returns the code that only a GPU can run, in kernels and outside of
/// functions. Such code in other functions is replaced by a call that ends the launch when it is reached.
std::vector<gpu_only> replace_keywords(edited_source& source, const unit& u);

/// Replaces the bodies of functions that launch kernels, which are meant for the application: a kernel that calls one
/// ends its launch. Must follow all other edits inside functions.
void replace_launching_functions(edited_source& source, const unit& u);

/// Returns true if a function contains code that ends a launch when reached.
bool may_need_gpu(const token_list& source) noexcept;

/// Turns each `__shared__ T name[n];` in functions into a thread-local variable: a block runs on one system thread. The
/// variable's address is computed once.
void replace_shared(edited_source& source, const unit& u);

/// Turns `extern __shared__ T name[];` into a reference to the block's dynamic shared memory. If the declaration is at
/// namespace scope, each function that mentions the name gets such a reference.
void replace_dynamic_shared(edited_source& source, const unit& u);

}  // namespace troupe::cuda_on_host
