// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/cuda_on_host/translate/internal/functions.hpp>
#include <troupe/cuda_on_host/translate/translate.hpp>
#include <unordered_map>

namespace troupe::cuda_on_host {

/// Unique names of kernels that share their name with other kernels.
using kernel_aliases = std::unordered_map<const definition*, std::string>;

/// Returns the image's table, as C++ to be appended to the source. `state`: functions outside of kernels use the block.
std::string trailer(const unit& u, const translate_options& options, const kernel_aliases& aliases, bool state);

}  // namespace troupe::cuda_on_host
