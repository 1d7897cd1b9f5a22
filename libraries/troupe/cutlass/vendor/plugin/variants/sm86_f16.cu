// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "../host_2x.cuh"

using namespace troupe_vendor;
TROUPE_VARIANT_2X(
    sm86_f16_row_column, product_2x, 86,
    product_kernel<Sm80, half_t, row, column, half_t, shape<128, 128, 32>, shape<64, 64, 32>, shape<16, 8, 16>, 4>)
