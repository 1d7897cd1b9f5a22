// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "../host_2x.cuh"

using namespace troupe_vendor;
TROUPE_VARIANT_2X(
    sm80_tf32_row_column, product_2x, 80,
    product_kernel<Sm80, tfloat32_t, row, column, float, shape<128, 128, 32>, shape<64, 64, 32>, shape<16, 8, 8>, 3>)
TROUPE_VARIANT_2X(
    sm80_tf32_row_row, product_2x, 80,
    product_kernel<Sm80, tfloat32_t, row, row, float, shape<128, 128, 32>, shape<64, 64, 32>, shape<16, 8, 8>, 3>)
