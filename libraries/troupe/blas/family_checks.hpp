// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace troupe {
class checker;
}

/// Checks that requests with the same fields share. A function checks those fields that its request has.
namespace troupe::blas::detail {

/// Checks operations on vectors, and reductions to a number.
template <class R>
void check_vectors(const R& r, checker& check);
/// Checks products of a matrix and a vector, packed or not.
template <class R>
void check_vector_product(const R& r, checker& check);
/// Checks operations on a triangular matrix and a vector.
template <class R>
void check_triangular(const R& r, checker& check);
/// Checks updates of a matrix by vectors, packed or not.
template <class R>
void check_update(const R& r, checker& check);
/// Checks operations of level 3, including rank-k updates.
template <class R>
void check_product(const R& r, checker& check);

}  // namespace troupe::blas::detail
