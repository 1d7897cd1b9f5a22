// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <troupe/base/result.hpp>
#include <troupe/fft/host/transforms.hpp>

namespace troupe::fft {

/// Loads the transforms for this processor from the folder `fft` of the run-time files. The library stays loaded.
result<const transforms*> load_transforms(const std::filesystem::path& folder);

}  // namespace troupe::fft
