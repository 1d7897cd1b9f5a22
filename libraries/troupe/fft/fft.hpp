// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The `fft` library actor: discrete Fourier transforms. See docs/fft.md.
#include <troupe/fft/transforms.hpp>
#include <troupe/fft/views.hpp>
