// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>
#include <stdio.h>
#include <math.h>

// Matches short reads to a long sequence: each thread descends a tree of suffixes, by packed addresses.
#define USE_PRINT_KERNEL 0
#define ALPHABET 4
#define MAX_QUERY_LEN 24

#if USE_PRINT_KERNEL
#define XPRINTF(...)  printf(__VA_ARGS__)
#else
#define XPRINTF(...)  do{}while(0)
#endif


// an address: two parts of 16 bits, accessible by name or as one word
typedef union address_t {
	unsigned int data;
	struct {
		unsigned short x;
		unsigned short y;
	};
} node_address;

struct __align__(16) tree_node {
	node_address child[ALPHABET];
	int start, end;         // the edge to the node: a part of the sequence
	int pad[2];
};

struct match_coord { int node; int edge_match_length; };

__device__ inline int code_of(char c)
{
	switch (c) {
	case 'A': return 0;
	case 'C': return 1;
	case 'G': return 2;
	case 'T': return 3;
	default: return -1;
	}
}

__device__ inline bool is_null(node_address a) { return (a.data == 0); }
__device__ inline int place_of(const node_address &a) { return a.x | (a.y << 16); }

__global__ void match_kernel(match_coord *match_coords, const char *queries, const int *queryAddrs, const int *queryLengths,
                             const int numQueries, const int min_match_len, const tree_node *nodes, const char *ref)
{
	int qryid = __umul24(blockIdx.x, blockDim.x) + threadIdx.x;
	if (qryid >= numQueries) return;
	XPRINTF("> qryid: %d\n", qryid);

	int qlen = queryLengths[qryid];
	const char *qry = queries + queryAddrs[qryid];
	match_coord *result = match_coords + queryAddrs[qryid];

	// one answer for each suffix of the query
	for (int qrystart = 0; qrystart <= qlen - min_match_len; qrystart++) {
		int node = 0, matched = 0, at = qrystart;
		while (at < qlen) {
			int code = code_of(qry[at]);
			if (code < 0) break;
			node_address next = nodes[node].child[code];
			if (is_null(next)) break;
			node = place_of(next);
			int edge = nodes[node].start;
			bool whole = true;
			for (; edge < nodes[node].end; ++edge, ++at, ++matched)
				if (at >= qlen || ref[edge] != qry[at]) {
					whole = false;
					break;
				}
			XPRINTF("  node %d, matched %d\n", node, matched);
			if (!whole) break;
		}
		if (matched < min_match_len) { node = -1; matched = 0; }
		result[qrystart].node = node;
		result[qrystart].edge_match_length = matched;
	}
}
