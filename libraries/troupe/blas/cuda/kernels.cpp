// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/blas/cuda/kernels.hpp>
#include <troupe/cuda/embedded.hpp>

TROUPE_EMBEDDED_KERNELS(blas)
