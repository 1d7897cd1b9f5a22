// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#ifdef __cplusplus
extern "C" {
#endif
#include <stdio.h>
#include <stdlib.h>
#include <stdbool.h>
#ifdef __cplusplus
}
#endif

// Particles in boxes: one block for each box, which sums over its own particles and those of the boxes around it.
#define fp double
#define PER_BOX 20
#define WORKERS 32
#define INNER(A,B) ((A.x)*(B.x)+(A.y)*(B.y)+(A.z)*(B.z))	

typedef struct { fp x, y, z; } ARROW;
typedef struct { fp v, x, y, z; } PLACE;
typedef struct beside_str { int x, y, z; int number; long offset; } beside_str;
typedef struct cell_str {
	int x, y, z;
	int number;
	long offset;
	int others;              // the number of neighbor boxes
	beside_str beside[26];
} cell_str;
typedef struct cutoff_str { fp alpha; } cutoff_str;
typedef struct space_str { int cells_a_side; long cell_count; long place_count; } space_str;

__global__ void forces(	cutoff_str cutoff,
			space_str space,
			cell_str* cells,
			PLACE* places,
			fp* charges,
			PLACE* sums)
{
	int cell = blockIdx.x;
	int lane = threadIdx.x;
	int p = lane;

	if(cell<space.cell_count){
		fp falloff = 2.0*cutoff.alpha*cutoff.alpha;

		long mine = cells[cell].offset;
		PLACE* own_g = &places[mine];
		PLACE* sum = &sums[mine];
		__shared__ PLACE own[PER_BOX];
		__shared__ PLACE other[PER_BOX];
		__shared__ double charge[PER_BOX];

		while(p<PER_BOX){
			own[p] = own_g[p];
			p = p + WORKERS;
		}
		p = lane;

		for (int k=0; k<(1+cells[cell].others); k++){
			int from = k==0 ? cell : cells[cell].beside[k-1].number;
			long theirs = cells[from].offset;
			PLACE* other_g = &places[theirs];
			fp* charge_g = &charges[theirs];

			while(p<PER_BOX){
				other[p] = other_g[p];
				charge[p] = charge_g[p];
				p = p + WORKERS;
			}
			p = lane;
			__syncthreads();

			while(p<PER_BOX){
				for (int j=0; j<PER_BOX; j++){
					fp apart = own[p].v + other[j].v - INNER(own[p],other[j]);
					fp near = exp(-falloff*apart);
					fp twice = 2*near;
					ARROW d;
					d.x = own[p].x - other[j].x;
					d.y = own[p].y - other[j].y;
					d.z = own[p].z - other[j].z;
					sum[p].v += charge[j]*near;
					sum[p].x += charge[j]*twice*d.x;
					sum[p].y += charge[j]*twice*d.y;
					sum[p].z += charge[j]*twice*d.z;
				}
				p = p + WORKERS;
			}
			p = lane;
			__syncthreads();
		}
	}
}
