// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "../host_2x.cuh"

using namespace troupe_vendor;
TROUPE_VARIANT_2X(sm89_e4m3_row_column, product_2x, 89,
                  product_kernel<Sm89, float_e4m3_t, row, column, bfloat16_t, shape<128, 128, 64>, shape<64, 32, 64>,
                                 shape<16, 8, 32>, 3>)
