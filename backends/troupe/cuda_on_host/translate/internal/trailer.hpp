// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/cuda_on_host/translate/internal/aliases.hpp>
#include <troupe/cuda_on_host/translate/internal/parsing/functions.hpp>
#include <troupe/cuda_on_host/translate/translate.hpp>

namespace troupe::cuda_on_host {

/// Returns the image's table as C++ that is appended to the source. `state` is true if functions outside of kernels use
/// the block.
std::string trailer(const unit& u, const translate_options& options, const kernel_aliases& aliases, bool state);

}  // namespace troupe::cuda_on_host
