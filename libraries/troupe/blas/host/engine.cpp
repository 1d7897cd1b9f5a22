// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/blas/host/engine.hpp>

using namespace troupe::blas;
TROUPE_ENGINE_OF_PARTS(openblas, "blas", "host", level1_operations(), rotation_operations(), level2_operations(),
                       triangular_operations(), update_operations(), gemm_operations(), level3_operations(),
                       extension_operations(), batched_operations(), factorization_operations())
