// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
  Search of a graph by levels. A launch of expand() marks what the front reaches; a launch of advance() makes that the front.
*/
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <math.h>
#include <cuda.h>

#define BLOCK_THREADS 128

int nodes_in_file;
FILE *graph_file;

struct Node
{
	int first_edge;
	int edge_count;
};

__global__ void
expand( Node* nodes, int* edges, bool* front, bool* next_front, bool *seen, int* level, int count)
{
	int me = blockIdx.x*BLOCK_THREADS + threadIdx.x;
	if( me<count && front[me])
	{
		front[me]=false;
		int end = nodes[me].first_edge + nodes[me].edge_count;
		for(int e=nodes[me].first_edge; e<end; e++)
		{
			int to = edges[e];
			if(seen[to]) continue;
			level[to]=level[me]+1;      // a race without effect: all nodes of a front have the same level
			next_front[to]=true;
		}
	}
}

__global__ void
advance( bool* front, bool *next_front, bool* seen, bool *again, int count)
{
	int me = blockIdx.x*BLOCK_THREADS + threadIdx.x;
	if( me>=count || !next_front[me]) return;
	front[me]=seen[me]=true;
	next_front[me]=false;
	*again=true;
}
