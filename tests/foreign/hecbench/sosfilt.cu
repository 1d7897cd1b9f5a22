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

// A sample goes from thread to thread, so that all are busy with samples of their own. One barrier for each step: the
// threads of a warp read their neighbor's sample before they overwrite their own.
template<typename T>
__global__ void filter_rows(const int samples, const int sections, const T *__restrict__ factors, T *__restrict__ signals)
{
  extern __shared__ char memory[];
  T *handed = reinterpret_cast<T *>(memory);
  T *states = reinterpret_cast<T *>(&handed[sections]);
  T *mine = reinterpret_cast<T *>(&states[2 * sections]);

  const int me = static_cast<int>(threadIdx.x), row = blockIdx.y;

  handed[me] = 0;
  states[2 * me] = states[2 * me + 1] = 0;
#pragma unroll
  for (int i = 0; i < of_section; i++) mine[me * of_section + i] = factors[me * of_section + i];
  __syncthreads();

  const int filling = sections - 1;
  const int emptied = samples - filling;
  T in, out;

  // until the last thread has its first sample
  for (int n = 0; n < filling; n++) {
    if (me == 0) {
      in = signals[row * samples + n];
    } else {
      in = handed[me - 1];
    }
    out = mine[me * of_section + 0] * in + states[2 * me + 0];
    states[2 * me + 0] = mine[me * of_section + 1] * in - mine[me * of_section + 4] * out + states[2 * me + 1];
    states[2 * me + 1] = mine[me * of_section + 2] * in - mine[me * of_section + 5] * out;
    handed[me] = out;
    __syncthreads();
  }

  // all threads are busy
  for (int n = filling; n < samples; n++) {
    if (me == 0) {
      in = signals[row * samples + n];
    } else {
      in = handed[me - 1];
    }
    out = mine[me * of_section + 0] * in + states[2 * me + 0];
    states[2 * me + 0] = mine[me * of_section + 1] * in - mine[me * of_section + 4] * out + states[2 * me + 1];
    states[2 * me + 1] = mine[me * of_section + 2] * in - mine[me * of_section + 5] * out;
    if (me < filling) {
      handed[me] = out;
    } else {
      signals[row * samples + (n - filling)] = out;
    }
    __syncthreads();
  }

  // until the last sample is out; threads without a sample do nothing
  for (int n = 0; n < sections; n++) {
    if (me > n) {
      in = handed[me - 1];
      out = mine[me * of_section + 0] * in + states[2 * me + 0];
      states[2 * me + 0] = mine[me * of_section + 1] * in - mine[me * of_section + 4] * out + states[2 * me + 1];
      states[2 * me + 1] = mine[me * of_section + 2] * in - mine[me * of_section + 5] * out;
      if (me < filling) {
        handed[me] = out;
      } else {
        signals[row * samples + (n + emptied)] = out;
      }
    }
    __syncthreads();
  }
}

template __global__ void filter_rows<float>(const int, const int, const float *__restrict__, float *__restrict__);
template __global__ void filter_rows<double>(const int, const int, const double *__restrict__, double *__restrict__);
