// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/cuda_on_host/translate/internal/functions.hpp>
#include <troupe/cuda_on_host/translate/translate.hpp>
#include <unordered_map>

namespace troupe::cuda_on_host {

/// Names by which kernels can be told from others of the same name.
using kernel_aliases = std::unordered_map<const definition*, std::string>;

/// The table of the image, as C++ behind the source. `state`: functions outside of kernels ask for the block.
std::string trailer(const unit& u, const translate_options& options, const kernel_aliases& aliases, bool state);

}  // namespace troupe::cuda_on_host
