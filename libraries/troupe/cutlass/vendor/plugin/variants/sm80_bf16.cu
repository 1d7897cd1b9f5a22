// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "../host_2x.cuh"

using namespace troupe_vendor;
TROUPE_VARIANT_2X(sm80_bf16_row_column, product_2x, 80,
                  product_kernel<Sm80, bfloat16_t, row, column, bfloat16_t, shape<128, 256, 32>, shape<64, 64, 32>,
                                 shape<16, 8, 16>, 3>)
TROUPE_VARIANT_2X(
    sm80_bf16_row_row, product_2x, 80,
    product_kernel<Sm80, bfloat16_t, row, row, bfloat16_t, shape<128, 256, 32>, shape<64, 64, 32>, shape<16, 8, 16>, 3>)
