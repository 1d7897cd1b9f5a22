// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/// Wavelets of an image: a class that holds a row or column in shared memory and applies lifting steps, in either direction.
#include <cstdio>
#include <iostream>
#include <assert.h>

namespace dwt_cuda {

  /// Divides and rounds up.
  template <typename T> __host__ __device__ inline T divRndUp(const T & n, const T & d) {
    return (n / d) + ((n % d) ? 1 : 0);
  }

  /// Mirrors at the ends: -1 becomes 1, and size becomes size - 2.
  __device__ inline int mirrored(int i, const int size) {
    if (i < 0) i = -i;
    return i < size ? i : 2 * size - 2 - i;
  }

  /// Reversible, with integers.
  struct Lift53 {
    typedef int type;
    enum { MARGIN = 2, STEPS = 2 };
    __device__ static void lift(int step, int & center, int left, int right) {
      if (step == 0) center -= (left + right) >> 1;
      else center += (left + right + 2) >> 2;
    }
  };
  /// With losses, in single precision.
  struct Lift97 {
    typedef float type;
    enum { MARGIN = 4, STEPS = 4 };
    __device__ static void lift(int step, float & center, float left, float right) {
      const float factors[4] = {-1.586134342f, -0.05298011854f, 0.8829110762f, 0.4435068522f};
      center += factors[step] * (left + right);
    }
  };

  template <class LIFT, int SIZE>
  class Window {
  public:
    typedef typename LIFT::type type;
    enum { ALL = SIZE + 2 * LIFT::MARGIN };
  private:
    type data[ALL];
  public:
    __device__ type & operator [] (const int i) { return data[i + LIFT::MARGIN]; }

    __device__ void load(const type * line, int first, int count, int stride) {
      for (int i = threadIdx.x; i < (int)ALL; i += blockDim.x)
        data[i] = line[mirrored(min(first + i - (int)LIFT::MARGIN, 2 * count - 2), count) * stride];
    }
    /// Changes odd elements by even ones, and then even elements by odd ones.
    __device__ void transform() {
      for (int step = 0; step < (int)LIFT::STEPS; step++) {
        __syncthreads();
        for (int i = 1 + step + 2 * threadIdx.x; i < (int)ALL - 1 - step; i += 2 * blockDim.x)
          LIFT::lift(step, data[i], data[i - 1], data[i + 1]);
      }
      __syncthreads();
    }
    /// Low frequencies go to the first half of the line, high ones to the second.
    __device__ void store(type * line, int first, int count, int stride) {
      const int lows = divRndUp(count, 2);
      for (int i = threadIdx.x; i < SIZE && first + i < count; i += blockDim.x) {
        const int at = first + i;
        line[(at % 2 ? lows + at / 2 : at / 2) * stride] = (*this)[i];
      }
    }
  };

  /// One line for each blockIdx.y, and a part of it for each blockIdx.x.
  template <class LIFT, int SIZE>
  __global__ void fdwtKernel(const typename LIFT::type * const in, typename LIFT::type * const out,
                             const int count, const int stride, const int lineStride) {
    __shared__ Window<LIFT, SIZE> window;
    const int first = blockIdx.x * SIZE;
    window.load(in + blockIdx.y * lineStride, first, count, stride);
    window.transform();
    window.store(out + blockIdx.y * lineStride, first, count, stride);
  }
}
