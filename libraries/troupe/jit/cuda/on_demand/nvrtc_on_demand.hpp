// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <troupe/base/result.hpp>

namespace troupe::jit {

/// Loads NVRTC, once. Fails with the reason if it cannot be loaded. `domain` is the library that needs it. This source
/// also defines all functions of NVRTC that jit's builder calls; they forward to the loaded library.
result<void> load_nvrtc(std::string_view domain);

}  // namespace troupe::jit
