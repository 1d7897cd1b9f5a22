// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/kernel/host/translate/internal/functions.hpp>
#include <troupe/kernel/host/translate/translate.hpp>

namespace troupe::kernel {

/// The table of the image, as C++ behind the source. `state`: functions outside of kernels ask for the block.
std::string trailer(const unit& u, const translate_options& options, bool state);

}  // namespace troupe::kernel
