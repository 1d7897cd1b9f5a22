// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda.h>
#include <stdio.h>

/* LU decomposition by tiles of 16: one on the diagonal, those beside and below it, and the rest. */
#ifdef RD_WG_SIZE_0
        #define BLOCK_SIZE RD_WG_SIZE_0
#else
        #define BLOCK_SIZE 16
#endif

__global__ void
tile_diagonal(float *m, int matrix_dim, int offset)
{
  int i,j;
  __shared__ float tile[BLOCK_SIZE][BLOCK_SIZE];

  int at = offset*matrix_dim+offset;
  for(i=0; i < BLOCK_SIZE; i++)
    tile[i][threadIdx.x]=m[at+i*matrix_dim+threadIdx.x];
  __syncthreads();

  for(i=0; i < BLOCK_SIZE-1; i++) {
    if (threadIdx.x>i){
      for(j=0; j < i; j++)
        tile[threadIdx.x][i] -= tile[threadIdx.x][j]*tile[j][i];
      tile[threadIdx.x][i] /= tile[i][i];
    }
    __syncthreads();
    if (threadIdx.x>i){
      for(j=0; j < i+1; j++)
        tile[i+1][threadIdx.x] -= tile[i+1][j]*tile[j][threadIdx.x];
    }
    __syncthreads();
  }

  at += matrix_dim;   /* the first row stays */
  for(i=1; i < BLOCK_SIZE; i++, at += matrix_dim)
    m[at+threadIdx.x]=tile[i][threadIdx.x];
}

/* half of the threads solve a tile of the row, the others one of the column */
__global__ void
tile_perimeter(float *m, int matrix_dim, int offset)
{
  __shared__ float dia[BLOCK_SIZE][BLOCK_SIZE], peri[2][BLOCK_SIZE][BLOCK_SIZE];
  const int half = threadIdx.x / BLOCK_SIZE, idx = threadIdx.x % BLOCK_SIZE;
  const int next = offset + (blockIdx.x+1)*BLOCK_SIZE;
  const int corner = half == 0 ? offset*matrix_dim+next : next*matrix_dim+offset;
  int i, j;

  for (i=0; i < BLOCK_SIZE; i++) {
    if (half == 0) dia[i][idx]=m[(offset+i)*matrix_dim+offset+idx];
    peri[half][i][idx]=m[corner+i*matrix_dim+idx];
  }
  __syncthreads();

  if (half == 0) {
    for(i=1; i < BLOCK_SIZE; i++)
      for (j=0; j < i; j++)
        peri[0][i][idx]-=dia[i][j]*peri[0][j][idx];
  } else {
    for(i=0; i < BLOCK_SIZE; i++){
      for(j=0; j < i; j++)
        peri[1][idx][i]-=peri[1][idx][j]*dia[j][i];
      peri[1][idx][i] /= dia[i][i];
    }
  }
  __syncthreads();

  for (i=0; i < BLOCK_SIZE; i++)
    m[corner+i*matrix_dim+idx]=peri[half][i][idx];
}

__global__ void
tile_internal(float *m, int matrix_dim, int offset)
{
  __shared__ float above[BLOCK_SIZE][BLOCK_SIZE];
  __shared__ float left[BLOCK_SIZE][BLOCK_SIZE];
  int row = offset + (blockIdx.y+1)*BLOCK_SIZE, col = offset + (blockIdx.x+1)*BLOCK_SIZE;

  above[threadIdx.y][threadIdx.x] = m[(offset+threadIdx.y)*matrix_dim+col+threadIdx.x];
  left[threadIdx.y][threadIdx.x] = m[(row+threadIdx.y)*matrix_dim+offset+threadIdx.x];
  __syncthreads();

  float sum = 0;
  for (int i=0; i < BLOCK_SIZE; i++)
    sum += left[threadIdx.y][i] * above[i][threadIdx.x];
  m[(row+threadIdx.y)*matrix_dim+col+threadIdx.x] -= sum;
}
