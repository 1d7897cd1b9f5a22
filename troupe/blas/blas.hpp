// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The `blas` library actor: gemm, gemv, axpy, scal and dot.
#include <troupe/blas/op.hpp>
#include <troupe/blas/requests.hpp>
