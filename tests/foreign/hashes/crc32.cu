// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <stddef.h>
#include <assert.h>

// CRC-32 of a long text in parts: one thread for each part, eight bytes at a time, with a table that the first kernel makes.
#define POLYNOMIAL 0xEDB88320
#define TABLES 8

__device__ uint32_t crc_table[TABLES][256];

__global__ void make_tables(void)
{
	uint32_t crc = threadIdx.x;
	for (unsigned int j = 0; j < 8; j++)
		crc = (crc >> 1) ^ (-int(crc & 1) & POLYNOMIAL);
	crc_table[0][threadIdx.x] = crc;
	for (int t = 1; t < TABLES; t++) {
		__syncthreads();
		uint32_t before = crc_table[t - 1][threadIdx.x];
		crc_table[t][threadIdx.x] = (before >> 8) ^ crc_table[0][before & 0xFF];
	}
}

__device__ static inline uint32_t crc_of(const void* data, size_t length, uint32_t previous)
{
	const uint32_t* current = (const uint32_t*) data;
	uint32_t crc = ~previous;
	while (length >= 8) {
		uint32_t one = *current++ ^ crc;
		uint32_t two = *current++;
		crc = crc_table[7][ one      & 0xFF] ^ crc_table[6][(one>> 8) & 0xFF] ^
		      crc_table[5][(one>>16) & 0xFF] ^ crc_table[4][ one>>24        ] ^
		      crc_table[3][ two      & 0xFF] ^ crc_table[2][(two>> 8) & 0xFF] ^
		      crc_table[1][(two>>16) & 0xFF] ^ crc_table[0][ two>>24        ];
		length -= 8;
	}
	const uint8_t* one_by_one = (const uint8_t*) current;
	while (length--)
		crc = (crc >> 8) ^ crc_table[0][(crc & 0xFF) ^ *one_by_one++];
	return ~crc;
}

__global__ void crc_parts(const char* data, size_t length, size_t part, uint32_t* out)
{
	size_t first = (blockIdx.x * blockDim.x + threadIdx.x) * part;
	if (first >= length) return;
	assert(part % 8 == 0);
	out[first / part] = crc_of(data + first, min(part, length - first), 0);
}

// advances the CRC of each part over the zero bytes that follow it, and combines all
__global__ void combine(const uint32_t* parts, int count, size_t part, size_t length, uint32_t* out)
{
	uint32_t crc = 0;
	for (int i = 0; i < count; i++) {
		size_t zeros = i + 1 < count ? part : length - i * part;
		for (size_t z = 0; z < zeros; z++) crc = (crc >> 8) ^ crc_table[0][crc & 0xFF];
		crc ^= parts[i];
	}
	*out = crc;
}
