// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <troupe/cuda_on_host/translate/internal/aliases.hpp>
#include <troupe/cuda_on_host/translate/internal/edits.hpp>
#include <troupe/cuda_on_host/translate/internal/parsing/functions.hpp>
#include <troupe/cuda_on_host/translate/token.hpp>
#include <troupe/cuda_on_host/translate/translate.hpp>
#include <vector>

namespace troupe::cuda_on_host {

/// Returns the source with `block.sync();` and `cg::sync(block);` replaced by `__syncthreads();`, and the ranks and
/// sizes of `block` replaced by threadIdx and the like, in kernels that use `cg::this_thread_block()` for nothing else.
/// Such kernels can then be split at their barriers. Line numbers do not change. Returns nullopt if there is no such
/// kernel.
std::optional<std::string> with_plain_barriers(const token_list& source, const unit& u);

/// Returns the preprocessed source without code that only the application would call: functions, classes and variables
/// that are not for a device and that no device code mentions. If kernels were requested by name, all other kernels are
/// removed too. Removed code becomes blanks. Returns nullopt if all of the source is needed.
std::optional<std::string> without_host_code(const token_list& source, const unit& u, const translate_options& options);

/// Sets the tokens' columns to those in the user's files. Macros and comments before a token shift it in the
/// preprocessed text.
void find_columns(token_list& tokens, const source_reader& read);

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

/// Returns the image's table as C++ that is appended to the source. `state` is true if functions outside of kernels use
/// the block.
std::string trailer(const unit& u, const translate_options& options, const kernel_aliases& aliases, bool state);

}  // namespace troupe::cuda_on_host
