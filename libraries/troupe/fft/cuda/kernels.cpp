// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/cuda/embedded.hpp>
#include <troupe/fft/cuda/engine.hpp>

TROUPE_EMBEDDED_KERNELS(fft)
