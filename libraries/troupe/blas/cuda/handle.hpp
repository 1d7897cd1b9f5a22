// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublas_v2.h>

#include <troupe/cuda/handles.hpp>

namespace troupe::blas {

using library_handle = unique_handle<cuda::handle_traits<cublasHandle_t, ::cublasDestroy>>;

}  // namespace troupe::blas
