// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// blocks of 32 elements with a common scale, of 8 and of 4 bits
#define PER_BLOCK 32

typedef struct {
    half2  scale_sum; // the scale, and the sum of the original elements
    int8_t quants[PER_BLOCK];
} q8_block;
static_assert(sizeof(q8_block) == 2*sizeof(half) + PER_BLOCK, "padded");

typedef struct {
    half    scale;
    uint8_t quants[PER_BLOCK/2]; // element j in the low half of byte j, element j + 16 in its high half
} q4_block;
static_assert(sizeof(q4_block) == sizeof(half) + PER_BLOCK/2, "padded");
