// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// 32 numbers with a common scale, in 8 and in 4 bits each
#define PER_BLOCK 32

typedef struct {
    half2  scale_sum; // the scale, and the sum of the numbers themselves
    int8_t quants[PER_BLOCK];
} q8_block;
static_assert(sizeof(q8_block) == 2*sizeof(half) + PER_BLOCK, "padded");

typedef struct {
    half    scale;
    uint8_t quants[PER_BLOCK/2]; // number j in the low half of byte j, number j + 16 in its high half
} q4_block;
static_assert(sizeof(q4_block) == sizeof(half) + PER_BLOCK/2, "padded");
