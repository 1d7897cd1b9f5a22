// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/cuda_on_host/translate/internal/edits.hpp>
#include <troupe/cuda_on_host/translate/internal/parsing/functions.hpp>
#include <troupe/cuda_on_host/translate/internal/parsing/parameters.hpp>
#include <troupe/cuda_on_host/translate/internal/splitting/variables.hpp>
#include <vector>

namespace troupe::cuda_on_host {

/// Code that gives each thread its own copy of the parameters. The compiler removes the copies that make no difference.
struct own_parameters {
  std::string outside;     ///< code before the loop over threads
  std::string begin, end;  ///< code around the code of one thread
};
own_parameters make_own(const edited_source& source, const std::vector<kernel_parameter>& parameters);

struct split_body {
  std::string text;       ///< replaces the kernel's body, without its braces and the lines with which all kernels begin
  std::string condition;  ///< a constant expression: if it is false, the kernel must run as fibers; empty means true
  std::string obstacle;   ///< why the kernel cannot be split
};

/// Splits a kernel at its barriers, and before the statements that begin at the tokens `steps` if they are between
/// barriers: see translate.cpp. If `functions_read_index`, threadIdx is stored for the functions that the kernel calls.
split_body split_at_barriers(edited_source& source, const unit& u, const definition& kernel,
                             const std::vector<kernel_parameter>& parameters, bool functions_read_index,
                             const std::unordered_set<std::size_t>& steps);

}  // namespace troupe::cuda_on_host
