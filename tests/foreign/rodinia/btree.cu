// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A B+ tree in one array, and one block for each search: its threads compare all keys of a node at once.
#include <stdio.h>
#include <sys/time.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ORDER 16

typedef struct leaf_value {
	int value;
} leaf_value;

typedef struct tree_node {
	int	place;
	int	children [ORDER + 1];
	int	keys [ORDER + 1];	// INT_MAX after the last key
	bool	is_leaf;
	int	num_keys;
} tree_node;

__global__ void
find_keys(	long levels,
		tree_node *tree,
		long tree_elem,
		leaf_value *values,

		long *current,
		long *chosen,
		int *wanted,
		leaf_value *answer)
{
	int thread = threadIdx.x;
	int search = blockIdx.x;

	int level;
	for(level = 0; level < levels; level++){

		tree_node *node = &tree[current[search]];
		if(node->keys[thread] <= wanted[search] && wanted[search] < node->keys[thread+1]){
			if(node->children[thread] < tree_elem){
				chosen[search] = node->children[thread];
			}
		}
		__syncthreads();

		if(thread == 0){
			current[search] = chosen[search];
		}
		__syncthreads();
	}

	// a leaf: its children are indices of values
	if(tree[current[search]].keys[thread] == wanted[search]){
		answer[search].value = values[tree[current[search]].children[thread]].value;
	}
}

#ifdef __cplusplus
}
#endif
