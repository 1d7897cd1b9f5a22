// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <algorithm>
#include <cuda.h>

///////////////////////////////////////////////////////////////////////////////
//      FILTERS OF SECOND ORDER IN A ROW: A THREAD FOR EACH OF THEM          //
///////////////////////////////////////////////////////////////////////////////

#define THREADS 32
#define of_section 6

// A sample goes from thread to thread, so that all are busy with samples of their own.
template<typename T>
__global__ void filter_rows(const int samples, const int sections, const T *__restrict__ factors, T *__restrict__ signals)
{
  extern __shared__ char memory[];
  T *handed = reinterpret_cast<T *>(memory);
  const int me = static_cast<int>(threadIdx.x);

  factors += me * of_section;
  signals += blockIdx.y * samples;
  const T b0 = factors[0], b1 = factors[1], b2 = factors[2], a1 = factors[4], a2 = factors[5];
  T z1 = 0, z2 = 0;

  for (int turn = 0; turn < samples + sections - 1; ++turn) {
    const int sample = turn - me;
    const bool busy = sample >= 0 && sample < samples;
    T in = 0, out = 0;
    if (busy) {
      in = me == 0 ? signals[sample] : handed[me - 1];
      out = b0 * in + z1;
      z1 = b1 * in - a1 * out + z2;
      z2 = b2 * in - a2 * out;
    }
    __syncwarp();
    if (busy) {
      if (me == sections - 1) signals[sample] = out;
      else handed[me] = out;
    }
    __syncwarp();
  }
}

template __global__ void filter_rows<float>(const int, const int, const float *__restrict__, float *__restrict__);
template __global__ void filter_rows<double>(const int, const int, const double *__restrict__, double *__restrict__);
