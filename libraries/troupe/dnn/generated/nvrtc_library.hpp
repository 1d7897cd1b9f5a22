// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/result.hpp>

namespace troupe::dnn::generated {

/// Loads NVRTC, once. Fails with the reason if it is not there. All functions of NVRTC that this library and jit's
/// builder call are defined beside this one, and call those of the library that was loaded.
result<void> load_nvrtc();

}  // namespace troupe::dnn::generated
