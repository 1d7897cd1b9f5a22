// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string>
#include <cuda_runtime.h>

#define CRITICAL 2.26918531421f
#define THREADS (64)

// Spins on a chessboard as signed chars: the fields of one color, half of each row, change while those of the other color stay.
enum class colour : int { black, white };

__global__ void
throw_spins(signed char *board, const float *__restrict__ chance, const long long fields)
{
  const auto me = static_cast<long long>(blockDim.x) * blockIdx.x + threadIdx.x;
  if (me < fields) board[me] = chance[me] < 0.5f ? -1 : +1;
}

template<colour mine>
__global__ void
half_sweep(signed char *spins, const signed char *__restrict__ others, const float *__restrict__ chance,
           const float beta, const long long rows, const long long cols)
{
  const auto me = static_cast<long long>(blockDim.x) * blockIdx.x + threadIdx.x;
  if (me >= rows * cols) return;
  const int row = me / cols, col = me - row * cols;

  // of the two neighbors in the same row, one has the same index; the other's index depends on the row
  const bool before = (mine == colour::black) == (row % 2 == 0);
  const int beside = (col + (before ? cols - 1 : 1)) % cols;
  const signed char field = others[(row + 1) % rows * cols + col] + others[(row + rows - 1) % rows * cols + col]
                          + others[me] + others[row * cols + beside];
  const signed char spin = spins[me];
  if (chance[me] < exp(-2.0f * beta * (field * spin))) spins[me] = -spin;
}

// Host code
void sweep(signed char *black, signed char *white, float *chance, float beta, long long rows, long long cols)
{
  const int blocks = (rows * cols + THREADS - 1) / THREADS;
  half_sweep<colour::black><<<blocks, THREADS>>>(black, white, chance, beta, rows, cols);
  half_sweep<colour::white><<<blocks, THREADS>>>(white, black, chance, beta, rows, cols);
}
