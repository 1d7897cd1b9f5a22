// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <troupe/base/result.hpp>

namespace troupe::jit {

/// Loads NVRTC, once. Fails with the reason if it cannot be loaded. `domain` is the library that needs it. All
/// functions of NVRTC that this library and jit's builder call are defined beside this one, and call those of the
/// library that was loaded.
result<void> load_nvrtc(std::string_view domain);

}  // namespace troupe::jit
