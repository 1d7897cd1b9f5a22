// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The `blas` library actor: dense linear algebra on vectors and matrices. Sizes must be at least 1 and increments must
/// not be 0; `tight` as an increment is 1. An operand that is written must not overlap another one, unless its request
/// allows it.
#include <troupe/blas/batched.hpp>
#include <troupe/blas/extensions.hpp>
#include <troupe/blas/factorizations.hpp>
#include <troupe/blas/gemm.hpp>
#include <troupe/blas/level1/level1.hpp>
#include <troupe/blas/level1/rotations.hpp>
#include <troupe/blas/level2/level2.hpp>
#include <troupe/blas/level2/triangular.hpp>
#include <troupe/blas/level2/updates.hpp>
#include <troupe/blas/level3/level3.hpp>
#include <troupe/blas/views.hpp>

namespace troupe::blas {

using all_requests = joined_requests<all_level1, all_rotations, all_level2, all_triangular_vectors, all_updates,
                                     all_products, all_level3, all_extensions, all_batches, all_factorizations>;

}  // namespace troupe::blas
