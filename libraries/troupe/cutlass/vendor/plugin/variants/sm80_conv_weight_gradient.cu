// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "../conv_2x.cuh"

using namespace troupe_vendor;
TROUPE_VARIANT_2X(sm80_conv_weight_gradient_f16, conv_2x, 80,
                  weight_gradient_kernel<half_t, shape<128, 128, 32>, shape<64, 64, 32>, 4>)
